// A fast Fourier transform in shared memory against the sums that define it, and back again.
#include <cmath>

#include "program.h"

constexpr int kSize = 256;

__global__ void fft(float2* data, float sign) {
  __shared__ float2 x[kSize];
  float2* const mine = data + blockIdx.x * kSize;
  const int t = threadIdx.x;
  for (int i = t; i < kSize; i += blockDim.x) x[__brev(i) >> 24] = mine[i];
  for (int half = 1; half < kSize; half *= 2) {
    __syncthreads();
    const int k = t & (half - 1), i = 2 * t - k;
    float s, c;
    sincospif(sign * static_cast<float>(k) / half, &s, &c);
    const float2 a = x[i], b = x[i + half];
    const float2 w = make_float2(c * b.x - s * b.y, c * b.y + s * b.x);
    x[i] = make_float2(a.x + w.x, a.y + w.y);
    x[i + half] = make_float2(a.x - w.x, a.y - w.y);
  }
  __syncthreads();
  for (int i = t; i < kSize; i += blockDim.x) mine[i] = x[i];
}

int main() {
  constexpr int kRows = 3;
  Numbers numbers;
  std::vector<float2> values(kRows * kSize);
  for (float2& v : values) v = make_float2(numbers.unit() - 0.5f, numbers.unit() - 0.5f);
  float2* const device = onDevice(values);
  fft<<<kRows, kSize / 2>>>(device, -1.0f);
  LAUNCHED();
  const auto result = onHost(device, values.size());
  for (int r = 0; r < kRows; ++r)
    for (int k = 0; k < kSize; k += 5) {
      double re = 0, im = 0;
      for (int i = 0; i < kSize; ++i) {
        const double angle = -2 * M_PI * (static_cast<long>(i) * k % kSize) / kSize;
        const float2 v = values[r * kSize + i];
        re += v.x * std::cos(angle) - v.y * std::sin(angle);
        im += v.x * std::sin(angle) + v.y * std::cos(angle);
      }
      EXPECT(std::fabs(re - result[r * kSize + k].x) < 1e-4 && std::fabs(im - result[r * kSize + k].y) < 1e-4);
    }
  fft<<<kRows, kSize / 2>>>(device, 1.0f);
  const auto back = onHost(device, values.size());
  for (size_t i = 0; i < values.size(); ++i) EXPECT(std::fabs(back[i].x / kSize - values[i].x) < 1e-5f);
  return passed();
}
