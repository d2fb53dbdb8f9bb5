// What the clang kernels need of CUDA, so that they compile without its headers.
#pragma once
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __noinline__ __attribute__((noinline))
typedef unsigned long size_t;
__device__ inline int tid() { return __nvvm_read_ptx_sreg_tid_x(); }
__device__ inline int ctaid() { return __nvvm_read_ptx_sreg_ctaid_x(); }
__device__ inline int ntid() { return __nvvm_read_ptx_sreg_ntid_x(); }
__device__ inline int index() { return ctaid() * ntid() + tid(); }
__device__ inline void barrier() { __syncthreads(); }
