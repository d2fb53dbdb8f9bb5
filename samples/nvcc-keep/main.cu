// Smooths a step, and checks the result against the same sums on the CPU.
#include <cmath>
#include <cstdio>
#include <vector>

#include "smooth.h"

int main() {
  const int count = 5000, radius = 7;
  std::vector<float> in(count), out(count);
  for (int i = 0; i < count; ++i) in[i] = i < count / 2 ? 1.0f : 3.0f + 0.001f * i;

  float *from = nullptr, *to = nullptr;
  cudaMalloc(&from, count * sizeof(float));
  cudaMalloc(&to, count * sizeof(float));
  cudaMemcpy(from, in.data(), count * sizeof(float), cudaMemcpyHostToDevice);
  smooth<<<8, 128>>>(from, to, count, radius);
  cudaMemcpy(out.data(), to, count * sizeof(float), cudaMemcpyDeviceToHost);
  if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) {
    std::printf("CUDA: %s\n", cudaGetErrorString(error));
    return 1;
  }

  for (int i = 0; i < count; ++i) {
    double sum = 0, weights = 0;
    for (int d = -radius; d <= radius; ++d) {
      if (i + d < 0 || i + d >= count) continue;
      const double x = d / (radius + 1.0), w = 1 - x * x;
      sum += w * in[i + d];
      weights += w;
    }
    if (std::fabs(out[i] - sum / weights) > 1e-4) {
      std::printf("element %d is %f, not %f\n", i, out[i], sum / weights);
      return 1;
    }
  }
  std::printf("smoothed: %d elements are right\n", count);
  return 0;
}
