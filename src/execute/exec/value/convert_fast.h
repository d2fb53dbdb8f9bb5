// The commonest conversions as inline functions without branches, for loops over the lanes of a warp.
//
// Each equals the general conversion of the same name bit for bit, NaN included; resolveConversion() uses them too.
// They rely on IEEE arithmetic of the host in round-to-nearest mode, without flush-to-zero.
#pragma once

#include <bit>
#include <cstdint>

namespace ptxopt::exec {

inline float nearestFloat(int32_t x) { return static_cast<float>(x); }    // cvt.rn.f32.s32
inline float nearestFloat(uint32_t x) { return static_cast<float>(x); }   // cvt.rn.f32.u32
inline double exactDouble(int32_t x) { return static_cast<double>(x); }   // cvt.rn.f64.s32
inline double exactDouble(uint32_t x) { return static_cast<double>(x); }  // cvt.rn.f64.u32
inline double widened(float x) { return static_cast<double>(x); }         // cvt.f64.f32
inline float narrowedNearest(double x) { return static_cast<float>(x); }  // cvt.rn.f32.f64

// cvt.rzi.s32.f32
inline int32_t truncatedToS32(float x) {
  constexpr float kEnd = 2147483648.0f;
  const float inside = x >= -kEnd && x < kEnd ? x : 0.0f;
  const int32_t limit = x >= kEnd ? INT32_MAX : x < -kEnd ? INT32_MIN : 0;
  return static_cast<int32_t>(inside) | limit;
}

// cvt.rzi.u32.f32
inline uint32_t truncatedToU32(float x) {
  constexpr float kEnd = 4294967296.0f;
  const float inside = x > 0.0f && x < kEnd ? x : 0.0f;
  return static_cast<uint32_t>(static_cast<int64_t>(inside)) | (x >= kEnd ? UINT32_MAX : 0);
}

// cvt.f32.f16. The exponent is put right by a multiplication, which also normalises subnormal numbers; both are
// exact.
inline uint32_t floatFromHalf(uint16_t half) {
  constexpr uint32_t kInfinity = 0x7f800000;
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
  const uint32_t magnitude = half & 0x7fffu;
  const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  const uint32_t number = std::bit_cast<uint32_t>(scaled) | sign;
  const uint32_t special = magnitude > 0x7c00 ? 0x7fffffff : kInfinity | sign;
  return magnitude >= 0x7c00 ? special : number;
}

// cvt.rn.f16.f32. Below the normal halves, adding 0.5 leaves the units of 2^-24 in the last bits, rounded by the
// host.
inline uint16_t halfFromFloat(uint32_t bits) {
  const uint32_t sign = bits >> 16 & 0x8000;
  const uint32_t magnitude = bits & 0x7fffffff;
  // Round to a multiple of 2^13, ties to even, then take 112 off the exponent.
  const uint32_t normal = (magnitude - 0x38000000 + 0xfff + (magnitude >> 13 & 1)) >> 13;
  const uint32_t small = magnitude < 0x38800000 ? magnitude : 0;
  const uint32_t subnormal = std::bit_cast<uint32_t>(std::bit_cast<float>(small) + 0.5f) - 0x3f000000;
  uint32_t result = magnitude < 0x38800000 ? subnormal : normal;
  result = magnitude >= 0x477ff000 ? 0x7c00 : result;
  result |= sign;
  return static_cast<uint16_t>(magnitude > 0x7f800000 ? 0x7fff : result);
}

// cvt.f32.bf16
inline uint32_t floatFromBfloat(uint16_t bits) { return static_cast<uint32_t>(bits) << 16; }

// cvt.rn.bf16.f32
inline uint16_t bfloatFromFloat(uint32_t bits) {
  const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return static_cast<uint16_t>((bits & 0x7fffffff) > 0x7f800000 ? 0x7fff : rounded);
}

}  // namespace ptxopt::exec
