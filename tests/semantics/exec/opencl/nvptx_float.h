// OpenCL's exactly defined floating-point functions for NVPTX: a part of nvptx.h, which says what it is for.
#ifndef PTXOPT_TESTS_EXEC_OPENCL_NVPTX_FLOAT_H
#define PTXOPT_TESTS_EXEC_OPENCL_NVPTX_FLOAT_H

#define FLOATS(T, K, TYPE, I, BITS, SIGN)                                                                  \
  UNARY(fabs, T, T, K, K, "abs." TYPE)                                                                     \
  UNARY(sqrt, T, T, K, K, "sqrt.rn." TYPE)                                                                 \
  UNARY(floor, T, T, K, K, "cvt.rmi." TYPE "." TYPE)                                                       \
  UNARY(ceil, T, T, K, K, "cvt.rpi." TYPE "." TYPE)                                                        \
  UNARY(trunc, T, T, K, K, "cvt.rzi." TYPE "." TYPE)                                                       \
  UNARY(rint, T, T, K, K, "cvt.rni." TYPE "." TYPE)                                                        \
  BINARY(fmin, T, T, K, K, "min." TYPE)                                                                    \
  BINARY(fmax, T, T, K, K, "max." TYPE)                                                                    \
  TERNARY(fma, T, T, K, K, "fma.rn." TYPE)                                                                 \
  FN T copysign(T a, T b) {                                                                                \
    T r;                                                                                                   \
    __asm__("copysign." TYPE " %0, %1, %2;" : "=" K(r) : K(b), K(a));                                      \
    return r;                                                                                              \
  }                                                                                                        \
  FN T round(T a) {                                                                                        \
    const T whole = trunc(a);                                                                              \
    return copysign(fabs(a - whole) >= (T)0.5 ? whole + copysign((T)1, a) : whole, a);                     \
  }                                                                                                        \
  FN T clamp(T a, T low, T high) { return fmin(fmax(a, low), high); }                                      \
  FN T step(T edge, T a) { return a < edge ? (T)0 : (T)1; }                                                \
  FN T sign(T a) { return a > 0 ? (T)1 : a < 0 ? (T)-1 : a != a ? (T)0 : a; }                              \
  FN int signbit(T a) { return as_##I(a) < 0; }                                                            \
  FN int isequal(T a, T b) { return a == b; }                                                              \
  FN int isnotequal(T a, T b) { return a != b; }                                                           \
  FN int isgreater(T a, T b) { return a > b; }                                                             \
  FN int isgreaterequal(T a, T b) { return a >= b; }                                                       \
  FN int isless(T a, T b) { return a < b; }                                                                \
  FN int islessequal(T a, T b) { return a <= b; }                                                          \
  FN int islessgreater(T a, T b) { return PREDICATE("setp.ne." TYPE, K, a, b); }                           \
  FN int isordered(T a, T b) { return PREDICATE("setp.num." TYPE, K, a, b); }                              \
  FN int isunordered(T a, T b) { return PREDICATE("setp.nan." TYPE, K, a, b); }                            \
  FN int isnan(T a) { return TEST("testp.notanumber." TYPE, K, a); }                                       \
  FN int isinf(T a) { return TEST("testp.infinite." TYPE, K, a); }                                         \
  FN int isfinite(T a) { return TEST("testp.finite." TYPE, K, a); }                                        \
  FN int isnormal(T a) { return a != 0 && TEST("testp.normal." TYPE, K, a); } /* PTX counts 0 as normal */ \
  MAP1(fabs, T, T)                                                                                         \
  MAP1(sqrt, T, T)                                                                                         \
  MAP1(floor, T, T)                                                                                        \
  MAP1(ceil, T, T)                                                                                         \
  MAP1(trunc, T, T)                                                                                        \
  MAP1(rint, T, T)                                                                                         \
  MAP2(fmin, T, T, T)                                                                                      \
  MAP2(fmax, T, T, T)                                                                                      \
  MAP3(fma, T, T, T, T)
#define PREDICATE(INSTRUCTION, K, A, B)                                                      \
  ({                                                                                         \
    int r;                                                                                   \
    __asm__("{\n\t.reg .pred p;\n\t" INSTRUCTION " p, %1, %2;\n\tselp.s32 %0, 1, 0, p;\n\t}" \
            : "=r"(r)                                                                        \
            : K(A), K(B));                                                                   \
    r;                                                                                       \
  })
#define TEST(INSTRUCTION, K, A)                                                                             \
  ({                                                                                                        \
    int r;                                                                                                  \
    __asm__("{\n\t.reg .pred p;\n\t" INSTRUCTION " p, %1;\n\tselp.s32 %0, 1, 0, p;\n\t}" : "=r"(r) : K(A)); \
    r;                                                                                                      \
  })
FLOATS(float, "f", "f32", int, 32, 0x80000000)
FLOATS(double, "d", "f64", long, 64, 0x8000000000000000)

#define isless_vector(N) \
  FN int##N isless(float##N a, float##N b) { return a < b; }
isless_vector(2) isless_vector(3) isless_vector(4) isless_vector(8) isless_vector(16)

// ---- half: in memory only. A pointer to half is read as one to ushort.

#define VLOAD_HALF(S)                                                             \
  FN float vload_half(size_t offset, const S half* p) {                           \
    float r;                                                                      \
    __asm__("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(((const S ushort*)p)[offset])); \
    return r;                                                                     \
  }
#define VSTORE_HALF(S, NAME, T, K, INSTRUCTION)              \
  FN void vstore_half##NAME(T x, size_t offset, S half* p) { \
    ushort r;                                                \
    __asm__(INSTRUCTION " %0, %1;" : "=h"(r) : K(x));        \
    ((S ushort*)p)[offset] = r;                              \
  }
#define HALVES_IN(S)                                  \
  VLOAD_HALF(S)                                       \
  VSTORE_HALF(S, , float, "f", "cvt.rn.f16.f32")      \
  VSTORE_HALF(S, _rte, float, "f", "cvt.rn.f16.f32")  \
  VSTORE_HALF(S, _rtz, float, "f", "cvt.rz.f16.f32")  \
  VSTORE_HALF(S, _rtp, float, "f", "cvt.rp.f16.f32")  \
  VSTORE_HALF(S, _rtn, float, "f", "cvt.rm.f16.f32")  \
  VSTORE_HALF(S, , double, "d", "cvt.rn.f16.f64")     \
  VSTORE_HALF(S, _rte, double, "d", "cvt.rn.f16.f64") \
  VSTORE_HALF(S, _rtz, double, "d", "cvt.rz.f16.f64") \
  VSTORE_HALF(S, _rtp, double, "d", "cvt.rp.f16.f64") \
  VSTORE_HALF(S, _rtn, double, "d", "cvt.rm.f16.f64")
    HALVES_IN(__global) HALVES_IN(__local)
#define HALF_VECTORS(N)                                                       \
  FN float##N vload_half##N(size_t offset, const __global half* p) {          \
    float##N r;                                                               \
    for (int i = 0; i < N; ++i) r[i] = vload_half(offset * N + i, p);         \
    return r;                                                                 \
  }                                                                           \
  FN void vstore_half##N##_rte(float##N x, size_t offset, __global half* p) { \
    for (int i = 0; i < N; ++i) vstore_half_rte(x[i], offset* N + i, p);      \
  }
        HALF_VECTORS(2) HALF_VECTORS(3) HALF_VECTORS(4) HALF_VECTORS(8) HALF_VECTORS(16)

#endif  // PTXOPT_TESTS_EXEC_OPENCL_NVPTX_FLOAT_H
