// The latency of DRAM: a list in one cycle through more memory than the caches hold, its nodes `stride` words apart.
extern "C" __global__ void dram_make(unsigned long long* data, unsigned n, unsigned stride) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    data[static_cast<unsigned long long>(i) * stride] =
        reinterpret_cast<unsigned long long>(data + static_cast<unsigned long long>((i * 1664525u + 1013904223u) & (n - 1)) * stride);
}

extern "C" __global__ void dram_chase(unsigned long long* out, const unsigned long long* data, unsigned steps) {
  const long long start = clock64();
  for (unsigned i = 0; i < steps; ++i) data = reinterpret_cast<const unsigned long long*>(__ldcg(data));
  out[1] = reinterpret_cast<unsigned long long>(data);
  out[0] = clock64() - start;
}
