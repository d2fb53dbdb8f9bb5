"""The loops that costs.def is measured by: what one iteration does, in a loop that ptxas does not unroll.

A kernel has six pointers, a number of iterations N, a 32-bit and a 64-bit parameter. %p1 to %p4 are four of the pointers; `own`
ones were moved on by the thread's number, the others are the same for all threads. In a body K stands for the number of an
array, C for a constant of its own. `accesses` are loops with one access for each array, `values` loops that compute with what
they read.
"""
from dataclasses import dataclass

PARAMETERS = ", ".join([*(f".param .u64 P{k}" for k in range(6)), ".param .u32 N", ".param .u32 S", ".param .u64 L"])
HEAD = f"""(
{PARAMETERS})
{{
  .reg .b64 %p<8>; .reg .b64 %q<10>; .reg .b64 %a<8>; .reg .b64 %b<8>; .reg .b64 %d<8>;
  .reg .b32 %r<40>; .reg .f32 %f<8>; .reg .f32 %sum; .reg .pred %t<4>;
{"".join(f"  ld.param.u64 %p{k}, [P{k}];{chr(10)}  cvta.to.global.u64 %p{k}, %p{k};{chr(10)}" for k in range(6))}\
  ld.param.u32 %r1, [N];  ld.param.u32 %r2, [S];  ld.param.u64 %q1, [L];
  mov.u32 %r3, 0;  mov.f32 %sum, 0f00000000;
  mov.u32 %r10, %tid.x;  mov.u32 %r11, %nctaid.x;  min.u32 %r12, %r11, 1;
  cvt.u64.u32 %q2, %r10;  mul.wide.u32 %q3, %r10, 4;  mov.u32 %r4, %r10;  mov.u64 %q5, %q2;
  cvt.u64.u32 %q6, %r2;  shl.b64 %q6, %q6, 2;
"""
LOOP = """LOOP:
  .pragma "nounroll";
"""
TAIL = """  add.s32 %r3, %r3, 1;
  setp.lt.s32 %t1, %r3, %r1;
  @%t1 bra LOOP;
  add.s64 %p5, %p5, %q3;
  st.global.f32 [%p5], %sum;
  st.global.u64 [%p5+8192], %q5;
  st.global.u32 [%p5+16384], %r4;
  ret;
}
"""
LOAD = "ld.global.f32 %fK, [%pK];"
OWN = "add.s64 %pK, %pK, %q3;"
HALVES = "mov.b64 {%r20, %r21}, %pK; add.cc.u32 %r20, %r20, C; addc.u32 %r21, %r21, 0; mov.b64 %pK, {%r20, %r21};"
READ = """  ld.volatile.global.f32 %f0, [%p0];
  ld.volatile.global.u64 %a0, [%p1];  ld.volatile.global.u64 %a1, [%p1+8];
  ld.volatile.global.u32 %r30, [%p1+16];  ld.volatile.global.u32 %r31, [%p1+20];
"""
WRITE = """  st.volatile.global.u64 [%p1], %a2;
  st.volatile.global.u32 [%p1+8], %r32;
  add.f32 %sum, %sum, %f0;
"""
GUARDED = "@%t2 st.volatile.global.u32 [%p1+12], %r31; mov.u64 %a2, %a0; mov.u32 %r32, %r30;"
KEEP64, KEEP32 = "mov.u64 %a2, %a0;", "mov.u32 %r32, %r30;"


@dataclass
class Form:
    text: str  # of the kernel, from its parameters on
    rest: int  # what of the loop has nothing to do with the form; 0: see `compared`
    arrays: int = 1
    compared: str = ""  # the name of the form that has the rest


def accesses(before, body, arrays, once=""):
    """`arrays` accesses; the rest of the loop is an access and an addition for each, a counter, its test and a branch."""
    def each(text):
        return "".join("  " + text.replace("K", str(k)).replace("C", str(4096 + 16 * k)) + "\n" for k in range(arrays))
    sums = "".join(f"  add.f32 %sum, %sum, %f{k};\n" for k in range(arrays))
    return Form(HEAD + (each(before) if before else "") + LOOP + each(body) + sums + f"  {once}\n" + TAIL, 3 + 2 * arrays, arrays)


def counted(width):
    """A loop that goes on while a counter that goes down carries. The one that it is compared with counts up and compares."""
    form = accesses(OWN, f"{LOAD} mul.wide.u32 %dK, %r12, C; add.s64 %pK, %pK, %dK;", 1)
    counter = "%q8" if width == 64 else "%r20"
    # More iterations than a number of 32 bits holds, for 64 bits; what the thread's number is part of, for both.
    start = "  mul.lo.s64 %q8, %q1, %q2;\n" if width == 64 else "  add.s32 %r20, %r1, %r10;\n"
    down = f"  add.cc.u{width} {counter}, {counter}, -1;\n  addc.u32 %r21, 0, 0;\n  setp.ne.u32 %t1, %r21, 0;\n"
    up = "  add.s32 %r3, %r3, 1;\n  setp.lt.s32 %t1, %r3, %r1;\n"
    return Form(form.text.replace(LOOP, start + LOOP).replace(up, down), -2, 1, "own pointer + unit product x1")


def entered(arrays, fills):
    """A loop whose threads differ in the number of iterations; a branch leads straight into it, or past the load of a parameter."""
    def each(text):
        return "".join("  " + text.replace("K", str(k)) + "\n" for k in range(arrays))
    load = "  ld.param.u32 %r2, [S];\n"
    head = HEAD.replace("  ld.param.u32 %r1, [N];  ld.param.u32 %r2, [S];", "  ld.param.u32 %r1, [N];" + ("" if fills else load))
    head = head.replace("  cvt.u64.u32 %q6, %r2;  shl.b64 %q6, %q6, 2;\n", "")
    enter = "  setp.ge.u32 %t1, %r10, %r1;\n  @%t1 bra DONE;\n" + (load if fills else "")
    body = each("mul.wide.u32 %dK, %r10, 4;\n  add.s64 %aK, %pK, %dK;\n  ld.global.u32 %r3K, [%aK];\n  add.s32 %r3K, %r3K, %r2;\n"
                "  st.global.u32 [%aK], %r3K;")
    test = "  add.s32 %r10, %r10, %r11;\n  setp.lt.u32 %t1, %r10, %r1;\n  @%t1 bra LOOP;\nDONE:\n  ret;\n}\n"
    return Form(head + enter + LOOP + body + test, 0, 2 * arrays, "" if fills else f"entered past a load x{arrays}")


def values(body):
    """Numbers that are read, computed with and written."""
    before = "  add.s64 %p1, %p1, %q3;\n  add.s64 %p0, %p0, %q3;\n"
    return Form(HEAD + before + LOOP + READ + f"  {body}\n" + WRITE + TAIL, 0, 1, "values")


def families():
    """name -> Form, `NAME xN` of those with N arrays."""
    pointers = {
        "constant": "add.s64 %pK, %pK, C;",
        "constant in 32-bit halves": HALVES,
        "parameter": "add.s64 %pK, %pK, %q1;",
        "register": "add.s64 %pK, %pK, %q6;",
        "product": "mul.wide.s32 %dK, %r2, C; add.s64 %pK, %pK, %dK;",
        "unit product": "mul.wide.u32 %dK, %r12, C; add.s64 %pK, %pK, %dK;",
        "mad.wide": "mad.wide.s32 %pK, %r2, C, %pK;",
    }
    indexed = "add.s64 %bK, %pK, %dK; ld.global.f32 %fK, [%bK];"
    indexes = {
        "32 bits, mul.wide": ("mul.wide.s32 %dK, %r4, 4; " + indexed, "add.s32 %r4, %r4, 1024;"),
        "32 bits, uniform": ("mul.wide.s32 %dK, %r3, 4; " + indexed, ""),
        "32 bits, extended and shifted": ("cvt.s64.s32 %dK, %r4; shl.b64 %dK, %dK, 2; " + indexed, "add.s32 %r4, %r4, 1024;"),
        "64 bits, shifted": ("shl.b64 %dK, %q5, 2; " + indexed, "add.s64 %q5, %q5, 1024;"),
        "offset of 32 bits": ("cvt.u64.u32 %dK, %r4; " + indexed, "add.s32 %r4, %r4, 4096;"),
    }
    found = {}
    for arrays in (1, 2, 4):
        for name, step in pointers.items():
            found[f"own pointer + {name} x{arrays}"] = accesses(OWN, f"{LOAD} {step}", arrays)
            found[f"pointer + {name} x{arrays}"] = accesses("", f"{LOAD} {step}", arrays)
        for name, (body, once) in indexes.items():
            found[f"index of {name} x{arrays}"] = accesses("", body, arrays, once)
            found[f"own base, index of {name} x{arrays}"] = accesses(OWN, body, arrays, once)
    for arrays in (1, 2):
        for name, fills in (("entered by a branch", False), ("entered past a load", True)):
            found[f"{name} x{arrays}"] = entered(arrays, fills)
    for width in (32, 64):
        found[f"carry of {width} bits"] = counted(width)
    # A comparison is priced beside a loop that has one of 32 bits.
    found["guarded"] = values("setp.ne.s32 %t2, %r30, 0; " + GUARDED)
    for name, body in {
        "values": KEEP64 + KEEP32,
        "add.s64": f"add.s64 %a2, %a0, %a1; {KEEP32}",
        "add.s64 constant": f"add.s64 %a2, %a0, 123456; {KEEP32}",
        "add.s64 parameter": f"add.s64 %a2, %a0, %q1; {KEEP32}",
        "add.s64 three": f"add.s64 %a2, %a0, %a1; add.s64 %a2, %a2, %q3; {KEEP32}",
        "sub.s64": f"sub.s64 %a2, %a0, %a1; {KEEP32}",
        "neg.s64": f"neg.s64 %a2, %a0; {KEEP32}",
        "mul.lo.s64": f"mul.lo.s64 %a2, %a0, %a1; {KEEP32}",
        "mul.lo.s64 constant": f"mul.lo.s64 %a2, %a0, 12; {KEEP32}",
        "mul.hi.u64": f"mul.hi.u64 %a2, %a0, %a1; {KEEP32}",
        "mul.wide": f"mul.wide.s32 %a2, %r30, %r31; {KEEP32}",
        "mul.wide, add": f"mul.wide.s32 %a2, %r30, 12; add.s64 %a2, %a2, %a1; {KEEP32}",
        "mul.wide, add parameter": f"mul.wide.s32 %a2, %r30, 12; add.s64 %a2, %a2, %q1; {KEEP32}",
        "mul.wide by 1, add": f"mul.wide.s32 %a2, %r30, 1; add.s64 %a2, %a2, %a1; {KEEP32}",
        "cvt.s64.s32, add": f"cvt.s64.s32 %a2, %r30; add.s64 %a2, %a2, %a1; {KEEP32}",
        "cvt.u64.u32, add": f"cvt.u64.u32 %a2, %r30; add.s64 %a2, %a2, %a1; {KEEP32}",
        "cvt.s64.s32": f"cvt.s64.s32 %a2, %r30; {KEEP32}",
        "cvt.s64.s32, shl, add": f"cvt.s64.s32 %a2, %r30; shl.b64 %a2, %a2, 2; add.s64 %a2, %a2, %a1; {KEEP32}",
        "shl.b64, add": f"shl.b64 %a2, %a0, 2; add.s64 %a2, %a2, %a1; {KEEP32}",
        "shl.b64": f"shl.b64 %a2, %a0, 2; {KEEP32}",
        "shr.u64": f"shr.u64 %a2, %a0, 2; {KEEP32}",
        "and.b64": f"and.b64 %a2, %a0, %a1; {KEEP32}",
        "min.s64": f"min.s64 %a2, %a0, %a1; {KEEP32}",
        "mad.wide": f"mad.wide.s32 %a2, %r30, 12, %a1; {KEEP32}",
        "setp.s32": f"setp.lt.s32 %t2, %r30, %r31; {GUARDED}",
        "setp.s64": f"setp.lt.s64 %t2, %a0, %a1; {GUARDED}",
        "selp.b64": f"setp.lt.s32 %t2, %r30, %r31; selp.b64 %a2, %a0, %a1, %t2; {KEEP32}",
        "add.s32": f"add.s32 %r32, %r30, %r31; {KEEP64}",
        "mul.lo.s32": f"mul.lo.s32 %r32, %r30, %r31; {KEEP64}",
    }.items():
        found[name] = values(body)
    for name in ("setp.s32", "setp.s64"):  # beside a loop that has a comparison
        found[name].rest, found[name].compared = -1, "guarded"
    return found
