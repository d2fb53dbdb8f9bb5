// Heat on a plate: pitched memory, copies of rectangles, coefficients in constant memory, tiles with a rim.
#include <algorithm>
#include <cmath>

#include "program.h"

constexpr int kTile = 16;
__constant__ float coefficients[3];

__global__ void step(const char* in, char* out, size_t pitch, int width, int height) {
  __shared__ float tile[kTile + 2][kTile + 2];
  const auto at = [&](int x, int y) {
    x = min(max(x, 0), width - 1), y = min(max(y, 0), height - 1);
    return reinterpret_cast<const float*>(in + y * pitch)[x];
  };
  const int x0 = blockIdx.x * kTile, y0 = blockIdx.y * kTile;
  for (int i = threadIdx.y * kTile + threadIdx.x; i < (kTile + 2) * (kTile + 2); i += kTile * kTile)
    tile[i / (kTile + 2)][i % (kTile + 2)] = at(x0 + i % (kTile + 2) - 1, y0 + i / (kTile + 2) - 1);
  __syncthreads();
  const int x = x0 + threadIdx.x, y = y0 + threadIdx.y, i = threadIdx.x + 1, j = threadIdx.y + 1;
  if (x >= width || y >= height) return;
  const float sides = tile[j][i - 1] + tile[j][i + 1] + tile[j - 1][i] + tile[j + 1][i];
  const float corners = tile[j - 1][i - 1] + tile[j - 1][i + 1] + tile[j + 1][i - 1] + tile[j + 1][i + 1];
  reinterpret_cast<float*>(out + y * pitch)[x] =
      coefficients[0] * tile[j][i] + coefficients[1] * sides + coefficients[2] * corners;
}

int main() {
  const int width = 75, height = 41, steps = 6;
  const float weights[3] = {0.5f, 0.1f, 0.025f};
  CUDA(cudaMemcpyToSymbol(coefficients, weights, sizeof weights));
  Numbers numbers;
  std::vector<float> plate(width * height), result(plate.size());
  for (float& t : plate) t = numbers.unit() * 100;
  void *a, *b;
  size_t pitch, samePitch;
  CUDA(cudaMallocPitch(&a, &pitch, width * sizeof(float), height));
  CUDA(cudaMallocPitch(&b, &samePitch, width * sizeof(float), height));
  EXPECT(pitch == samePitch && pitch >= width * sizeof(float));
  const size_t row = width * sizeof(float);
  CUDA(cudaMemset2D(b, pitch, 0, row, height));
  CUDA(cudaMemcpy2D(a, pitch, plate.data(), row, row, height, cudaMemcpyHostToDevice));
  const dim3 blocks((width + kTile - 1) / kTile, (height + kTile - 1) / kTile), threads(kTile, kTile);
  for (int s = 0; s < steps; ++s) {
    step<<<blocks, threads>>>(static_cast<char*>(a), static_cast<char*>(b), pitch, width, height);
    std::swap(a, b);
  }
  LAUNCHED();
  CUDA(cudaMemcpy2D(result.data(), row, a, pitch, row, height, cudaMemcpyDeviceToHost));
  for (int s = 0; s < steps; ++s) {
    std::vector<float> next(plate.size());
    const auto at = [&](int x, int y) {
      return plate[std::min(std::max(y, 0), height - 1) * width + std::min(std::max(x, 0), width - 1)];
    };
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        next[y * width + x] = weights[0] * at(x, y) +
                              weights[1] * (at(x - 1, y) + at(x + 1, y) + at(x, y - 1) + at(x, y + 1)) +
                              weights[2] * (at(x - 1, y - 1) + at(x + 1, y - 1) + at(x - 1, y + 1) + at(x + 1, y + 1));
    plate = next;
  }
  for (size_t i = 0; i < plate.size(); ++i) EXPECT(std::fabs(plate[i] - result[i]) < 1e-3f);
  CUDA(cudaFree(a));
  CUDA(cudaFree(b));
  return passed();
}
