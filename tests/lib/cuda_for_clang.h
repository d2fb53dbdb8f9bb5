// What samples/kernels and tests/codegen/loops/kernels need of CUDA, so that clang compiles them without its headers.
#pragma once
#include "../codegen/corpus/kernels/clang/builtins.h"

struct alignas(8) float2 {
  float x, y;
};
struct alignas(4) uchar4 {
  unsigned char x, y, z, w;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(16) int4 {
  int x, y, z, w;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
__device__ inline float2 make_float2(float x, float y) { return {x, y}; }
__device__ inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

#define INFINITY __builtin_inff()

// threadIdx.x and the like: a member of an empty object that reads a special register.
#define PTXOPT_MEMBER(NAME, C, BUILTIN)           \
  __declspec(property(get = get_##C)) unsigned C; \
  __device__ static inline unsigned get_##C() { return BUILTIN##C(); }
#define PTXOPT_SPECIAL(NAME, BUILTIN) \
  struct NAME##_t {                   \
    PTXOPT_MEMBER(NAME, x, BUILTIN)   \
    PTXOPT_MEMBER(NAME, y, BUILTIN)   \
    PTXOPT_MEMBER(NAME, z, BUILTIN)   \
  };                                  \
  extern const __device__ NAME##_t NAME;
PTXOPT_SPECIAL(threadIdx, __nvvm_read_ptx_sreg_tid_)
PTXOPT_SPECIAL(blockIdx, __nvvm_read_ptx_sreg_ctaid_)
PTXOPT_SPECIAL(blockDim, __nvvm_read_ptx_sreg_ntid_)
PTXOPT_SPECIAL(gridDim, __nvvm_read_ptx_sreg_nctaid_)

__device__ inline int min(int a, int b) { return a < b ? a : b; }
__device__ inline int max(int a, int b) { return a > b ? a : b; }
__device__ inline unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
__device__ inline unsigned max(unsigned a, unsigned b) { return a > b ? a : b; }
__device__ inline float fminf(float a, float b) { return __nvvm_fmin_f(a, b); }
__device__ inline float fmaxf(float a, float b) { return __nvvm_fmax_f(a, b); }
__device__ inline float fmaf(float a, float b, float c) { return __nvvm_fma_rn_f(a, b, c); }
__device__ inline float sqrtf(float x) { return __nvvm_sqrt_rn_f(x); }
__device__ inline float rsqrtf(float x) { return __nvvm_rsqrt_approx_f(x); }
__device__ inline int __popc(unsigned x) { return __builtin_popcount(x); }
__device__ inline float __expf(float x) { return __nvvm_ex2_approx_f(x * 1.44269504f); }
__device__ inline float __fadd_rn(float a, float b) { return __nvvm_add_rn_f(a, b); }
__device__ inline float __fsub_rn(float a, float b) { return __nvvm_add_rn_f(a, -b); }
__device__ inline float __fmul_rn(float a, float b) { return __nvvm_mul_rn_f(a, b); }
__device__ inline float __fmaf_rn(float a, float b, float c) { return __nvvm_fma_rn_f(a, b, c); }
__device__ inline double __dadd_rn(double a, double b) { return __nvvm_add_rn_d(a, b); }
__device__ inline double __dmul_rn(double a, double b) { return __nvvm_mul_rn_d(a, b); }
__device__ inline unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
__device__ inline unsigned __byte_perm(unsigned a, unsigned b, unsigned s) { return __nvvm_prmt(a, b, s); }
__device__ inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned n) {
  return static_cast<unsigned>(((static_cast<unsigned long>(high) << 32) | low) >> (n & 31));
}
template <class T, class U>
__device__ inline T atomicAdd(T* p, U x) {
  return __atomic_fetch_add(p, static_cast<T>(x), __ATOMIC_RELAXED);
}
#define PTXOPT_SHUFFLE(NAME, BUILTIN, CLAMP)                                                                    \
  __device__ inline int NAME(unsigned mask, int x, int n, int = 32) { return BUILTIN##i32(mask, x, n, CLAMP); } \
  __device__ inline unsigned NAME(unsigned mask, unsigned x, int n, int = 32) {                                 \
    return static_cast<unsigned>(BUILTIN##i32(mask, static_cast<int>(x), n, CLAMP));                            \
  }                                                                                                             \
  __device__ inline float NAME(unsigned mask, float x, int n, int = 32) {                                       \
    return BUILTIN##f32(mask, x, n, CLAMP);                                                                     \
  }                                                                                                             \
  __device__ inline double NAME(unsigned mask, double x, int n, int = 32) {                                     \
    long bits = __builtin_bit_cast(long, x);                                                                    \
    const auto low = static_cast<unsigned>(BUILTIN##i32(mask, static_cast<int>(bits), n, CLAMP));               \
    const long high = BUILTIN##i32(mask, static_cast<int>(bits >> 32), n, CLAMP);                               \
    return __builtin_bit_cast(double, (high << 32) | low);                                                      \
  }
PTXOPT_SHUFFLE(__shfl_xor_sync, __nvvm_shfl_sync_bfly_, 31)
PTXOPT_SHUFFLE(__shfl_down_sync, __nvvm_shfl_sync_down_, 31)
PTXOPT_SHUFFLE(__shfl_up_sync, __nvvm_shfl_sync_up_, 0)
