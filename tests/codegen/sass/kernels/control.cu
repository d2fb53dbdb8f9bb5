// Kernels whose machine code has every kind of control flow that ptxas makes; control.ptx is this file by nvcc 13.0
// (-arch=compute_75 -ptx). record.py has ptxas assemble it for each architecture.

constexpr int kWidth = 32, kTile = 16;

// A row of queries against tiles of keys and values: uniform loops around loops, barriers, the softmax on the way.
extern "C" __global__ void attention(const float* q, const float* k, const float* v, float* out, int length, float scale) {
  __shared__ float keys[kTile][kWidth], values[kTile][kWidth];
  const int lane = threadIdx.x, row = blockIdx.x * blockDim.y + threadIdx.y;
  const float mine = q[row * kWidth + lane] * scale;
  float most = -1e30f, sum = 0, result = 0;
  for (int first = 0; first < length; first += kTile) {
#pragma unroll 1
    for (int j = threadIdx.y; j < kTile; j += blockDim.y) {
      keys[j][lane] = k[(first + j) * kWidth + lane];
      values[j][lane] = v[(first + j) * kWidth + lane];
    }
    __syncthreads();
#pragma unroll 1
    for (int j = 0; j < kTile; ++j) {
      float score = mine * keys[j][lane];
      for (int step = 16; step > 0; step /= 2) score += __shfl_xor_sync(~0u, score, step);
      const float now = fmaxf(most, score), weight = __expf(score - now), keep = __expf(most - now);
      sum = sum * keep + weight;
      result = result * keep + weight * values[j][lane];
      most = now;
    }
    __syncthreads();
  }
  out[row * kWidth + lane] = result / sum;
}

extern "C" __global__ void product(const float* a, const float* b, float* c, int n) {
  const int row = blockIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
#pragma unroll 1
  for (int i = 0; i < n; ++i) sum += a[row * n + i] * b[i * n + column];
  c[row * n + column] = sum;
}

// A loop with a call of what is not inlined, which is left in the middle.
extern "C" __device__ __noinline__ int step(int x, int n) {
  for (int i = 0; i < n; ++i) x = x * 3 + (x >> i);
  return x;
}
extern "C" __global__ void machine(const int* program, int* out, int n) {
  int x = threadIdx.x, at = 0;
  while (at < n) {
    const int code = program[at++];
    if (code == 0) x = step(x, at);
    if (code == 1) x = x / (at + 1);
    if (code == 2) x -= __shfl_sync(__activemask(), x, 0);
    if (x == 12345) break;
  }
  out[threadIdx.x] = x;
}
