// OpenCL C 1.2's built-in functions for clang's NVPTX target, as far as the kernels of this folder use them.
//
// clang has no library for OpenCL on NVPTX, so this header is given with -include when a kernel is compiled to PTX.
// Where PTX has an instruction for a function, the function is that instruction in inline assembly: the same source
// run by PoCL, with PoCL's own library, then checks the instruction. PoCL never sees this header. Declined: images,
// events, pipes, printf, and mathematical functions that are not exactly rounded.
#ifndef PTXOPT_TESTS_EXEC_OPENCL_NVPTX_H
#define PTXOPT_TESTS_EXEC_OPENCL_NVPTX_H

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef unsigned long size_t;
typedef long ptrdiff_t;

#define VECTORS(T)                                    \
  typedef T T##2 __attribute__((ext_vector_type(2))); \
  typedef T T##3 __attribute__((ext_vector_type(3))); \
  typedef T T##4 __attribute__((ext_vector_type(4))); \
  typedef T T##8 __attribute__((ext_vector_type(8))); \
  typedef T T##16 __attribute__((ext_vector_type(16)));
VECTORS(char)
VECTORS(uchar)
VECTORS(short)
VECTORS(ushort)
VECTORS(int)
VECTORS(uint)
VECTORS(long)
VECTORS(ulong)
VECTORS(float)
VECTORS(double)

#define CHAR_BIT 8
#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#define UINT_MAX 0xffffffffu
#define LONG_MAX 0x7fffffffffffffffl
#define LONG_MIN (-LONG_MAX - 1)
#define ULONG_MAX 0xfffffffffffffffful
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")

#define FN static inline __attribute__((overloadable))
// For vectors: inlined, as clang 19 passes 8-bit vectors by accesses wider than their parameters.
#define VECTOR_FN FN __attribute__((always_inline))
#define ASM __asm__ __volatile__

// ---- Work items and barriers

#define CLK_LOCAL_MEM_FENCE 1
#define CLK_GLOBAL_MEM_FENCE 2
typedef uint cl_mem_fence_flags;

FN uint get_work_dim(void) { return 3; }
FN size_t get_local_id(uint d) {
  return d == 0   ? __nvvm_read_ptx_sreg_tid_x()
         : d == 1 ? __nvvm_read_ptx_sreg_tid_y()
         : d == 2 ? __nvvm_read_ptx_sreg_tid_z()
                  : 0;
}
FN size_t get_local_size(uint d) {
  return d == 0   ? __nvvm_read_ptx_sreg_ntid_x()
         : d == 1 ? __nvvm_read_ptx_sreg_ntid_y()
         : d == 2 ? __nvvm_read_ptx_sreg_ntid_z()
                  : 1;
}
FN size_t get_group_id(uint d) {
  return d == 0   ? __nvvm_read_ptx_sreg_ctaid_x()
         : d == 1 ? __nvvm_read_ptx_sreg_ctaid_y()
         : d == 2 ? __nvvm_read_ptx_sreg_ctaid_z()
                  : 0;
}
FN size_t get_num_groups(uint d) {
  return d == 0   ? __nvvm_read_ptx_sreg_nctaid_x()
         : d == 1 ? __nvvm_read_ptx_sreg_nctaid_y()
         : d == 2 ? __nvvm_read_ptx_sreg_nctaid_z()
                  : 1;
}
FN size_t get_global_id(uint d) { return get_group_id(d) * get_local_size(d) + get_local_id(d); }
FN size_t get_global_size(uint d) { return get_num_groups(d) * get_local_size(d); }
FN size_t get_global_offset(uint d) { return 0; }
FN void barrier(cl_mem_fence_flags flags) { __syncthreads(); }
FN void mem_fence(cl_mem_fence_flags flags) { __nvvm_membar_gl(); }

// ---- Bits as another type

#define as_char(x) __builtin_astype((x), char)
#define as_uchar(x) __builtin_astype((x), uchar)
#define as_short(x) __builtin_astype((x), short)
#define as_ushort(x) __builtin_astype((x), ushort)
#define as_int(x) __builtin_astype((x), int)
#define as_uint(x) __builtin_astype((x), uint)
#define as_long(x) __builtin_astype((x), long)
#define as_ulong(x) __builtin_astype((x), ulong)
#define as_float(x) __builtin_astype((x), float)
#define as_double(x) __builtin_astype((x), double)
#define as_char4(x) __builtin_astype((x), char4)
#define as_uchar4(x) __builtin_astype((x), uchar4)
#define as_uchar8(x) __builtin_astype((x), uchar8)
#define as_short2(x) __builtin_astype((x), short2)
#define as_ushort2(x) __builtin_astype((x), ushort2)
#define as_ushort4(x) __builtin_astype((x), ushort4)
#define as_int2(x) __builtin_astype((x), int2)
#define as_int4(x) __builtin_astype((x), int4)
#define as_uint2(x) __builtin_astype((x), uint2)
#define as_uint4(x) __builtin_astype((x), uint4)
#define as_float4(x) __builtin_astype((x), float4)
#define as_ulong2(x) __builtin_astype((x), ulong2)

// ---- A scalar function over vectors: a half of them at a time

#define MAP1(F, R, A)                                                 \
  VECTOR_FN R##2 F(A##2 a) { return (R##2)(F(a.x), F(a.y)); }         \
  VECTOR_FN R##3 F(A##3 a) { return (R##3)(F(a.x), F(a.y), F(a.z)); } \
  VECTOR_FN R##4 F(A##4 a) { return (R##4)(F(a.lo), F(a.hi)); }       \
  VECTOR_FN R##8 F(A##8 a) { return (R##8)(F(a.lo), F(a.hi)); }       \
  VECTOR_FN R##16 F(A##16 a) { return (R##16)(F(a.lo), F(a.hi)); }
#define MAP2(F, R, A, B)                                                                     \
  VECTOR_FN R##2 F(A##2 a, B##2 b) { return (R##2)(F(a.x, b.x), F(a.y, b.y)); }              \
  VECTOR_FN R##3 F(A##3 a, B##3 b) { return (R##3)(F(a.x, b.x), F(a.y, b.y), F(a.z, b.z)); } \
  VECTOR_FN R##4 F(A##4 a, B##4 b) { return (R##4)(F(a.lo, b.lo), F(a.hi, b.hi)); }          \
  VECTOR_FN R##8 F(A##8 a, B##8 b) { return (R##8)(F(a.lo, b.lo), F(a.hi, b.hi)); }          \
  VECTOR_FN R##16 F(A##16 a, B##16 b) { return (R##16)(F(a.lo, b.lo), F(a.hi, b.hi)); }
#define MAP3(F, R, A, B, C)                                                                             \
  VECTOR_FN R##2 F(A##2 a, B##2 b, C##2 c) { return (R##2)(F(a.x, b.x, c.x), F(a.y, b.y, c.y)); }       \
  VECTOR_FN R##3 F(A##3 a, B##3 b, C##3 c) {                                                            \
    return (R##3)(F(a.x, b.x, c.x), F(a.y, b.y, c.y), F(a.z, b.z, c.z));                                \
  }                                                                                                     \
  VECTOR_FN R##4 F(A##4 a, B##4 b, C##4 c) { return (R##4)(F(a.lo, b.lo, c.lo), F(a.hi, b.hi, c.hi)); } \
  VECTOR_FN R##8 F(A##8 a, B##8 b, C##8 c) { return (R##8)(F(a.lo, b.lo, c.lo), F(a.hi, b.hi, c.hi)); } \
  VECTOR_FN R##16 F(A##16 a, B##16 b, C##16 c) { return (R##16)(F(a.lo, b.lo, c.lo), F(a.hi, b.hi, c.hi)); }

// ---- Vector loads and stores: element by element, as the address is aligned for an element only

#define LOAD_STORE_N(T, S, N)                             \
  VECTOR_FN T##N vload##N(size_t offset, const S T* p) {  \
    T##N r;                                               \
    for (int i = 0; i < N; ++i) r[i] = p[offset * N + i]; \
    return r;                                             \
  }
#define STORE_N(T, S, N)                                    \
  VECTOR_FN void vstore##N(T##N x, size_t offset, S T* p) { \
    for (int i = 0; i < N; ++i) p[offset * N + i] = x[i];   \
  }
#define LOADS(T, S) \
  LOAD_STORE_N(T, S, 2) LOAD_STORE_N(T, S, 3) LOAD_STORE_N(T, S, 4) LOAD_STORE_N(T, S, 8) LOAD_STORE_N(T, S, 16)
#define STORES(T, S) STORE_N(T, S, 2) STORE_N(T, S, 3) STORE_N(T, S, 4) STORE_N(T, S, 8) STORE_N(T, S, 16)
#define LOAD_STORE(T) \
  LOADS(T, __global)  \
  STORES(T, __global) LOADS(T, __local) STORES(T, __local) LOADS(T, __private) STORES(T, __private)
LOAD_STORE(char)
LOAD_STORE(uchar)
LOAD_STORE(short)
LOAD_STORE(ushort)
LOAD_STORE(int)
LOAD_STORE(uint)
LOAD_STORE(long)
LOAD_STORE(ulong)
LOAD_STORE(float)
LOAD_STORE(double)

#include "nvptx_atomic.h"
#include "nvptx_integer.h"
// Uses the two before.
#include "nvptx_float.h"
// Uses all of them.
#include "nvptx_convert.h"

#endif  // PTXOPT_TESTS_EXEC_OPENCL_NVPTX_H
