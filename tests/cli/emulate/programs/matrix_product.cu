// Dense matrix products: tiles whose size is a template's, and one with more shared memory than 48 KiB.
#include <cmath>

#include "program.h"

template <int kTile>
__global__ void product(const float* a, const float* b, float* c, int n) {
  __shared__ float left[kTile][kTile], right[kTile][kTile + 1];
  const int row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k += kTile) {
    left[threadIdx.y][threadIdx.x] = row < n && k + threadIdx.x < n ? a[row * n + k + threadIdx.x] : 0;
    right[threadIdx.y][threadIdx.x] = column < n && k + threadIdx.y < n ? b[(k + threadIdx.y) * n + column] : 0;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kTile; ++i) sum += left[threadIdx.y][i] * right[i][threadIdx.x];
    __syncthreads();
  }
  if (row < n && column < n) c[row * n + column] = sum;
}

// All of b in shared memory.
__global__ void productInShared(const float* a, const float* b, float* c, int n) {
  extern __shared__ float whole[];
  for (int i = threadIdx.x; i < n * n; i += blockDim.x) whole[i] = b[i];
  __syncthreads();
  const int row = blockIdx.x;
  for (int column = threadIdx.x; column < n; column += blockDim.x) {
    float sum = 0;
    for (int k = 0; k < n; ++k) sum = fmaf(a[row * n + k], whole[k * n + column], sum);
    c[row * n + column] = sum;
  }
}

void checkProduct(const std::vector<float>& a, const std::vector<float>& b, const float* device, int n, int rows) {
  const auto c = onHost(device, n * n);
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < n; ++column) {
      double sum = 0;
      for (int k = 0; k < n; ++k) sum += static_cast<double>(a[row * n + k]) * b[k * n + column];
      EXPECT(std::fabs(sum - c[row * n + column]) < 1e-4);
    }
}

int main() {
  Numbers numbers;
  const int n = 50, large = 120, rows = 4;
  std::vector<float> a(large * large), b(large * large);
  for (float& x : a) x = numbers.unit() - 0.5f;
  for (float& x : b) x = numbers.unit() - 0.5f;
  float *left = onDevice(a), *right = onDevice(b), *c = zeros<float>(large * large);
  cudaEvent_t before, after;
  CUDA(cudaEventCreate(&before));
  CUDA(cudaEventCreate(&after));
  CUDA(cudaEventRecord(before));
  product<16><<<dim3(4, 4), dim3(16, 16)>>>(left, right, c, n);
  CUDA(cudaEventRecord(after));
  CUDA(cudaEventSynchronize(after));
  float milliseconds = -1;
  CUDA(cudaEventElapsedTime(&milliseconds, before, after));
  EXPECT(milliseconds >= 0);
  checkProduct(a, b, c, n, n);
  product<8><<<dim3(7, 7), dim3(8, 8)>>>(left, right, c, n);
  checkProduct(a, b, c, n, n);

  const int bytes = large * large * static_cast<int>(sizeof(float));
  EXPECT(bytes > 48 << 10);
  productInShared<<<rows, large, bytes>>>(left, right, c, large);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
  CUDA(cudaFuncSetAttribute(productInShared, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  productInShared<<<rows, large, bytes>>>(left, right, c, large);
  LAUNCHED();
  checkProduct(a, b, c, large, rows);
  return passed();
}
