// OpenCL's integer functions for NVPTX: a part of nvptx.h, which says what it is for.
#ifndef PTXOPT_TESTS_EXEC_OPENCL_NVPTX_INTEGER_H
#define PTXOPT_TESTS_EXEC_OPENCL_NVPTX_INTEGER_H

// One instruction over registers of class K ("h", "r", "l"): R is the result's type.
#define UNARY(F, R, T, K, KR, INSTRUCTION)              \
  FN R F(T a) {                                         \
    R r;                                                \
    __asm__(INSTRUCTION " %0, %1;" : "=" KR(r) : K(a)); \
    return r;                                           \
  }
#define BINARY(F, R, T, K, KR, INSTRUCTION)                       \
  FN R F(T a, T b) {                                              \
    R r;                                                          \
    __asm__(INSTRUCTION " %0, %1, %2;" : "=" KR(r) : K(a), K(b)); \
    return r;                                                     \
  }
#define TERNARY(F, R, T, K, KR, INSTRUCTION)                                \
  FN R F(T a, T b, T c) {                                                   \
    R r;                                                                    \
    __asm__(INSTRUCTION " %0, %1, %2, %3;" : "=" KR(r) : K(a), K(b), K(c)); \
    return r;                                                               \
  }

// min, max, abs
BINARY(min, short, short, "h", "h", "min.s16")
BINARY(min, ushort, ushort, "h", "h", "min.u16")
BINARY(min, int, int, "r", "r", "min.s32")
BINARY(min, uint, uint, "r", "r", "min.u32")
BINARY(min, long, long, "l", "l", "min.s64")
BINARY(min, ulong, ulong, "l", "l", "min.u64")
BINARY(max, short, short, "h", "h", "max.s16")
BINARY(max, ushort, ushort, "h", "h", "max.u16")
BINARY(max, int, int, "r", "r", "max.s32")
BINARY(max, uint, uint, "r", "r", "max.u32")
BINARY(max, long, long, "l", "l", "max.s64")
BINARY(max, ulong, ulong, "l", "l", "max.u64")
FN char min(char a, char b) { return a < b ? a : b; }
FN uchar min(uchar a, uchar b) { return a < b ? a : b; }
FN char max(char a, char b) { return a > b ? a : b; }
FN uchar max(uchar a, uchar b) { return a > b ? a : b; }
UNARY(abs, ushort, short, "h", "h", "abs.s16")
UNARY(abs, uint, int, "r", "r", "abs.s32")
UNARY(abs, ulong, long, "l", "l", "abs.s64")
FN uchar abs(char a) { return (uchar)abs((int)a); }
FN uchar abs(uchar a) { return a; }
FN ushort abs(ushort a) { return a; }
FN uint abs(uint a) { return a; }
FN ulong abs(ulong a) { return a; }

// |a - b| is what sad adds.
#define SAD(T, U, K, TYPE)                                                    \
  FN U abs_diff(T a, T b) {                                                   \
    U r;                                                                      \
    __asm__("sad." TYPE " %0, %1, %2, %3;" : "=" K(r) : K(a), K(b), K((U)0)); \
    return r;                                                                 \
  }
SAD(short, ushort, "h", "s16")
SAD(ushort, ushort, "h", "u16")
SAD(int, uint, "r", "s32")
SAD(uint, uint, "r", "u32")
SAD(long, ulong, "l", "s64")
SAD(ulong, ulong, "l", "u64")
FN uchar abs_diff(char a, char b) { return (uchar)abs_diff((int)a, (int)b); }
FN uchar abs_diff(uchar a, uchar b) { return (uchar)abs_diff((uint)a, (uint)b); }

// High halves of products
BINARY(mul_hi, short, short, "h", "h", "mul.hi.s16")
BINARY(mul_hi, ushort, ushort, "h", "h", "mul.hi.u16")
BINARY(mul_hi, int, int, "r", "r", "mul.hi.s32")
BINARY(mul_hi, uint, uint, "r", "r", "mul.hi.u32")
BINARY(mul_hi, long, long, "l", "l", "mul.hi.s64")
BINARY(mul_hi, ulong, ulong, "l", "l", "mul.hi.u64")
FN char mul_hi(char a, char b) { return (char)((a * b) >> 8); }
FN uchar mul_hi(uchar a, uchar b) { return (uchar)((a * b) >> 8); }
TERNARY(mad_hi, short, short, "h", "h", "mad.hi.s16")
TERNARY(mad_hi, ushort, ushort, "h", "h", "mad.hi.u16")
TERNARY(mad_hi, int, int, "r", "r", "mad.hi.s32")
TERNARY(mad_hi, uint, uint, "r", "r", "mad.hi.u32")
TERNARY(mad_hi, long, long, "l", "l", "mad.hi.s64")
TERNARY(mad_hi, ulong, ulong, "l", "l", "mad.hi.u64")
FN char mad_hi(char a, char b, char c) { return (char)(mul_hi(a, b) + c); }
FN uchar mad_hi(uchar a, uchar b, uchar c) { return (uchar)(mul_hi(a, b) + c); }
BINARY(mul24, int, int, "r", "r", "mul24.lo.s32")
BINARY(mul24, uint, uint, "r", "r", "mul24.lo.u32")
TERNARY(mad24, int, int, "r", "r", "mad24.lo.s32")
TERNARY(mad24, uint, uint, "r", "r", "mad24.lo.u32")

// Saturation: PTX has it for add and sub of s32 only.
BINARY(add_sat, int, int, "r", "r", "add.sat.s32")
BINARY(sub_sat, int, int, "r", "r", "sub.sat.s32")
#define NARROW_SAT(T, LO, HI)                                             \
  FN T clamp_to_##T(int x) { return (T)(x < LO ? LO : x > HI ? HI : x); } \
  FN T add_sat(T a, T b) { return clamp_to_##T(a + b); }                  \
  FN T sub_sat(T a, T b) { return clamp_to_##T(a - b); }
NARROW_SAT(char, -128, 127)
NARROW_SAT(uchar, 0, 255)
NARROW_SAT(short, -32768, 32767)
NARROW_SAT(ushort, 0, 65535)
FN char mad_sat(char a, char b, char c) { return clamp_to_char(a * b + c); }
FN uchar mad_sat(uchar a, uchar b, uchar c) { return clamp_to_uchar(a * b + c); }
FN short mad_sat(short a, short b, short c) { return clamp_to_short(a * b + c); }
FN ushort mad_sat(ushort a, ushort b, ushort c) {
  const ulong x = (ulong)a * b + c;
  return (ushort)(x > 65535 ? 65535 : x);
}
FN uint add_sat(uint a, uint b) { return a + b < a ? UINT_MAX : a + b; }
FN uint sub_sat(uint a, uint b) { return a < b ? 0 : a - b; }
FN ulong add_sat(ulong a, ulong b) { return a + b < a ? ULONG_MAX : a + b; }
FN ulong sub_sat(ulong a, ulong b) { return a < b ? 0 : a - b; }
FN long add_sat(long a, long b) {
  const long r = (long)((ulong)a + (ulong)b);
  return ((a ^ r) & (b ^ r)) < 0 ? (a < 0 ? LONG_MIN : LONG_MAX) : r;
}
FN long sub_sat(long a, long b) {
  const long r = (long)((ulong)a - (ulong)b);
  return ((a ^ b) & (a ^ r)) < 0 ? (a < 0 ? LONG_MIN : LONG_MAX) : r;
}
FN int mad_sat(int a, int b, int c) {
  long r;
  __asm__("mad.wide.s32 %0, %1, %2, %3;" : "=l"(r) : "r"(a), "r"(b), "l"((long)c));
  return (int)(r < INT_MIN ? INT_MIN : r > INT_MAX ? INT_MAX : r);
}
FN uint mad_sat(uint a, uint b, uint c) {
  ulong r;
  __asm__("mad.wide.u32 %0, %1, %2, %3;" : "=l"(r) : "r"(a), "r"(b), "l"((ulong)c));
  return (uint)(r > UINT_MAX ? UINT_MAX : r);
}
// 128 bits of a * b + c, through a carry chain.
FN ulong mad_sat(ulong a, ulong b, ulong c) {
  ulong low, high;
  __asm__("mad.lo.cc.u64 %0, %2, %3, %4;\n\tmadc.hi.u64 %1, %2, %3, 0;"
          : "=&l"(low), "=l"(high)
          : "l"(a), "l"(b), "l"(c));
  return high != 0 ? ULONG_MAX : low;
}
FN long mad_sat(long a, long b, long c) {
  ulong low;
  long high;
  __asm__("mad.lo.cc.u64 %0, %2, %3, %4;\n\tmadc.hi.s64 %1, %2, %3, %5;"
          : "=&l"(low), "=l"(high)
          : "l"(a), "l"(b), "l"(c), "l"(c >> 63));
  return high == (long)low >> 63 ? (long)low : high < 0 ? LONG_MIN : LONG_MAX;
}

// Halves of sums, without overflow
#define HALVES(T)                                               \
  FN T hadd(T a, T b) { return (T)((a & b) + ((a ^ b) >> 1)); } \
  FN T rhadd(T a, T b) { return (T)((a | b) - ((a ^ b) >> 1)); }
HALVES(char)
HALVES(uchar)
HALVES(short)
HALVES(ushort)
HALVES(int)
HALVES(uint)
HALVES(long)
HALVES(ulong)

// Bits
FN uint clz32(uint a) {
  uint r;
  __asm__("clz.b32 %0, %1;" : "=r"(r) : "r"(a));
  return r;
}
FN uint clz64(ulong a) {
  uint r;
  __asm__("clz.b64 %0, %1;" : "=r"(r) : "l"(a));
  return r;
}
FN uint popc32(uint a) {
  uint r;
  __asm__("popc.b32 %0, %1;" : "=r"(r) : "r"(a));
  return r;
}
FN uint popc64(ulong a) {
  uint r;
  __asm__("popc.b64 %0, %1;" : "=r"(r) : "l"(a));
  return r;
}
#define COUNTS(T, U, SPARE)                                \
  FN T clz(T a) { return (T)(clz32((uint)(U)a) - SPARE); } \
  FN T popcount(T a) { return (T)popc32((uint)(U)a); }
COUNTS(char, uchar, 24)
COUNTS(uchar, uchar, 24)
COUNTS(short, ushort, 16)
COUNTS(ushort, ushort, 16)
COUNTS(int, uint, 0)
COUNTS(uint, uint, 0)
FN long clz(long a) { return clz64((ulong)a); }
FN ulong clz(ulong a) { return clz64(a); }
FN long popcount(long a) { return popc64((ulong)a); }
FN ulong popcount(ulong a) { return popc64(a); }

FN uint rotate(uint a, uint n) {
  uint r;
  __asm__("shf.l.wrap.b32 %0, %1, %1, %2;" : "=r"(r) : "r"(a), "r"(n));
  return r;
}
FN int rotate(int a, int n) { return (int)rotate((uint)a, (uint)n); }
FN ulong rotate(ulong a, ulong n) {
  const uint low = (uint)a, high = (uint)(a >> 32);
  uint x, y;
  __asm__("shf.l.wrap.b32 %0, %2, %3, %4;\n\tshf.l.wrap.b32 %1, %3, %2, %4;"
          : "=&r"(x), "=r"(y)
          : "r"(low), "r"(high), "r"((uint)n));
  return n & 32 ? (ulong)x | (ulong)y << 32 : (ulong)y | (ulong)x << 32;
}
FN long rotate(long a, long n) { return (long)rotate((ulong)a, (ulong)n); }
#define NARROW_ROTATE(T, U, BITS)                  \
  FN T rotate(T a, T n) {                          \
    const uint k = (uint)n & (BITS - 1), x = (U)a; \
    return (T)(x << k | x >> (BITS - k));          \
  }
NARROW_ROTATE(char, uchar, 8)
NARROW_ROTATE(uchar, uchar, 8)
NARROW_ROTATE(short, ushort, 16)
NARROW_ROTATE(ushort, ushort, 16)

FN uint upsample(ushort a, ushort b) {
  uint r;
  __asm__("mov.b32 %0, {%1, %2};" : "=r"(r) : "h"(b), "h"(a));
  return r;
}
FN int upsample(short a, ushort b) { return (int)upsample((ushort)a, b); }
FN ulong upsample(uint a, uint b) {
  ulong r;
  __asm__("mov.b64 %0, {%1, %2};" : "=l"(r) : "r"(b), "r"(a));
  return r;
}
FN long upsample(int a, uint b) { return (long)upsample((uint)a, b); }
FN ushort upsample(uchar a, uchar b) {
  uint r;
  __asm__("prmt.b32 %0, %1, %2, 0x7740;" : "=r"(r) : "r"((uint)b), "r"((uint)a));
  return (ushort)r;
}
FN short upsample(char a, uchar b) { return (short)upsample((uchar)a, b); }

// c ? b : a, bit by bit: 0xca is the table of (c & b) | (~c & a) with c first.
FN uint bitselect(uint a, uint b, uint c) {
  uint r;
  __asm__("lop3.b32 %0, %1, %2, %3, 0xca;" : "=r"(r) : "r"(c), "r"(b), "r"(a));
  return r;
}
FN int bitselect(int a, int b, int c) { return (int)bitselect((uint)a, (uint)b, (uint)c); }
FN ulong bitselect(ulong a, ulong b, ulong c) { return (a & ~c) | (b & c); }
FN long bitselect(long a, long b, long c) { return (a & ~c) | (b & c); }
FN char bitselect(char a, char b, char c) { return (char)((a & ~c) | (b & c)); }
FN uchar bitselect(uchar a, uchar b, uchar c) { return (uchar)((a & ~c) | (b & c)); }
FN short bitselect(short a, short b, short c) { return (short)((a & ~c) | (b & c)); }
FN ushort bitselect(ushort a, ushort b, ushort c) { return (ushort)((a & ~c) | (b & c)); }
FN float bitselect(float a, float b, float c) { return as_float(bitselect(as_uint(a), as_uint(b), as_uint(c))); }

// select on scalars asks whether c is not 0; on vectors (below) whether its highest bit is set.
#define SELECT(T, C)                               \
  FN T select(T a, T b, C c) { return c ? b : a; } \
  FN T select_top(T a, T b, C c) { return c < 0 ? b : a; }
#define SELECT_VECTOR(T, C)                                              \
  VECTOR_FN T##2 select(T##2 a, T##2 b, C##2 c) {                        \
    return (T##2)(select_top(a.x, b.x, c.x), select_top(a.y, b.y, c.y)); \
  }                                                                      \
  VECTOR_FN T##3 select(T##3 a, T##3 b, C##3 c) {                        \
    return (T##3)(select(a.xy, b.xy, c.xy), select_top(a.z, b.z, c.z));  \
  }                                                                      \
  VECTOR_FN T##4 select(T##4 a, T##4 b, C##4 c) {                        \
    return (T##4)(select(a.lo, b.lo, c.lo), select(a.hi, b.hi, c.hi));   \
  }                                                                      \
  VECTOR_FN T##8 select(T##8 a, T##8 b, C##8 c) {                        \
    return (T##8)(select(a.lo, b.lo, c.lo), select(a.hi, b.hi, c.hi));   \
  }                                                                      \
  VECTOR_FN T##16 select(T##16 a, T##16 b, C##16 c) {                    \
    return (T##16)(select(a.lo, b.lo, c.lo), select(a.hi, b.hi, c.hi));  \
  }
#define SELECTS(T, C) SELECT(T, C) SELECT_VECTOR(T, C)
SELECTS(char, char)
SELECTS(uchar, char)
SELECTS(short, short)
SELECTS(ushort, short)
SELECTS(int, int)
SELECTS(uint, int)
SELECTS(long, long)
SELECTS(ulong, long)
SELECTS(float, int)
SELECTS(double, long)

#define CLAMP(T) \
  FN T clamp(T x, T low, T high) { return min(max(x, low), high); }
#define VECTOR_FUNCTIONS(T) \
  CLAMP(T)                  \
  MAP2(min, T, T, T)        \
  MAP2(max, T, T, T)        \
  MAP2(mul_hi, T, T, T)     \
  MAP2(add_sat, T, T, T)    \
  MAP2(sub_sat, T, T, T)    \
  MAP2(hadd, T, T, T)       \
  MAP2(rotate, T, T, T)     \
  MAP1(clz, T, T)           \
  MAP1(popcount, T, T)      \
  MAP3(mad_hi, T, T, T, T)  \
  MAP3(bitselect, T, T, T, T)
VECTOR_FUNCTIONS(char)
VECTOR_FUNCTIONS(uchar)
VECTOR_FUNCTIONS(short)
VECTOR_FUNCTIONS(ushort)
VECTOR_FUNCTIONS(int)
VECTOR_FUNCTIONS(uint)
VECTOR_FUNCTIONS(long)
VECTOR_FUNCTIONS(ulong)

// Whether the highest bit of any (all) elements is set
#define ANY_ALL(T)                                             \
  VECTOR_FN int any(T a) { return a < 0; }                     \
  VECTOR_FN int all(T a) { return a < 0; }                     \
  VECTOR_FN int any(T##2 a) { return any(a.x) | any(a.y); }    \
  VECTOR_FN int all(T##2 a) { return all(a.x) & all(a.y); }    \
  VECTOR_FN int any(T##3 a) { return any(a.xy) | any(a.z); }   \
  VECTOR_FN int all(T##3 a) { return all(a.xy) & all(a.z); }   \
  VECTOR_FN int any(T##4 a) { return any(a.lo) | any(a.hi); }  \
  VECTOR_FN int all(T##4 a) { return all(a.lo) & all(a.hi); }  \
  VECTOR_FN int any(T##8 a) { return any(a.lo) | any(a.hi); }  \
  VECTOR_FN int all(T##8 a) { return all(a.lo) & all(a.hi); }  \
  VECTOR_FN int any(T##16 a) { return any(a.lo) | any(a.hi); } \
  VECTOR_FN int all(T##16 a) { return all(a.lo) & all(a.hi); }
ANY_ALL(char)
ANY_ALL(short)
ANY_ALL(int)
ANY_ALL(long)

#endif  // PTXOPT_TESTS_EXEC_OPENCL_NVPTX_INTEGER_H
