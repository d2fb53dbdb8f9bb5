// Counts of bytes: each block counts in shared memory, four bytes a load, and adds its counts to all.
extern "C" __global__ void histogram(unsigned n, const unsigned char* __restrict__ in,
                                     unsigned* __restrict__ bins) {
  __shared__ unsigned mine[256];
  for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) mine[i] = 0;
  __syncthreads();
  const unsigned words = n / 4, first = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
  for (unsigned i = first; i < words; i += stride) {
    const uchar4 x = reinterpret_cast<const uchar4*>(in)[i];
    atomicAdd(&mine[x.x], 1);
    atomicAdd(&mine[x.y], 1);
    atomicAdd(&mine[x.z], 1);
    atomicAdd(&mine[x.w], 1);
  }
  if (first < n % 4) atomicAdd(&mine[in[words * 4 + first]], 1);
  __syncthreads();
  for (unsigned i = threadIdx.x; i < 256; i += blockDim.x)
    if (mine[i] != 0) atomicAdd(&bins[i], mine[i]);
}
