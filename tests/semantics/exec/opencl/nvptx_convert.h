// OpenCL's conversions for NVPTX, each rounding being that of a cvt: a part of nvptx.h, which says what it is for.
#ifndef PTXOPT_TESTS_EXEC_OPENCL_NVPTX_CONVERT_H
#define PTXOPT_TESTS_EXEC_OPENCL_NVPTX_CONVERT_H

// Of a float to an integer. OpenCL makes 0 of a NaN, PTX only where neither type has 64 bits: hence the test.
#define CONVERT_FI(T, W, KT, TYPE, S, KS, STYPE, NAME, ROUNDING)                    \
  FN T convert_##T##NAME(S x) {                                                     \
    W r;                                                                            \
    __asm__("cvt." ROUNDING "." TYPE "." STYPE " %0, %1;" : "=" KT(r) : KS(x));     \
    return (T)r;                                                                    \
  }                                                                                 \
  FN T convert_##T##_sat##NAME(S x) {                                               \
    W r;                                                                            \
    __asm__("cvt." ROUNDING ".sat." TYPE "." STYPE " %0, %1;" : "=" KT(r) : KS(x)); \
    return x != x && (sizeof(S) == 8 || sizeof(T) == 8) ? (T)0 : (T)r;              \
  }
#define CONVERT_FI_ALL(T, W, KT, TYPE, S, KS, STYPE)    \
  CONVERT_FI(T, W, KT, TYPE, S, KS, STYPE, , "rzi")     \
  CONVERT_FI(T, W, KT, TYPE, S, KS, STYPE, _rte, "rni") \
  CONVERT_FI(T, W, KT, TYPE, S, KS, STYPE, _rtz, "rzi") \
  CONVERT_FI(T, W, KT, TYPE, S, KS, STYPE, _rtp, "rpi") \
  CONVERT_FI(T, W, KT, TYPE, S, KS, STYPE, _rtn, "rmi")
// Of an integer to a float
#define CONVERT_IF(F, KF, FTYPE, S, W, KS, STYPE, NAME, ROUNDING)                   \
  FN F convert_##F##NAME(S x) {                                                     \
    F r;                                                                            \
    __asm__("cvt." ROUNDING "." FTYPE "." STYPE " %0, %1;" : "=" KF(r) : KS((W)x)); \
    return r;                                                                       \
  }
#define CONVERT_IF_ALL(F, KF, FTYPE, S, W, KS, STYPE)   \
  CONVERT_IF(F, KF, FTYPE, S, W, KS, STYPE, , "rn")     \
  CONVERT_IF(F, KF, FTYPE, S, W, KS, STYPE, _rte, "rn") \
  CONVERT_IF(F, KF, FTYPE, S, W, KS, STYPE, _rtz, "rz") \
  CONVERT_IF(F, KF, FTYPE, S, W, KS, STYPE, _rtp, "rp") \
  CONVERT_IF(F, KF, FTYPE, S, W, KS, STYPE, _rtn, "rm")
#define CONVERT_INTEGER(T, W, K, TYPE)              \
  CONVERT_FI_ALL(T, W, K, TYPE, float, "f", "f32")  \
  CONVERT_FI_ALL(T, W, K, TYPE, double, "d", "f64") \
  CONVERT_IF_ALL(float, "f", "f32", T, W, K, TYPE)  \
  CONVERT_IF_ALL(double, "d", "f64", T, W, K, TYPE)
CONVERT_INTEGER(char, int, "r", "s8")
CONVERT_INTEGER(uchar, uint, "r", "u8")
CONVERT_INTEGER(short, short, "h", "s16")
CONVERT_INTEGER(ushort, ushort, "h", "u16")
CONVERT_INTEGER(int, int, "r", "s32")
CONVERT_INTEGER(uint, uint, "r", "u32")
CONVERT_INTEGER(long, long, "l", "s64")
CONVERT_INTEGER(ulong, ulong, "l", "u64")

FN double convert_double(float x) { return x; }
FN float convert_float(double x) { return (float)x; }
#define CONVERT_DF(NAME, ROUNDING)                                  \
  FN float convert_float##NAME(double x) {                          \
    float r;                                                        \
    __asm__("cvt." ROUNDING ".f32.f64 %0, %1;" : "=f"(r) : "d"(x)); \
    return r;                                                       \
  }
CONVERT_DF(_rte, "rn")
CONVERT_DF(_rtz, "rz")
CONVERT_DF(_rtp, "rp")
CONVERT_DF(_rtn, "rm")

// Between integers: .sat stands where the source holds values that the result cannot.
#define CONVERT_II(T, W, K, INSTRUCTION, S, WS, KS)         \
  FN T convert_##T##_sat(S x) {                             \
    W r;                                                    \
    __asm__(INSTRUCTION " %0, %1;" : "=" K(r) : KS((WS)x)); \
    return (T)r;                                            \
  }                                                         \
  FN T convert_##T(S x) { return (T)x; }
#define CONVERT_FROM(S, WS, KS, C, UC, SH, US, I, UI, L, UL) \
  CONVERT_II(char, int, "r", C, S, WS, KS)                   \
  CONVERT_II(uchar, uint, "r", UC, S, WS, KS)                \
  CONVERT_II(short, short, "h", SH, S, WS, KS)               \
  CONVERT_II(ushort, ushort, "h", US, S, WS, KS)             \
  CONVERT_II(int, int, "r", I, S, WS, KS)                    \
  CONVERT_II(uint, uint, "r", UI, S, WS, KS)                 \
  CONVERT_II(long, long, "l", L, S, WS, KS)                  \
  CONVERT_II(ulong, ulong, "l", UL, S, WS, KS)
CONVERT_FROM(char, int, "r", "cvt.s32.s8", "cvt.sat.u8.s8", "cvt.s16.s8", "cvt.sat.u16.s8", "cvt.s32.s8",
             "cvt.sat.u32.s8", "cvt.s64.s8", "cvt.sat.u64.s8")
CONVERT_FROM(uchar, uint, "r", "cvt.sat.s8.u8", "cvt.u32.u8", "cvt.s16.u8", "cvt.u16.u8", "cvt.s32.u8",
             "cvt.u32.u8", "cvt.s64.u8", "cvt.u64.u8")
CONVERT_FROM(short, short, "h", "cvt.sat.s8.s16", "cvt.sat.u8.s16", "mov.b16", "cvt.sat.u16.s16", "cvt.s32.s16",
             "cvt.sat.u32.s16", "cvt.s64.s16", "cvt.sat.u64.s16")
CONVERT_FROM(ushort, ushort, "h", "cvt.sat.s8.u16", "cvt.sat.u8.u16", "cvt.sat.s16.u16", "mov.b16", "cvt.s32.u16",
             "cvt.u32.u16", "cvt.s64.u16", "cvt.u64.u16")
CONVERT_FROM(int, int, "r", "cvt.sat.s8.s32", "cvt.sat.u8.s32", "cvt.sat.s16.s32", "cvt.sat.u16.s32", "mov.b32",
             "cvt.sat.u32.s32", "cvt.s64.s32", "cvt.sat.u64.s32")
CONVERT_FROM(uint, uint, "r", "cvt.sat.s8.u32", "cvt.sat.u8.u32", "cvt.sat.s16.u32", "cvt.sat.u16.u32",
             "cvt.sat.s32.u32", "mov.b32", "cvt.s64.u32", "cvt.u64.u32")
CONVERT_FROM(long, long, "l", "cvt.sat.s8.s64", "cvt.sat.u8.s64", "cvt.sat.s16.s64", "cvt.sat.u16.s64",
             "cvt.sat.s32.s64", "cvt.sat.u32.s64", "mov.b64", "cvt.sat.u64.s64")
CONVERT_FROM(ulong, ulong, "l", "cvt.sat.s8.u64", "cvt.sat.u8.u64", "cvt.sat.s16.u64", "cvt.sat.u16.u64",
             "cvt.sat.s32.u64", "cvt.sat.u32.u64", "cvt.sat.s64.u64", "mov.b64")

// Of vectors: those that the kernels use
#define CONVERT_VECTOR(R, NAME, A)                                                                               \
  VECTOR_FN R##2 convert_##R##2##NAME(A##2 a) { return (R##2)(convert_##R##NAME(a.x), convert_##R##NAME(a.y)); } \
  VECTOR_FN R##4 convert_##R##4##NAME(A##4 a) {                                                                  \
    return (R##4)(convert_##R##2##NAME(a.lo), convert_##R##2##NAME(a.hi));                                       \
  }
CONVERT_VECTOR(int, _sat_rte, float)
CONVERT_VECTOR(uchar, _sat_rte, float)
CONVERT_VECTOR(float, , int)
CONVERT_VECTOR(float, _rtz, uint)
CONVERT_VECTOR(float, _rtp, double)
CONVERT_VECTOR(uchar, _sat, int)
CONVERT_VECTOR(short, _sat, uint)

#endif  // PTXOPT_TESTS_EXEC_OPENCL_NVPTX_CONVERT_H
