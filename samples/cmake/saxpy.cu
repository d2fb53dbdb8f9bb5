// y = a * x + y on the device and on the host, and whether both are equal.
#include <cstdio>
#include <vector>

__global__ void saxpy(int n, float a, const float* x, float* y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = a * x[i] + y[i];
}

int main() {
  const int n = 100000;
  std::vector<float> x(n), y(n);
  for (int i = 0; i < n; ++i) x[i] = float(i % 100), y[i] = 1.0f;
  float *xs = nullptr, *ys = nullptr;
  if (cudaMalloc(&xs, n * sizeof(float)) != cudaSuccess || cudaMalloc(&ys, n * sizeof(float)) != cudaSuccess) {
    std::puts("There is no GPU here: nothing was run.");
    return 0;
  }
  cudaMemcpy(xs, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(ys, y.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  saxpy<<<64, 256>>>(n, 2.0f, xs, ys);
  std::vector<float> result(n);
  const cudaError_t error = cudaMemcpy(result.data(), ys, n * sizeof(float), cudaMemcpyDeviceToHost);
  int wrong = error == cudaSuccess ? 0 : n;
  for (int i = 0; i < n; ++i) wrong += result[i] != 2.0f * x[i] + y[i];
  std::printf("%d of %d values are wrong\n", wrong, n);
  return wrong != 0;
}
