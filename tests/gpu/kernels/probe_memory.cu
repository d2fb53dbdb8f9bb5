// The latency of memory: a list in one cycle, its nodes `stride` words apart, through more than the caches hold or through L2.
extern "C" __global__ void chase_make(unsigned long long* data, unsigned n, unsigned stride) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    data[static_cast<unsigned long long>(i) * stride] =
        reinterpret_cast<unsigned long long>(data + static_cast<unsigned long long>((i * 1664525u + 1013904223u) & (n - 1)) * stride);
}

extern "C" __global__ void chase(unsigned long long* out, const unsigned long long* data, unsigned steps) {
  const long long start = clock64();
  for (unsigned i = 0; i < steps; ++i) data = reinterpret_cast<const unsigned long long*>(__ldcg(data));
  out[1] = reinterpret_cast<unsigned long long>(data);
  out[0] = clock64() - start;
}

// The bytes that SMs read: all blocks together read `n` times 16 bytes, `passes` times; each says how many cycles it took.
extern "C" __global__ void memory_read(unsigned long long* out, const uint4* data, unsigned n, unsigned passes) {
  unsigned sum = 0;
  __syncthreads();
  const long long start = clock64();
  for (unsigned pass = 0; pass < passes; ++pass) {
#pragma unroll 8
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
      const uint4 read = __ldcg(data + i);
      sum += read.x ^ read.y ^ read.z ^ read.w;
    }
  }
  __syncthreads();
  const long long end = clock64();
  if (threadIdx.x == 0) out[blockIdx.x] = end - start;
  if (sum == 0x12345679) out[gridDim.x] = sum;  // so that the loads stay
}
