// Numbers of 16 bits: arithmetic in pairs, conversions with every rounding, bfloat16, and atomics of them.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>

#include "program.h"

__global__ void arithmetic(const float* in, float* out, int n) {
  const int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  const __half2 x = __floats2half2_rn(in[i], in[i + 1]);
  __half2 y = __hfma2(x, __float2half2_rn(1.5f), __float2half2_rn(0.25f));
  y = __hmax2(y, __hneg2(x));
  y = __hadd2(y, __hmul2(x, x));
  out[i] = __low2float(y);
  out[i + 1] = __high2float(y);
}

__global__ void conversions(float x, float* out) {
  out[0] = __half2float(__float2half_rn(x));
  out[1] = __half2float(__float2half_rz(x));
  out[2] = __half2float(__float2half_ru(x));
  out[3] = __half2float(__float2half_rd(x));
  out[4] = __bfloat162float(__float2bfloat16_rn(x));
  out[5] = static_cast<float>(__half2int_rn(__float2half(x)));
  out[6] = __half2float(hsqrt(__float2half(x)));
  out[7] = __half2float(__ushort_as_half(0x3C00));
  out[8] = __half2float(__hdiv(__float2half(x), __float2half(3.0f)));
  out[9] = __hlt(__float2half(x), __float2half(70000.0f)) ? 1.0f : 0.0f;  // 70000 is infinite
}

__global__ void sum(const __nv_bfloat162* in, int n, __half2* halves, float* out) {
  __nv_bfloat162 s = __float2bfloat162_rn(0.0f);
  for (int i = threadIdx.x; i < n; i += 32) s = __hadd2(s, in[i]);
  for (int d = 16; d > 0; d /= 2) s = __hadd2(s, __shfl_xor_sync(~0u, s, d));
  if (threadIdx.x == 0) *out = __low2float(s) + __high2float(s);
  atomicAdd(halves, __floats2half2_rn(1.0f, 0.5f));
}

int main() {
  Numbers numbers;
  std::vector<float> values(128);
  for (float& v : values) v = (static_cast<int>(numbers.below(256)) - 128) / 16.0f;
  float* const out = zeros<float>(values.size());
  arithmetic<<<2, 32>>>(onDevice(values), out, static_cast<int>(values.size()));
  const auto results = onHost(out, values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const float x = values[i], y = std::fmax(x * 1.5f + 0.25f, -x) + x * x;
    EXPECT(std::fabs(results[i] - y) <= 0.002f * std::fabs(y) + 0.002f);
  }
  conversions<<<1, 1>>>(1000.3f, out);  // halves are 0.5 apart here
  const auto c = onHost(out, 10);
  EXPECT(c[0] == 1000.5f && c[1] == 1000.0f && c[2] == 1000.5f && c[3] == 1000.0f && c[4] == 1000.0f && c[5] == 1000.0f);
  EXPECT(std::fabs(c[6] - 31.628f) < 0.02f && c[7] == 1 && std::fabs(c[8] - 333.4f) < 0.3f && c[9] == 1);

  std::vector<__nv_bfloat162> pairs(64, __floats2bfloat162_rn(1.0f, 2.0f));
  __half2* const halves = zeros<__half2>(1);
  sum<<<1, 32>>>(onDevice(pairs), 64, halves, out);
  LAUNCHED();
  EXPECT(onHost(out, 1)[0] == 192.0f);
  const __half2 h = onHost(halves, 1)[0];
  EXPECT(__low2float(h) == 32.0f && __high2float(h) == 16.0f);
  return passed();
}
