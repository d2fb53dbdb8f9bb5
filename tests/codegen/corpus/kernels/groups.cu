// corpus: weight=medium
// Cooperative groups: tiles, reductions, scans, coalesced groups, asynchronous copies, grids.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

template <int N> __device__ int tile(int v) {
  auto t = cg::tiled_partition<N>(cg::this_thread_block());
  v += t.shfl_down(v, 1) + t.shfl_xor(v, 1) + t.any(v > 3) + t.ballot(v & 1) + t.match_any(v);
  t.sync();
  return cg::reduce(t, v, cg::plus<int>()) + cg::inclusive_scan(t, v) + cg::exclusive_scan(t, v, cg::greater<int>()) + t.thread_rank() + t.meta_group_rank();
}
extern "C" __global__ void tiles(int *o, float *f, double *d) {
  o[threadIdx.x] = tile<4>(o[threadIdx.x]) + tile<16>(o[threadIdx.x]) + tile<32>(1);
  auto w = cg::tiled_partition<32>(cg::this_thread_block());
  f[0] = cg::reduce(w, f[threadIdx.x], cg::less<float>());
  d[0] = cg::reduce(w, d[threadIdx.x], [](double a, double b) { return a * b; });
  unsigned u = cg::reduce(w, unsigned(o[1]), cg::bit_xor<unsigned>());
  if (threadIdx.x & u) { auto c = cg::coalesced_threads(); o[c.thread_rank()] = c.size() + cg::reduce(c, 1, cg::plus<int>()); c.sync(); }
  auto p = cg::labeled_partition(cg::coalesced_threads(), o[3] & 3);
  o[4] = p.num_threads(); auto b = cg::binary_partition(w, o[5] > 0); o[6] = b.size();
}
extern "C" __global__ void copies(int *o, const int *in, int n) {
  extern __shared__ int s[];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, s, in, n * sizeof(int));
  cg::wait(block);
  cg::memcpy_async(block, s + n, n, in + n, n);
  cg::wait_prior<1>(block);
  block.sync();
  o[block.thread_rank()] = s[n - block.thread_rank()] + block.group_index().x;
}
extern "C" __global__ void grid(int *o) { auto g = cg::this_grid(); o[g.thread_rank()] = 1; g.sync(); o[g.size() - g.thread_rank()] += 2; }
