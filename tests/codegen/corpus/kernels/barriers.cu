// corpus: min=80 weight=medium
// cuda::barrier, cuda::pipeline, memcpy_async, cp.async and bulk copies (TMA).
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/ptx>
#include <cuda_pipeline.h>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
using Barrier = cuda::barrier<cuda::thread_scope_block>;
#pragma nv_diag_suppress static_var_with_dynamic_init

extern "C" __global__ void barrier(float *o, const float *in, int n) {
  __shared__ float s[1024];
  __shared__ Barrier b;
  if (threadIdx.x == 0) init(&b, blockDim.x);
  __syncthreads();
  for (int i = 0; i < n; ++i) {
    cuda::memcpy_async(s + threadIdx.x * 4, in + 4 * threadIdx.x + i * 1024, cuda::aligned_size_t<16>(16), b);
    auto token = b.arrive();
    b.wait(std::move(token));
    o[threadIdx.x] += s[1023 - threadIdx.x];
    b.arrive_and_wait();
  }
  if (threadIdx.x > 5) b.arrive_and_drop();
}
extern "C" __global__ void pipeline(float *o, const float *in, int n) {
  constexpr int stages = 3;
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
  __shared__ float s[stages][128];
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  for (int fetch = 0, at = 0; at < n; ++at) {
    for (; fetch < n && fetch < at + stages; ++fetch) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, s[fetch % stages], in + fetch * 128, sizeof(float) * 128, pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    o[threadIdx.x] += s[at % stages][threadIdx.x ^ 1];
    pipe.consumer_release();
  }
}
extern "C" __global__ void thread_pipeline(int4 *o, const int4 *in) {
  __shared__ int4 s[2][64];
  __pipeline_memcpy_async(&s[0][threadIdx.x], in + threadIdx.x, 16);
  __pipeline_commit();
  __pipeline_memcpy_async(&s[1][threadIdx.x], in + threadIdx.x + 64, 16, 8);
  __pipeline_commit();
  __pipeline_wait_prior(1);
  __syncthreads();
  o[threadIdx.x] = s[0][63 - threadIdx.x];
  __pipeline_wait_prior(0);
  __syncthreads();
  o[threadIdx.x + 64] = s[1][threadIdx.x ^ 3];
}
namespace ptx = cuda::ptx;
struct Map { alignas(64) int4 words[8]; };
extern "C" __global__ void tma(float *o, const __grid_constant__ Map map, float *p) {
#if __CUDA_ARCH__ >= 900
  __shared__ alignas(128) float tile[32][32];
  __shared__ alignas(8) uint64_t bar;
  if (threadIdx.x == 0) { ptx::mbarrier_init(&bar, 1); ptx::fence_proxy_async(ptx::space_shared); }
  __syncthreads();
  int at[2] = {int(blockIdx.x) * 32, int(blockIdx.y) * 32};
  if (threadIdx.x == 0) {
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, &map, at, &bar);
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile[16], p, 512, &bar);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, sizeof tile);
  }
  while (!ptx::mbarrier_try_wait_parity(&bar, 0)) {}
  tile[threadIdx.x][0] += 1;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &map, at, tile);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
  o[threadIdx.x] = tile[0][threadIdx.x];
#endif
}
