// Matrix products by a warp: of halves and of bytes; and the dot products of four bytes.
#include <cuda_fp16.h>
#include <mma.h>

#include <cmath>

#include "program.h"

using namespace nvcuda;

__global__ void halves(const __half* a, const __half* b, float* c, int n) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < n; k += 16) {
    wmma::load_matrix_sync(left, a + blockIdx.y * 16 * n + k, n);
    wmma::load_matrix_sync(right, b + blockIdx.x * 16 * n + k, n);
    wmma::mma_sync(sum, left, right, sum);
  }
  wmma::store_matrix_sync(c + blockIdx.y * 16 * n + blockIdx.x * 16, sum, n, wmma::mem_row_major);
}

__global__ void bytes(const signed char* a, const signed char* b, int* c) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, int> sum;
  wmma::fill_fragment(sum, 1);
  wmma::load_matrix_sync(left, a, 16);
  wmma::load_matrix_sync(right, b, 16);
  wmma::mma_sync(sum, left, right, sum);
  wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}

__global__ void dots(const int* a, const int* b, int* c) { c[threadIdx.x] = __dp4a(a[threadIdx.x], b[threadIdx.x], 100); }

int main() {
  const int n = 32;
  Numbers numbers;
  std::vector<__half> a(n * n), b(n * n);
  std::vector<float> x(n * n), y(n * n);
  for (int i = 0; i < n * n; ++i) {
    a[i] = __float2half(x[i] = (static_cast<int>(numbers.below(33)) - 16) / 8.0f);
    b[i] = __float2half(y[i] = (static_cast<int>(numbers.below(33)) - 16) / 8.0f);
  }
  float* const c = zeros<float>(n * n);
  halves<<<dim3(2, 2), 32>>>(onDevice(a), onDevice(b), c, n);
  LAUNCHED();
  const auto product = onHost(c, n * n);
  for (int i = 0; i < n * n; ++i) {
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += x[i / n * n + k] * y[i % n * n + k];
    EXPECT(std::fabs(product[i] - sum) < 1e-3f);
  }
  std::vector<signed char> p(256), q(256);
  for (signed char& v : p) v = static_cast<signed char>(numbers.below(256));
  for (signed char& v : q) v = static_cast<signed char>(numbers.below(256));
  int* const r = zeros<int>(256);
  signed char *left = onDevice(p), *right = onDevice(q);
  bytes<<<1, 32>>>(left, right, r);
  LAUNCHED();
  const auto results = onHost(r, 256);
  for (int i = 0; i < 256; ++i) {
    int sum = 1;
    for (int k = 0; k < 16; ++k) sum += p[i / 16 * 16 + k] * q[i % 16 * 16 + k];
    EXPECT(results[i] == sum);
  }
  dots<<<1, 64>>>(reinterpret_cast<int*>(left), reinterpret_cast<int*>(right), r);
  LAUNCHED();
  const auto d = onHost(r, 64);
  for (int i = 0; i < 64; ++i) {
    int sum = 100;
    for (int k = 0; k < 4; ++k) sum += p[4 * i + k] * q[4 * i + k];
    EXPECT(d[i] == sum);
  }
  return passed();
}
