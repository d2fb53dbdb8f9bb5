// C = A * B for square matrices whose size is a multiple of the tile, through shared memory.
constexpr int kTile = 16;

extern "C" __global__ void matmul(int n, const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c) {
  __shared__ float tileA[kTile][kTile], tileB[kTile][kTile];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * kTile + ty, column = blockIdx.x * kTile + tx;
  float sum = 0;
  for (int k = 0; k < n; k += kTile) {
    tileA[ty][tx] = a[row * n + k + tx];
    tileB[ty][tx] = b[(k + ty) * n + column];
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum += tileA[ty][i] * tileB[i][tx];
    __syncthreads();
  }
  c[row * n + column] = sum;
}
