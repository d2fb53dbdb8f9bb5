// Bitonic sort of a power of two of keys: short distances in shared memory, long ones by a launch each.
constexpr unsigned kBlock = 512;  // keys of a block, by half as many threads

__device__ void ordered(unsigned& low, unsigned& high, bool up) {
  if ((low > high) == up) {
    const unsigned t = low;
    low = high;
    high = t;
  }
}

__device__ void merge(unsigned* tile, unsigned size, unsigned first) {
  for (unsigned step = min(size, kBlock) / 2; step > 0; step /= 2) {
    __syncthreads();
    const unsigned t = threadIdx.x, low = 2 * t - (t & (step - 1));
    ordered(tile[low], tile[low + step], ((first + low) & size) == 0);
  }
}

extern "C" __global__ void sort_blocks(unsigned* keys) {
  __shared__ unsigned tile[kBlock];
  const unsigned first = blockIdx.x * kBlock, t = threadIdx.x;
  tile[t] = keys[first + t];
  tile[t + kBlock / 2] = keys[first + t + kBlock / 2];
  for (unsigned size = 2; size <= kBlock; size *= 2) merge(tile, size, first);
  __syncthreads();
  keys[first + t] = tile[t];
  keys[first + t + kBlock / 2] = tile[t + kBlock / 2];
}

extern "C" __global__ void merge_far(unsigned* keys, unsigned size, unsigned step) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x, low = 2 * t - (t & (step - 1));
  ordered(keys[low], keys[low + step], (low & size) == 0);
}

extern "C" __global__ void merge_near(unsigned* keys, unsigned size) {
  __shared__ unsigned tile[kBlock];
  const unsigned first = blockIdx.x * kBlock, t = threadIdx.x;
  tile[t] = keys[first + t];
  tile[t + kBlock / 2] = keys[first + t + kBlock / 2];
  merge(tile, size, first);
  __syncthreads();
  keys[first + t] = tile[t];
  keys[first + t + kBlock / 2] = tile[t + kBlock / 2];
}
