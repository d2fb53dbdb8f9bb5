// C = alpha * A * B + beta * C, row by row, for any sizes: tiles in shared memory, two by two results a thread.
constexpr int kTile = 32, kDepth = 16;

extern "C" __global__ void gemm(int m, int n, int k, float alpha, const float* __restrict__ a,
                                const float* __restrict__ b, float beta, float* __restrict__ c) {
  __shared__ float tileA[kDepth][kTile + 1], tileB[kDepth][kTile];
  const int tx = threadIdx.x, ty = threadIdx.y;  // 16 x 16
  const int row = blockIdx.y * kTile, column = blockIdx.x * kTile, thread = ty * 16 + tx;
  float sum[2][2] = {};
  for (int begin = 0; begin < k; begin += kDepth) {
    for (int i = thread; i < kTile * kDepth; i += 256) {
      const int r = i / kDepth, d = i % kDepth;
      tileA[d][r] = row + r < m && begin + d < k ? a[(row + r) * k + begin + d] : 0.0f;
    }
    for (int i = thread; i < kTile * kDepth; i += 256) {
      const int d = i / kTile, s = i % kTile;
      tileB[d][s] = begin + d < k && column + s < n ? b[(begin + d) * n + column + s] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int d = 0; d < kDepth; ++d) {
      const float x[2] = {tileA[d][ty], tileA[d][ty + 16]}, y[2] = {tileB[d][tx], tileB[d][tx + 16]};
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) sum[i][j] = __fmaf_rn(x[i], y[j], sum[i][j]);
    }
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) {
      const int r = row + ty + i * 16, s = column + tx + j * 16;
      if (r < m && s < n) c[r * n + s] = __fmaf_rn(alpha, sum[i][j], __fmul_rn(beta, c[r * n + s]));
    }
}
