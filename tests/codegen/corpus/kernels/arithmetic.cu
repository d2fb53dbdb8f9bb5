// Integers of every width, 128 bits, carry chains, division, bit operations, saturation.
#include <cstdint>
typedef unsigned __int128 u128;
typedef __int128 s128;

extern "C" __global__ void wide_integers(u128 *out, const u128 *in, s128 *sout, const s128 *sin, int shift) {
  int i = threadIdx.x;
  u128 a = in[i], b = in[i + 1];
  out[0] = a + b; out[1] = a - b; out[2] = a * b; out[3] = a << shift; out[4] = a >> shift; out[5] = a ^ ~b;
  sout[0] = sin[i] >> shift; sout[1] = sin[i] * sin[i + 1]; sout[2] = -sin[i]; sout[3] = sin[i] < sin[i + 1] ? sin[i] : sin[i + 1];
  out[6] = a / b; out[7] = a % b; sout[4] = sin[i] / sin[i + 1];
}

template <class T> __device__ T divisions(T a, T b) { return a / b + a % b * 3 + a / 10 + a % 7 + a / 8 + a % 16 + a / T(3); }
extern "C" __global__ void division(int8_t *a, uint8_t *b, int16_t *c, uint16_t *d, int32_t *e, uint32_t *f, int64_t *g, uint64_t *h) {
  int i = threadIdx.x;
  a[i] = divisions(a[i], a[i + 1]); b[i] = divisions(b[i], b[i + 1]); c[i] = divisions(c[i], c[i + 1]); d[i] = divisions(d[i], d[i + 1]);
  e[i] = divisions(e[i], e[i + 1]); f[i] = divisions(f[i], f[i + 1]); g[i] = divisions(g[i], g[i + 1]); h[i] = divisions(h[i], h[i + 1]);
}

extern "C" __global__ void carry_chain(uint32_t *r, const uint32_t *a, const uint32_t *b, int words) {
  uint32_t r0, r1, r2, r3, r4;
  asm("add.cc.u32 %0, %5, %9;\n\taddc.cc.u32 %1, %6, %10;\n\taddc.cc.u32 %2, %7, %11;\n\taddc.cc.u32 %3, %8, %12;\n\taddc.u32 %4, 0, 0;"
      : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3), "=r"(r4)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]));
  asm("sub.cc.u32 %0, %0, %3;\n\tsubc.cc.u32 %1, %1, 0;\n\tsubc.u32 %2, %2, 0;" : "+r"(r0), "+r"(r1), "+r"(r2) : "r"(b[4]));
  asm("mad.lo.cc.u32 %0, %2, %3, %0;\n\tmadc.hi.u32 %1, %2, %3, %1;" : "+r"(r3), "+r"(r4) : "r"(a[5]), "r"(b[5]));
  r[0] = r0; r[1] = r1; r[2] = r2; r[3] = r3; r[4] = r4;
  uint64_t carry = 0;
  for (int i = 5; i < words; ++i) { carry += uint64_t(a[i]) + b[i]; r[i] = uint32_t(carry); carry >>= 32; }
}

extern "C" __global__ void bits(uint32_t *o, const uint32_t *p, uint64_t *o8, const uint64_t *p8) {
  uint32_t a = p[0], b = p[1], c = p[2];
  uint64_t x = p8[0], y = p8[1];
  o[0] = __popc(a); o[1] = __clz(a); o[2] = __ffs(a); o[3] = __brev(a); o[4] = __byte_perm(a, b, c); o[5] = __funnelshift_l(a, b, c);
  o[6] = __funnelshift_rc(a, b, c); o[7] = __dp4a(a, b, c); o[8] = __dp2a_lo(a, b, c); o[9] = __umulhi(a, b); o[10] = __usad(a, b, c);
  o[11] = __mul24(a, b); o[12] = __uhadd(a, b); o[13] = __vadd4(a, b); o[14] = __vmaxs2(a, b); o[15] = __vabsdiffu4(a, b);
  o[16] = __vcmpgtu2(a, b); o[17] = (a & b) | (~a & c); o[18] = a ^ b ^ c; o[19] = min(a, b) + max(a, c); o[20] = abs(int(a));
  o8[0] = __popcll(x); o8[1] = __clzll(x); o8[2] = __brevll(x); o8[3] = __umul64hi(x, y); o8[4] = x << (y & 63) | x >> (64 - (y & 63));
  o8[5] = min(x, y); o8[6] = uint64_t(__mul64hi(int64_t(x), int64_t(y))); o8[7] = x * y + uint64_t(a) * b;
  int bfe, bfi, sat;
  asm("bfe.s32 %0, %1, 3, 7;" : "=r"(bfe) : "r"(a));
  asm("bfi.b32 %0, %1, %2, 4, 9;" : "=r"(bfi) : "r"(a), "r"(b));
  asm("add.sat.s32 %0, %1, %2;" : "=r"(sat) : "r"(a), "r"(b));
  o[21] = bfe; o[22] = bfi; o[23] = sat;
  asm("vadd.u32.u32.u32.sat %0, %1.b0, %2.h1;" : "=r"(sat) : "r"(a), "r"(b));
  asm("vset4.u32.u32.gt.add %0, %1, %2, %3;" : "=r"(bfi) : "r"(a), "r"(b), "r"(c));
  o[24] = sat; o[25] = bfi;
}

extern "C" __global__ void conversions(void *out, const int8_t *i1, const uint16_t *i2, const int32_t *i4, const uint64_t *i8, const float *f, const double *d) {
  int t = threadIdx.x;
  float *fo = (float *)out; double *dout = (double *)out; int8_t *o1 = (int8_t *)out; int64_t *o8 = (int64_t *)out;
  fo[t] = i1[t]; fo[t + 32] = i2[t]; fo[t + 64] = i4[t]; fo[t + 96] = i8[t]; fo[t + 128] = d[t];
  dout[t + 100] = i1[t] + i2[t] + double(i4[t]) + double(i8[t]) + f[t];
  o1[t + 4000] = f[t]; o1[t + 4100] = d[t]; o1[t + 4200] = i4[t]; o8[t + 1000] = f[t]; o8[t + 1100] = d[t]; o8[t + 1200] = i1[t];
  o8[t + 1300] = __float2ll_ru(f[t]) + __double2ll_rd(d[t]) + __float2int_rn(f[t]) + __double2uint_rz(d[t]);
  fo[t + 200] = __int_as_float(i4[t]) + __double2float_rd(d[t]) + __uint2float_ru(i2[t]) + rintf(f[t]) + truncf(f[t]) + ceilf(f[t]);
  o8[t + 1400] = __double_as_longlong(d[t]) ^ __float_as_int(f[t]);
}
