// For sm_90: blocks that read each other's shared memory; the size of the cluster in the kernel, and given with the launch.
#include <cooperative_groups.h>

#include "program.h"

namespace cg = cooperative_groups;

__device__ void ring(int* out) {
  __shared__ int mine[32];
  const cg::cluster_group cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank(), next = (rank + 1) % cluster.num_blocks();
  mine[threadIdx.x] = static_cast<int>(blockIdx.x * 100 + threadIdx.x);
  cluster.sync();
  out[blockIdx.x * 32 + threadIdx.x] = cluster.map_shared_rank(mine, next)[threadIdx.x];
  atomicAdd(cluster.map_shared_rank(mine, 0), 1);
  cluster.sync();
  if (rank == 0 && threadIdx.x == 0) out[blockIdx.x * 32] += 1000 * mine[0];
}
__global__ void __cluster_dims__(2, 1, 1) fixed(int* out) { ring(out); }
__global__ void given(int* out) { ring(out); }

void check(const int* device, int blocks, int size) {
  const auto out = onHost(device, blocks * 32);
  for (int i = 0; i < blocks * 32; ++i) {
    const int block = i / 32, first = block / size * size, next = first + (block - first + 1) % size;
    int expected = next * 100 + i % 32;
    if (i % 32 == 0 && block == first) expected += 1000 * (first * 100 + size * 32);
    EXPECT(out[i] == expected);
  }
}

int main() {
  int* const out = zeros<int>(8 * 32);
  fixed<<<8, 32>>>(out);
  LAUNCHED();
  check(out, 8, 2);
  cudaLaunchConfig_t launch{};
  launch.gridDim = dim3(8);
  launch.blockDim = dim3(32);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = 4;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  launch.attrs = &attribute;
  launch.numAttrs = 1;
  int clusters = 0;
  CUDA(cudaOccupancyMaxActiveClusters(&clusters, given, &launch));
  EXPECT(clusters > 0);
  CUDA(cudaLaunchKernelEx(&launch, given, out));
  check(out, 8, 4);
  launch.gridDim = dim3(6);
  EXPECT(cudaLaunchKernelEx(&launch, given, out) == cudaErrorInvalidClusterSize);
  cudaGetLastError();
  return passed();
}
