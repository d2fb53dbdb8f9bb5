// Softmax of each row, a block a row: one pass for the maximum and the sum together, joined by shuffles and shared
// memory.
struct Partial {
  float most, sum;  // of exp(x - most)
};

__device__ Partial joined(Partial a, Partial b) {
  const float most = fmaxf(a.most, b.most);
  if (most == -INFINITY) return {most, 0.0f};
  return {most, a.sum * __expf(a.most - most) + b.sum * __expf(b.most - most)};
}

__device__ Partial overWarp(Partial p) {
  for (int lane = 16; lane > 0; lane /= 2)
    p = joined(p, {__shfl_xor_sync(~0u, p.most, lane), __shfl_xor_sync(~0u, p.sum, lane)});
  return p;
}

extern "C" __global__ void softmax(int columns, const float* __restrict__ in, float* __restrict__ out) {
  __shared__ Partial warps[32];
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32, count = blockDim.x / 32;
  in += static_cast<long long>(blockIdx.x) * columns;
  out += static_cast<long long>(blockIdx.x) * columns;
  Partial p{-INFINITY, 0.0f};
  for (int i = thread; i < columns; i += blockDim.x) p = joined(p, {in[i], 1.0f});
  p = overWarp(p);
  if (lane == 0) warps[warp] = p;
  __syncthreads();
  p = overWarp(lane < count ? warps[lane] : Partial{-INFINITY, 0.0f});
  for (int i = thread; i < columns; i += blockDim.x) out[i] = __expf(in[i] - p.most) / p.sum;
}
