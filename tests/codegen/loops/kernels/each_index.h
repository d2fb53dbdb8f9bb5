// Compiles the file that includes it once for each type of index:
//
//   #include "each_index.h"
//   #ifdef INDEX_TYPE
//   KERNEL(name)(parameters) { ... }  // becomes name_i32, name_u32, name_i64 and name_u64; Index is the type
//   #ifdef ONCE
//   ...                               // what does not depend on it: helpers, and kernels that are
//   PLAIN_KERNEL(name) #endif #endif
#ifndef INDEX_TYPE

#define PLAIN_KERNEL(NAME) extern "C" __global__ void NAME
#define KERNEL_OF(NAME, SUFFIX) extern "C" __global__ void NAME##_##SUFFIX
#define KERNEL_WITH(NAME, SUFFIX) KERNEL_OF(NAME, SUFFIX)
#define KERNEL(NAME) KERNEL_WITH(NAME, INDEX_SUFFIX)
#define Index INDEX_TYPE
#define GLOBAL_X (static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x)
#define GLOBAL_Y (static_cast<Index>(blockIdx.y) * blockDim.y + threadIdx.y)

#define ONCE
#define INDEX_TYPE int
#define INDEX_SUFFIX i32
#include __BASE_FILE__
#undef ONCE
#undef INDEX_TYPE
#undef INDEX_SUFFIX

#define INDEX_TYPE unsigned
#define INDEX_SUFFIX u32
#include __BASE_FILE__
#undef INDEX_TYPE
#undef INDEX_SUFFIX

#define INDEX_TYPE long long
#define INDEX_SUFFIX i64
#include __BASE_FILE__
#undef INDEX_TYPE
#undef INDEX_SUFFIX

#define INDEX_TYPE size_t
#define INDEX_SUFFIX u64
#include __BASE_FILE__
#undef INDEX_TYPE
#undef INDEX_SUFFIX

#endif
