// Random numbers of many threads: a quarter of a circle counted exactly, and the price of an option to a tolerance.
#include <cmath>

#include "program.h"

struct Generator {
  unsigned x, y, z, w;
  __host__ __device__ explicit Generator(unsigned seed)
      : x(seed * 2654435761u + 1), y(seed ^ 362436069u), z(521288629u + seed * 97), w(88675123u) {
    for (int i = 0; i < 8; ++i) next();
  }
  __host__ __device__ unsigned next() {
    const unsigned t = x ^ x << 11;
    x = y, y = z, z = w;
    return w = w ^ w >> 19 ^ t ^ t >> 8;
  }
};

__host__ __device__ bool isInside(Generator& g) {
  const unsigned long long x = g.next() >> 1, y = g.next() >> 1;
  return x * x + y * y < 1ull << 62;
}

__global__ void circle(unsigned long long* hits, int rounds) {
  Generator g(blockIdx.x * blockDim.x + threadIdx.x);
  int mine = 0;
  for (int i = 0; i < rounds; ++i) mine += isInside(g);
  mine = static_cast<int>(__reduce_add_sync(~0u, static_cast<unsigned>(mine)));
  if (threadIdx.x % 32 == 0) atomicAdd(hits, mine);
}

__global__ void option(float* sums, int rounds, float spot, float strike, float rate, float spread, float years) {
  Generator g(1000 + blockIdx.x * blockDim.x + threadIdx.x);
  float sum = 0;
  for (int i = 0; i < rounds; ++i) {
    const float u = ((g.next() >> 8) + 0.5f) / 16777216.0f, v = (g.next() >> 8) / 16777216.0f;
    const float normal = sqrtf(-2 * logf(u)) * cospif(2 * v);
    const float price = spot * expf((rate - spread * spread / 2) * years + spread * sqrtf(years) * normal);
    sum += fmaxf(price - strike, 0.0f);
  }
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

int main() {
  const int blocks = 4, threads = 128, rounds = 20, all = blocks * threads;
  auto* const hits = zeros<unsigned long long>(1);
  circle<<<blocks, threads>>>(hits, rounds);
  LAUNCHED();
  unsigned long long expected = 0;
  for (int t = 0; t < all; ++t) {
    Generator g(static_cast<unsigned>(t));
    for (int i = 0; i < rounds; ++i) expected += isInside(g);
  }
  EXPECT(onHost(hits, 1)[0] == expected);
  EXPECT(std::fabs(4.0 * static_cast<double>(expected) / (all * rounds) - M_PI) < 0.1);

  const float spot = 100, strike = 95, rate = 0.03f, spread = 0.2f, years = 1;
  float* const sums = zeros<float>(all);
  option<<<blocks, threads>>>(sums, rounds, spot, strike, rate, spread, years);
  LAUNCHED();
  double sum = 0;
  for (float s : onHost(sums, all)) sum += s;
  const double price = sum / (all * rounds) * std::exp(-rate * years);
  const double d = (std::log(spot / strike) + (rate + spread * spread / 2) * years) / (spread * std::sqrt(years));
  const auto normal = [](double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; };
  const double exact = spot * normal(d) - strike * std::exp(-rate * years) * normal(d - spread * std::sqrt(years));
  EXPECT(std::fabs(price - exact) < 0.8);
  return passed();
}
