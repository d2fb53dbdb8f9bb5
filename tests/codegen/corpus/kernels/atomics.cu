// corpus: weight=medium
// Atomic operations of every kind, order and scope.
#include <cuda/atomic>
#include <cuda_fp16.h>
template <class T, cuda::thread_scope S> __device__ void reference(T *p, T v) {
  cuda::atomic_ref<T, S> a(*p);
  using namespace cuda::std;
  T old = a.load(memory_order_acquire);
  a.store(v, memory_order_release); a.store(v, memory_order_seq_cst);
  old += a.fetch_add(v, memory_order_relaxed); old += a.fetch_sub(v, memory_order_acq_rel); old += a.exchange(v, memory_order_acquire);
  T expected = old;
  while (!a.compare_exchange_weak(expected, expected + v, memory_order_seq_cst, memory_order_relaxed)) {}
  a.fetch_max(v, memory_order_release); a.fetch_min(old, memory_order_relaxed);
  cuda::atomic_thread_fence(memory_order_seq_cst, S); cuda::atomic_thread_fence(memory_order_acq_rel, S);
}
template <class T> __device__ void scopes(T *p, T v) {
  reference<T, cuda::thread_scope_block>(p, v); reference<T, cuda::thread_scope_device>(p, v); reference<T, cuda::thread_scope_system>(p, v);
}
extern "C" __global__ void references(int *i, unsigned long long *l, float *f) { scopes(i, 3); scopes(l, 5ull); scopes(f, 1.5f); }
__device__ cuda::atomic<int, cuda::thread_scope_device> global_atomic{3};
extern "C" __global__ void objects(int *o) {
  __shared__ cuda::atomic<int, cuda::thread_scope_block> s;
  if (threadIdx.x == 0) s.store(0);
  __syncthreads();
  s.fetch_or(1 << threadIdx.x); s.fetch_and(0xff); s.fetch_xor(o[0]);
  o[1] = s.load() + global_atomic++;
  while (global_atomic.load(cuda::memory_order_acquire) < 10) {}
}
extern "C" __global__ void builtins(int *i, unsigned *u, unsigned long long *l, float *f, double *d, short unsigned *h) {
  __shared__ int s[32];
  int t = threadIdx.x;
  i[0] = atomicAdd(i + 1, t) + atomicSub(i + 2, t) + atomicExch(i + 3, t) + atomicMin(i + 4, t) + atomicMax(i + 5, t) + atomicCAS(i + 6, t, 5);
  u[0] = atomicInc(u + 1, 9) + atomicDec(u + 2, 9) + atomicAnd(u + 3, 9) + atomicOr(u + 4, 9) + atomicXor(u + 5, 9);
  l[0] = atomicAdd(l + 1, 7ull) + atomicMax(l + 2, 7ull) + atomicCAS(l + 3, 1ull, 2ull) + atomicExch(l + 4, 3ull);
  f[0] = atomicAdd(f + 1, 1.0f); d[0] = atomicAdd(d + 1, 1.0); atomicAdd(f + 2, 2.0f); h[0] = atomicCAS(h + 1, (unsigned short)1, (unsigned short)2);
  i[1] = atomicAdd_block(i + 7, 1) + atomicAdd_system(i + 8, 1); atomicMax_system(i + 9, t);
  s[t] = 0; __syncthreads();
  atomicAdd(&s[t & 7], 1); i[10] = atomicCAS(&s[1], 0, t); atomicMin(&s[2], t);
  if (t > 3) atomicAdd(i + 11, 5);
  asm volatile("red.relaxed.gpu.global.add.u32 [%0], 1;" ::"l"(i + 12) : "memory");
  asm volatile("{ .reg .b32 t; atom.global.acq_rel.sys.or.b32 t, [%0+4], 0x10; }" ::"l"(i + 12) : "memory");
#if __CUDA_ARCH__ >= 900
  float4 v = atomicAdd((float4 *)f + 4, make_float4(1, 2, 3, 4)); f[8] = v.x;
  asm volatile("{ .reg .b128 a, b; mov.b128 a, {%1, %2}; atom.global.exch.b128 b, [%0], a; st.global.b128 [%0+16], b; }" ::"l"(l + 6), "l"(1ll), "l"(2ll) : "memory");
#endif
}
