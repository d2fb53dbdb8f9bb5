// Factors of a matrix and the solution of its equations in doubles, a transpose, and singular values by rotations.
#include <cmath>

#include "program.h"

constexpr int kSize = 24;

__global__ void cholesky(double* a) {
  __shared__ double column[kSize];
  const int t = threadIdx.x;
  for (int k = 0; k < kSize; ++k) {
    const double diagonal = sqrt(a[k * kSize + k]);
    __syncthreads();
    if (t >= k) column[t] = t == k ? diagonal : a[t * kSize + k] / diagonal, a[t * kSize + k] = column[t];
    __syncthreads();
    for (int j = k + 1; j <= t; ++j) a[t * kSize + j] -= column[t] * column[j];
    __syncthreads();
  }
}

__global__ void solve(const double* l, double* b) {
  const int t = threadIdx.x;
  for (int k = 0; k < kSize; ++k) {
    if (t == k) b[k] /= l[k * kSize + k];
    __syncthreads();
    if (t > k) b[t] -= l[t * kSize + k] * b[k];
    __syncthreads();
  }
  for (int k = kSize - 1; k >= 0; --k) {
    if (t == k) b[k] /= l[k * kSize + k];
    __syncthreads();
    if (t < k) b[t] -= l[k * kSize + t] * b[k];
    __syncthreads();
  }
}

__global__ void transpose(const float* in, float* out, int width, int height) {
  __shared__ float tile[16][17];
  int x = blockIdx.x * 16 + threadIdx.x;
  for (int j = 0; j < 16; j += 4)
    if (x < width && blockIdx.y * 16 + threadIdx.y + j < height)
      tile[threadIdx.y + j][threadIdx.x] = in[(blockIdx.y * 16 + threadIdx.y + j) * width + x];
  __syncthreads();
  x = blockIdx.y * 16 + threadIdx.x;
  for (int j = 0; j < 16; j += 4)
    if (x < height && blockIdx.x * 16 + threadIdx.y + j < width)
      out[(blockIdx.x * 16 + threadIdx.y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

// The eigenvalues of symmetric matrices of 3 x 3, a thread each.
__global__ void eigenvalues(const double* in, double* out) {
  double a[3][3];
  for (int i = 0; i < 9; ++i) a[i / 3][i % 3] = in[9 * threadIdx.x + i];
  for (int sweep = 0; sweep < 10; ++sweep)
    for (int p = 0; p < 2; ++p)
      for (int q = p + 1; q < 3; ++q) {
        if (fabs(a[p][q]) < 1e-14) continue;
        const double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
        const double t = copysign(1.0, theta) / (fabs(theta) + sqrt(theta * theta + 1)), c = rsqrt(t * t + 1), s = t * c;
        for (int k = 0; k < 3; ++k) {
          const double x = a[k][p], y = a[k][q];
          a[k][p] = c * x - s * y, a[k][q] = s * x + c * y;
        }
        for (int k = 0; k < 3; ++k) {
          const double x = a[p][k], y = a[q][k];
          a[p][k] = c * x - s * y, a[q][k] = s * x + c * y;
        }
      }
  for (int i = 0; i < 3; ++i) out[3 * threadIdx.x + i] = a[i][i];
}

int main() {
  Numbers numbers;
  std::vector<double> a(kSize * kSize), x(kSize), b(kSize);
  for (int i = 0; i < kSize; ++i)
    for (int j = 0; j <= i; ++j) a[i * kSize + j] = a[j * kSize + i] = i == j ? kSize : numbers.unit();
  for (double& v : x) v = numbers.unit() - 0.5;
  for (int i = 0; i < kSize; ++i)
    for (int j = 0; j < kSize; ++j) b[i] += a[i * kSize + j] * x[j];
  double *matrix = onDevice(a), *right = onDevice(b);
  cholesky<<<1, kSize>>>(matrix);
  solve<<<1, kSize>>>(matrix, right);
  LAUNCHED();
  const auto solution = onHost(right, kSize);
  for (int i = 0; i < kSize; ++i) EXPECT(std::fabs(solution[i] - x[i]) < 1e-10);

  std::vector<float> image(50 * 35);
  for (float& v : image) v = numbers.unit();
  float* const turned = zeros<float>(image.size());
  transpose<<<dim3(4, 3), dim3(16, 4)>>>(onDevice(image), turned, 50, 35);
  LAUNCHED();
  const auto t = onHost(turned, image.size());
  for (int i = 0; i < 50 * 35; ++i) EXPECT(t[i % 50 * 35 + i / 50] == image[i]);

  std::vector<double> small(32 * 9);
  for (int m = 0; m < 32; ++m)
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j <= i; ++j) small[9 * m + 3 * i + j] = small[9 * m + 3 * j + i] = numbers.unit() * 4 - 2;
  double* const values = zeros<double>(96);
  eigenvalues<<<1, 32>>>(onDevice(small), values);
  LAUNCHED();
  const auto e = onHost(values, 96);
  for (int m = 0; m < 32; ++m) {
    double trace = 0, squares = 0;
    for (int i = 0; i < 3; ++i) trace += small[9 * m + 4 * i];
    for (int i = 0; i < 9; ++i) squares += small[9 * m + i] * small[9 * m + i];
    EXPECT(std::fabs(e[3 * m] + e[3 * m + 1] + e[3 * m + 2] - trace) < 1e-9);
    EXPECT(std::fabs(e[3 * m] * e[3 * m] + e[3 * m + 1] * e[3 * m + 1] + e[3 * m + 2] * e[3 * m + 2] - squares) < 1e-9);
  }
  return passed();
}
