// Five kernels of linear algebra, written as one writes them first: sums stay in memory. Compared with the host.
//
//   linear [ROWS COLUMNS [BLOCK]]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

// y += A x
__global__ void multiply(const float* a, const float* x, float* y, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  for (int k = 0; k < columns; ++k) y[row] += a[row * columns + k] * x[k];
}

// z += A' y
__global__ void multiplyTransposed(const float* a, const float* y, float* z, int rows, int columns) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= columns) return;
  for (int k = 0; k < rows; ++k) z[column] += a[k * columns + column] * y[k];
}

// C = A' A, a row of C for each index of the grid
__global__ void square(const float* a, float* c, int rows, int columns) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
  if (j >= columns) return;
  c[i * columns + j] = 0;
  for (int k = 0; k < rows; ++k) c[i * columns + j] += a[k * columns + i] * a[k * columns + j];
}

// The sum of each group of columns, as they lie in memory.
__global__ void groupSums(const float* z, float* sums, int columns, int group) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < columns) atomicAdd(&sums[i / group], z[i]);
}

__global__ void scale(float* z, int columns, float by) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < columns) z[i] *= by;
}

static float* onDevice(const std::vector<float>& values) {
  float* memory = nullptr;
  cudaMalloc(&memory, values.size() * sizeof(float));
  cudaMemcpy(memory, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice);
  return memory;
}

static std::vector<float> onHost(const float* memory, std::size_t size) {
  std::vector<float> values(size);
  cudaMemcpy(values.data(), memory, size * sizeof(float), cudaMemcpyDeviceToHost);
  return values;
}

static bool isNear(double a, double b) { return std::fabs(a - b) <= 1e-3 * (1 + std::fabs(b)); }

int main(int argc, char** argv) {
  const int rows = argc > 2 ? std::atoi(argv[1]) : 96, columns = argc > 2 ? std::atoi(argv[2]) : 64;
  const int block = argc > 3 ? std::atoi(argv[3]) : 64, group = 16;
  std::vector<float> a(rows * columns), x(columns), y(rows), z(columns), c(columns * columns), sums(columns / group + 1);
  for (int i = 0; i < rows * columns; ++i) a[i] = static_cast<float>(i * 37 % 101) / 64 - 0.75f;
  for (int i = 0; i < columns; ++i) x[i] = static_cast<float>(i % 7) / 8;

  float *deviceA = onDevice(a), *deviceX = onDevice(x), *deviceY = onDevice(y), *deviceZ = onDevice(z), *deviceC = onDevice(c),
        *deviceSums = onDevice(sums);
  const auto blocks = [&](int threads) { return static_cast<unsigned>((threads + block - 1) / block); };
  multiply<<<blocks(rows), block>>>(deviceA, deviceX, deviceY, rows, columns);
  multiplyTransposed<<<blocks(columns), block>>>(deviceA, deviceY, deviceZ, rows, columns);
  square<<<dim3(blocks(columns), columns), block>>>(deviceA, deviceC, rows, columns);
  scale<<<blocks(columns), block>>>(deviceZ, columns, 0.5f);
  groupSums<<<blocks(columns), block>>>(deviceZ, deviceSums, columns, group);
  if (const cudaError_t error = cudaDeviceSynchronize(); error != cudaSuccess) {
    std::printf("%s\n", cudaGetErrorString(error));
    return 1;
  }

  const std::vector<float> foundC = onHost(deviceC, c.size()), foundSums = onHost(deviceSums, sums.size());
  std::vector<double> expectedY(rows), expectedSums(sums.size());
  bool isRight = true;
  for (int r = 0; r < rows; ++r)
    for (int k = 0; k < columns; ++k) expectedY[r] += a[r * columns + k] * x[k];
  for (int j = 0; j < columns; ++j) {
    double column = 0;
    for (int r = 0; r < rows; ++r) column += a[r * columns + j] * expectedY[r];
    expectedSums[j / group] += column / 2;
    for (int i = 0; i < columns; ++i) {
      double sum = 0;
      for (int r = 0; r < rows; ++r) sum += a[r * columns + i] * a[r * columns + j];
      isRight = isRight && isNear(foundC[i * columns + j], sum);
    }
  }
  for (std::size_t g = 0; g < sums.size(); ++g) isRight = isRight && isNear(foundSums[g], expectedSums[g]);
  std::printf(isRight ? "right\n" : "wrong\n");
  return isRight ? 0 : 1;
}
