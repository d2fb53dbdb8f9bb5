; Address spaces, atomics, vectors, calls and intrinsics straight from LLVM IR.
target triple = "nvptx64-nvidia-cuda"
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"

@table = addrspace(4) constant [4 x i32] [i32 1, i32 -2, i32 3, i32 4], align 4
@shared = internal addrspace(3) global [64 x float] undef, align 16
@dynamic = external addrspace(3) global [0 x i8], align 16
@state = internal addrspace(1) global { i8, i64, ptr addrspace(1) } { i8 7, i64 -9, ptr addrspace(1) @array }, align 8
@array = addrspace(1) global [3 x i16] [i16 1, i16 2, i16 3]
@generic = addrspace(1) global ptr addrspacecast (ptr addrspace(1) @array to ptr), align 8
@packed = addrspace(1) global <{ i8, ptr }> <{ i8 1, ptr addrspacecast (ptr addrspace(1) @array to ptr) }>, align 1
@"odd.name$with-dash" = internal addrspace(1) global double 0x3FF8000000000000

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier0()
declare i32 @llvm.fshl.i32(i32, i32, i32)
declare i64 @llvm.ctpop.i64(i64)
declare float @llvm.fma.f32(float, float, float)
declare {i32, i1} @llvm.uadd.with.overflow.i32(i32, i32)
declare i32 @external(i32, <4 x float>, {i8, double})

define ptx_kernel void @spaces(ptr addrspace(1) %g, ptr %p, ptr byval({i32, [3 x i8]}) %unused) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = getelementptr [4 x i32], ptr addrspace(4) @table, i32 0, i32 %t
  %v = load i32, ptr addrspace(4) %c
  %s = getelementptr [64 x float], ptr addrspace(3) @shared, i32 0, i32 %t
  store float 0x3FF3C0CA40000000, ptr addrspace(3) %s
  call void @llvm.nvvm.barrier0()
  %f = load volatile float, ptr addrspace(3) %s
  %d = load <4 x i32>, ptr addrspace(3) @dynamic
  %e = extractelement <4 x i32> %d, i32 2
  %local = alloca [8 x i32], align 4
  %l = getelementptr [8 x i32], ptr %local, i32 0, i32 %t
  store i32 %v, ptr %l
  %i = ptrtoint ptr %l to i64
  %pop = call i64 @llvm.ctpop.i64(i64 %i)
  %n = trunc i64 %pop to i32
  %x = call i32 @llvm.fshl.i32(i32 %n, i32 %e, i32 %v)
  %q = load ptr addrspace(1), ptr addrspace(1) getelementptr ({ i8, i64, ptr addrspace(1) }, ptr addrspace(1) @state, i32 0, i32 2)
  store i32 %x, ptr addrspace(1) %q
  store float %f, ptr addrspace(1) %g
  store i128 170141183460469231731687303715884105727, ptr %p
  ret void
}

define ptx_kernel void @atomics(ptr addrspace(1) %g, ptr addrspace(3) %s, ptr %p) {
  %a = atomicrmw add ptr addrspace(1) %g, i32 5 monotonic
  %b = atomicrmw fadd ptr addrspace(3) %s, float 1.0 monotonic
  %c = cmpxchg ptr %p, i64 1, i64 2 monotonic monotonic
  %n = extractvalue {i64, i1} %c, 0
  %d = atomicrmw umax ptr addrspace(1) %g, i64 %n monotonic
  ret void
}

define i32 @select_and_call(i32 %a, i32 %b, <2 x half> %h, i1 %c) {
entry:
  %o = call {i32, i1} @llvm.uadd.with.overflow.i32(i32 %a, i32 %b)
  %v = extractvalue {i32, i1} %o, 0
  %bit = extractvalue {i32, i1} %o, 1
  br i1 %bit, label %wrapped, label %done
wrapped:
  %r = call i32 @external(i32 %v, <4 x float> <float 1.0, float 0.0, float -0.0, float 0x7FF0000000000000>, {i8, double} {i8 3, double 0x7FF8000000000000})
  br label %done
done:
  %w = phi i32 [ %v, %entry ], [ %r, %wrapped ]
  %m = fadd <2 x half> %h, %h
  %x = extractelement <2 x half> %m, i32 1
  %y = fptosi half %x to i32
  %z = select i1 %c, i32 %w, i32 %y
  ret i32 %z
}

define ptx_kernel void @indirect(ptr %f, ptr %o, i32 %n) {
entry:
  %r = call i32 %f(i32 %n, i64 7)
  switch i32 %n, label %rest [ i32 0, label %zero  i32 1, label %one  i32 2, label %two  i32 3, label %zero  i32 4, label %one ]
zero:
  store i32 %r, ptr %o
  ret void
one:
  store i8 3, ptr %o
  br label %rest
two:
  store double 1.5, ptr %o
  br label %rest
rest:
  %k = phi i32 [ %n, %entry ], [ 1, %one ], [ 2, %two ]
  %q = sdiv i32 %k, 7
  store i32 %q, ptr %o
  ret void
}
