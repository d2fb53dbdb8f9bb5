// corpus: min=90
// Clusters, distributed shared memory, elect, setmaxnreg, griddepcontrol, stmatrix, redux.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(2, 2, 1) fixed_cluster(int *o) {
  __shared__ int s[32];
  auto c = cg::this_cluster();
  s[threadIdx.x & 31] = c.block_rank();
  c.sync();
  int *other = c.map_shared_rank(s, c.block_rank() ^ 1);
  atomicAdd(other + 3, threadIdx.x);
  c.barrier_arrive(); c.barrier_wait();
  o[threadIdx.x] = other[threadIdx.x & 31] + c.num_blocks() + c.dim_blocks().y + c.query_shared_rank(other);
}
extern "C" __global__ void __launch_bounds__(256, 2, 8) bounded(int *o) { o[threadIdx.x] = clock(); }
extern "C" __global__ void any_cluster(int *o, uint4 *m) {
  __shared__ __align__(16) int s[128];
  int r, p;
  asm volatile("{\n .reg .pred q;\n elect.sync %0|q, 0xffffffff;\n selp.b32 %1, 1, 0, q;\n}" : "=r"(r), "=r"(p));
  if (p) o[0] = r;
  asm volatile("griddepcontrol.wait; griddepcontrol.launch_dependents;" ::: "memory");
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"((unsigned)__cvta_generic_to_shared(s + threadIdx.x * 4)), "r"(m->x), "r"(m->y), "r"(m->z), "r"(m->w) : "memory");
  unsigned a; asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(a) : "r"((unsigned)__cvta_generic_to_shared(s)), "r"(1));
  asm volatile("ld.shared::cluster.u32 %0, [%1+4];" : "=r"(r) : "r"(a)); o[1] = r;
  asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
  o[2] = __reduce_add_sync(~0u, threadIdx.x) + __reduce_max_sync(~0u, r);
  asm volatile("fence.acq_rel.cluster; fence.proxy.async; fence.mbarrier_init.release.cluster;" ::: "memory");
}
