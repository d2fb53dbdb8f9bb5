// OpenCL's atomic functions for NVPTX: a part of nvptx.h, which says what it is for.
#ifndef PTXOPT_TESTS_EXEC_OPENCL_NVPTX_ATOMIC_H
#define PTXOPT_TESTS_EXEC_OPENCL_NVPTX_ATOMIC_H

#define ATOMIC(F, SPACE, NAME, T, K, OPERATION, TYPE)                                               \
  FN T F(volatile SPACE T* p, T x) {                                                                \
    T r;                                                                                            \
    ASM("atom." NAME "." OPERATION "." TYPE " %0, [%1], %2;" : "=" K(r) : "l"(p), K(x) : "memory"); \
    return r;                                                                                       \
  }
#define ATOMIC_CAS(F, SPACE, NAME, T, K, TYPE)                                                        \
  FN T F(volatile SPACE T* p, T old, T x) {                                                           \
    T r;                                                                                              \
    ASM("atom." NAME ".cas." TYPE " %0, [%1], %2, %3;" : "=" K(r) : "l"(p), K(old), K(x) : "memory"); \
    return r;                                                                                         \
  }
#define ATOMICS_32(SPACE, NAME, T, TYPE)                                          \
  ATOMIC(atomic_add, SPACE, NAME, T, "r", "add", TYPE)                            \
  ATOMIC(atomic_xchg, SPACE, NAME, T, "r", "exch", "b32")                         \
  ATOMIC(atomic_min, SPACE, NAME, T, "r", "min", TYPE)                            \
  ATOMIC(atomic_max, SPACE, NAME, T, "r", "max", TYPE)                            \
  ATOMIC(atomic_and, SPACE, NAME, T, "r", "and", "b32")                           \
  ATOMIC(atomic_or, SPACE, NAME, T, "r", "or", "b32")                             \
  ATOMIC(atomic_xor, SPACE, NAME, T, "r", "xor", "b32")                           \
  ATOMIC_CAS(atomic_cmpxchg, SPACE, NAME, T, "r", "b32")                          \
  FN T atomic_sub(volatile SPACE T* p, T x) { return atomic_add(p, (T)(0 - x)); } \
  FN T atomic_inc(volatile SPACE T* p) { return atomic_add(p, (T)1); }            \
  FN T atomic_dec(volatile SPACE T* p) { return atomic_sub(p, (T)1); }
ATOMICS_32(__global, "global", int, "s32")
ATOMICS_32(__global, "global", uint, "u32")
ATOMICS_32(__local, "shared", int, "s32")
ATOMICS_32(__local, "shared", uint, "u32")
ATOMIC(atomic_xchg, __global, "global", float, "f", "exch", "b32")

#define ATOMICS_64(SPACE, NAME, T, TYPE)                \
  ATOMIC(atom_add, SPACE, NAME, T, "l", "add", "u64")   \
  ATOMIC(atom_xchg, SPACE, NAME, T, "l", "exch", "b64") \
  ATOMIC(atom_min, SPACE, NAME, T, "l", "min", TYPE)    \
  ATOMIC(atom_max, SPACE, NAME, T, "l", "max", TYPE)    \
  ATOMIC(atom_and, SPACE, NAME, T, "l", "and", "b64")   \
  ATOMIC(atom_or, SPACE, NAME, T, "l", "or", "b64")     \
  ATOMIC(atom_xor, SPACE, NAME, T, "l", "xor", "b64")   \
  ATOMIC_CAS(atom_cmpxchg, SPACE, NAME, T, "l", "b64")
ATOMICS_64(__global, "global", long, "s64")
ATOMICS_64(__global, "global", ulong, "u64")
ATOMICS_64(__local, "shared", long, "s64")
ATOMICS_64(__local, "shared", ulong, "u64")

#endif  // PTXOPT_TESTS_EXEC_OPENCL_NVPTX_ATOMIC_H
