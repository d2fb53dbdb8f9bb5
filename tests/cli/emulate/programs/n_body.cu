// Bodies that attract each other: tiles in shared memory, vectors of four floats, a reciprocal square root.
#include <cmath>
#include <utility>

#include "program.h"

constexpr int kBodies = 128, kBlock = 64;

__global__ void move(const float4* from, float4* to, float4* speed, float dt) {
  __shared__ float4 tile[kBlock];
  const int i = blockIdx.x * kBlock + threadIdx.x;
  const float4 me = from[i];
  float3 pull = make_float3(0, 0, 0);
  for (int first = 0; first < kBodies; first += kBlock) {
    tile[threadIdx.x] = from[first + threadIdx.x];
    __syncthreads();
#pragma unroll 4
    for (int j = 0; j < kBlock; ++j) {
      const float4 other = tile[j];
      const float x = other.x - me.x, y = other.y - me.y, z = other.z - me.z;
      const float inverse = rsqrtf(x * x + y * y + z * z + 0.01f);
      const float strength = other.w * inverse * inverse * inverse;
      pull.x += x * strength, pull.y += y * strength, pull.z += z * strength;
    }
    __syncthreads();
  }
  float4 v = speed[i];
  v.x += pull.x * dt, v.y += pull.y * dt, v.z += pull.z * dt;
  speed[i] = v;
  to[i] = make_float4(me.x + v.x * dt, me.y + v.y * dt, me.z + v.z * dt, me.w);
}

int main() {
  Numbers numbers;
  std::vector<float4> bodies(kBodies);
  for (float4& b : bodies) b = make_float4(numbers.unit(), numbers.unit(), numbers.unit(), 0.5f + numbers.unit());
  float4 *a = onDevice(bodies), *b = zeros<float4>(kBodies), *speed = zeros<float4>(kBodies);
  const float dt = 0.001f;
  for (int step = 0; step < 2; ++step) {
    move<<<kBodies / kBlock, kBlock>>>(a, b, speed, dt);
    std::swap(a, b);
  }
  LAUNCHED();
  const auto moved = onHost(a, kBodies);
  // Nothing pulls from outside: the momentum stays 0.
  const auto speeds = onHost(speed, kBodies);
  double momentum[3] = {};
  for (int i = 0; i < kBodies; ++i) {
    momentum[0] += speeds[i].x * bodies[i].w, momentum[1] += speeds[i].y * bodies[i].w, momentum[2] += speeds[i].z * bodies[i].w;
    EXPECT(std::fabs(moved[i].x - bodies[i].x) < 0.1f && moved[i].w == bodies[i].w);
  }
  for (double m : momentum) EXPECT(std::fabs(m) < 1e-2);
  double pull = 0;
  for (int j = 0; j < kBodies; ++j) {
    const double x = bodies[j].x - bodies[0].x, y = bodies[j].y - bodies[0].y, z = bodies[j].z - bodies[0].z;
    pull += x * bodies[j].w / std::pow(x * x + y * y + z * z + 0.01, 1.5);
  }
  EXPECT(std::fabs(speeds[0].x - 2 * pull * dt) < 0.02 * std::fabs(2 * pull * dt) + 1e-3);
  return passed();
}
