// Inline assembly: nested scopes that redeclare names, labels and loops inside, several instructions a line.
#include <cstdint>
__device__ __forceinline__ int shadow(int x) {
  int r;
  asm("{\n\t.reg .b32 t, u;\n\tmov.b32 t, %1;\n\t{ .reg .b64 t; .reg .b32 v; cvt.s64.s32 t, %1; { .reg .f32 t; cvt.rn.f32.s32 t, %1; cvt.rzi.s32.f32 v, t; } shr.s64 t, t, 3; cvt.u32.u64 u, t; add.s32 u, u, v; }\n\tadd.s32 %0, t, u;\n}" : "=r"(r) : "r"(x));
  return r;
}
__device__ __forceinline__ void spin(int *p) {
  asm volatile("{\n.reg .pred p, %%q;\n.reg .b32 a<3>;\nmov.u32 a0, 0;\nAGAIN:\nld.volatile.u32 a1, [%0];\nsetp.ne.u32 p|%%q, a1, 7;\n@!p bra.uni DONE;\nadd.u32 a0, a0, 1; setp.lt.u32 p, a0, 1000; @p bra AGAIN;\nDONE:\n}" ::"l"(p) : "memory");
}
__device__ __forceinline__ unsigned collatz(unsigned n) {
  unsigned steps;
  asm volatile("{ .reg .b32 n, b; .reg .pred odd, one; mov.u32 n, %1; mov.u32 %0, 0;\n"
               "loop_%=: setp.le.u32 one, n, 1; @one bra end_%=; and.b32 b, n, 1; setp.eq.u32 odd, b, 1;\n"
               "@odd mad.lo.u32 n, n, 3, 1; @!odd shr.u32 n, n, 1; add.u32 %0, %0, 1; bra loop_%=;\nend_%=: }" : "=&r"(steps) : "r"(n));
  return steps;
}
extern "C" __global__ void scopes(int *o, int *p) {
  int t = threadIdx.x;
  o[t] = shadow(t) + shadow(o[t]) * shadow(3);
  spin(p); spin(p + 1);
  if (t & 1) spin(p + 2);
  o[t + 1] = collatz(o[t]);
#pragma unroll
  for (int i = 0; i < 4; ++i) o[t + 2 + i] = collatz(i + t) + shadow(i);
}
extern "C" __global__ void constraints(int16_t *h, int *r, int64_t *l, float *f, double *d) {
  asm volatile("add.s16 %0, %0, %1;" : "+h"(h[0]) : "h"(h[1]));
  asm volatile("mad.wide.s32 %0, %1, -7, %0;" : "+l"(l[0]) : "r"(r[0]));
  asm volatile("fma.rn.ftz.f32 %0, %1, 0f3F000000, %0;" : "+f"(f[0]) : "f"(f[1]));
  asm volatile("fma.rn.f64 %0, %1, 0d3FE0000000000000, %1;" : "=d"(d[0]) : "d"(d[1]));
  asm volatile("mov.b64 {%0, %1}, %2;" : "=r"(r[1]), "=r"(r[2]) : "l"(l[1]));
  asm volatile("mov.b64 %0, {%1, %2};" : "=l"(l[2]) : "r"(r[3]), "n"(-5));
  asm volatile("{ .reg .b16 lo, hi; mov.b32 {lo, hi}, %1; mov.b32 %0, {hi, lo}; }" : "=r"(r[4]) : "r"(r[5]));
  asm volatile("// only a comment\n/* and { another */");
}
extern "C" __global__ void special(unsigned *o, unsigned long long *l) {
#define READ(i, name) asm volatile("mov.u32 %0, %" name ";" : "=r"(o[i]));
  READ(0, "%laneid") READ(1, "%warpid") READ(2, "%nwarpid") READ(3, "%smid") READ(4, "%nsmid") READ(5, "%lanemask_lt") READ(6, "%lanemask_ge")
  READ(7, "%clock") READ(8, "%clock_hi") READ(9, "%dynamic_smem_size") READ(10, "%total_smem_size") READ(11, "%envreg3") READ(12, "%pm0") READ(13, "%tid.z")
  READ(14, "%globaltimer_lo")
#if __CUDA_ARCH__ >= 800
  READ(15, "%reserved_smem_offset_begin")
#endif
  asm volatile("mov.u64 %0, %%clock64; mov.u64 %1, %%globaltimer; mov.u64 %2, %%gridid;" : "=l"(l[0]), "=l"(l[1]), "=l"(l[2]));
}
