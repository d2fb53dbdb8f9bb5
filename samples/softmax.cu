// Softmax of each row, a warp a row.
__device__ float warpMax(float x) {
  for (int lane = 16; lane > 0; lane /= 2) x = fmaxf(x, __shfl_xor_sync(~0u, x, lane));
  return x;
}

__device__ float warpSum(float x) {
  for (int lane = 16; lane > 0; lane /= 2) x += __shfl_xor_sync(~0u, x, lane);
  return x;
}

extern "C" __global__ void softmax(int rows, int columns, const float* __restrict__ in, float* __restrict__ out) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  in += static_cast<long long>(row) * columns;
  out += static_cast<long long>(row) * columns;
  float most = -INFINITY, sum = 0;
#pragma unroll 1
  for (int i = threadIdx.x; i < columns; i += 32) most = fmaxf(most, in[i]);
  most = warpMax(most);
#pragma unroll 1
  for (int i = threadIdx.x; i < columns; i += 32) sum += __expf(in[i] - most);
  sum = warpSum(sum);
#pragma unroll 1
  for (int i = threadIdx.x; i < columns; i += 32) out[i] = __expf(in[i] - most) / sum;
}
