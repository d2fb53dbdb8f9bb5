// Inclusive prefix sums in three launches: of each block, of the blocks' sums (one block), and each block's share
// added.
__device__ unsigned overWarp(unsigned x) {
  for (int step = 1; step < 32; step *= 2) {
    const unsigned before = __shfl_up_sync(~0u, x, step);
    if (threadIdx.x % 32 >= step) x += before;
  }
  return x;
}

// The inclusive sum at this thread of a block of whole warps. All threads take part.
__device__ unsigned overBlock(unsigned x) {
  __shared__ unsigned warps[32];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  x = overWarp(x);
  if (lane == 31) warps[warp] = x;
  __syncthreads();
  if (warp == 0) warps[lane] = overWarp(lane < blockDim.x / 32 ? warps[lane] : 0);
  __syncthreads();
  return warp == 0 ? x : x + warps[warp - 1];
}

extern "C" __global__ void scan_blocks(int n, const unsigned* __restrict__ in, unsigned* __restrict__ out,
                                       unsigned* __restrict__ sums) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned sum = overBlock(i < n ? in[i] : 0);
  if (i < n) out[i] = sum;
  if (threadIdx.x == blockDim.x - 1) sums[blockIdx.x] = sum;
}

extern "C" __global__ void scan_sums(int blocks, unsigned* __restrict__ sums) {
  const int i = threadIdx.x;
  const unsigned sum = overBlock(i < blocks ? sums[i] : 0);
  if (i < blocks) sums[i] = sum;
}

extern "C" __global__ void scan_add(int n, unsigned* __restrict__ out, const unsigned* __restrict__ sums) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && blockIdx.x > 0) out[i] += sums[blockIdx.x - 1];
}
