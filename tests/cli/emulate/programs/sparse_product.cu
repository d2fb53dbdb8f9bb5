// A sparse matrix and a vector: a thread a row, a warp a row, the vector through a texture; then conjugate gradients.
#include <cmath>

#include "program.h"

__global__ void threadPerRow(const int* first, const int* column, const float* value, const float* x, float* y, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int i = first[row]; i < first[row + 1]; ++i) sum += value[i] * __ldg(x + column[i]);
  y[row] = sum;
}

__global__ void warpPerRow(const int* first, const int* column, const float* value, cudaTextureObject_t x, float* y, int rows) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0;
  for (int i = first[row] + lane; i < first[row + 1]; i += 32) sum += value[i] * tex1Dfetch<float>(x, column[i]);
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (lane == 0) y[row] = sum;
}

__global__ void dot(const float* a, const float* b, int n, double* out) {
  double sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += static_cast<double>(a[i]) * b[i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}
__global__ void add(float* to, const float* a, const float* b, float factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = a[i] + factor * b[i];
}

constexpr int kRows = 300;
double* sum;

double dotOf(const float* a, const float* b) {
  CUDA(cudaMemset(sum, 0, sizeof *sum));
  dot<<<2, 64>>>(a, b, kRows, sum);
  return onHost(sum, 1)[0];
}

int main() {
  Numbers numbers;
  std::vector<int> first{0}, column;
  std::vector<float> value, b(kRows);
  for (int row = 0; row < kRows; ++row) {
    for (int c = 0; c < kRows; ++c) {
      const int apart = std::abs(row - c);
      if (apart != 0 && apart != 1 && apart != 17 && (row * c) % 61 != 5) continue;
      column.push_back(c);
      value.push_back(apart == 0 ? 20.0f : -1.0f);
    }
    first.push_back(static_cast<int>(column.size()));
    b[row] = numbers.unit();
  }
  CUDA(cudaMalloc(&sum, sizeof *sum));
  int *firsts = onDevice(first), *columns = onDevice(column);
  float *values = onDevice(value), *right = onDevice(b), *y = zeros<float>(kRows), *z = zeros<float>(kRows);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = right;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = kRows * sizeof(float);
  cudaTextureDesc how{};
  cudaTextureObject_t texture;
  CUDA(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  threadPerRow<<<(kRows + 127) / 128, 128>>>(firsts, columns, values, right, y, kRows);
  warpPerRow<<<(kRows + 3) / 4, 128>>>(firsts, columns, values, texture, z, kRows);
  LAUNCHED();
  const auto one = onHost(y, kRows), two = onHost(z, kRows);
  for (int row = 0; row < kRows; ++row) {
    double s = 0;
    for (int i = first[row]; i < first[row + 1]; ++i) s += static_cast<double>(value[i]) * b[column[i]];
    EXPECT(std::fabs(s - one[row]) < 1e-4 && std::fabs(s - two[row]) < 1e-4);
  }
  CUDA(cudaDestroyTextureObject(texture));

  float *x = zeros<float>(kRows), *r = onDevice(b), *p = onDevice(b);
  double rr = dotOf(r, r);
  for (int i = 0; i < 40 && rr > 1e-9; ++i) {
    threadPerRow<<<(kRows + 127) / 128, 128>>>(firsts, columns, values, p, y, kRows);
    const auto alpha = static_cast<float>(rr / dotOf(p, y));
    add<<<(kRows + 63) / 64, 64>>>(x, x, p, alpha, kRows);
    add<<<(kRows + 63) / 64, 64>>>(r, r, y, -alpha, kRows);
    const double next = dotOf(r, r);
    add<<<(kRows + 63) / 64, 64>>>(p, r, p, static_cast<float>(next / rr), kRows);
    rr = next;
  }
  threadPerRow<<<(kRows + 127) / 128, 128>>>(firsts, columns, values, x, y, kRows);
  const auto product = onHost(y, kRows);
  for (int row = 0; row < kRows; ++row) EXPECT(std::fabs(product[row] - b[row]) < 1e-3);
  return passed();
}
