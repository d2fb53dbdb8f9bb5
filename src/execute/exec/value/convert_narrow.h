// Packed conversions: two or four numbers in one register, to and from f16x2, bf16x2, fp8, fp6, fp4 and ue8m0, with
// stochastic rounding where the ISA has it.
//
// Fields are 16 bits of f16 and bf16, 8 bits of fp8, fp6 (two zero bits on top) and ue8m0, and 4 bits of e2m1. In
// every form the first source operand goes to the uppermost field: of `cvt.T d, a, b`, a is above b; of
// `cvt.T d, {a, b, e, f}, rbits`, a is in the top field, then b, e, f. A packed source keeps its order.
//
// Stochastic rounding (.rs) adds random bits to the first of the bits that are cut off and rounds away from zero on
// a carry. Each number has its own share of rbits:
//   f16x2   13 bits: a has rbits[28:16], b has rbits[12:0]
//   bf16x2  16 bits: a has rbits[31:16], b has rbits[15:0]
//   fp8x4, fp6x4  16 bits: b has rbits[31:16] and a the same bits in reverse order; f has rbits[15:0], e the same
//           in reverse order
//   e2m1x4  16 bits: b has {rbits[31:24], rbits[15:8]} and a the reverse; f has {rbits[23:16], rbits[7:0]} and e
//           the reverse
// The ISA's text gives the shares; the reversal is only in its figures and was observed on sm_100. Where the result
// is a subnormal f16, the ISA does not say how 13 random bits line up with more than 13 cut bits: here they are
// added at the top, as in the other formats.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "exec/value/convert.h"

namespace ptxopt::exec {

// The power of two at (.rz) or next above (.rp) the magnitude of x, as its exponent plus 127. The sign is ignored;
// what is at most 2^-127 is code 0, NaN is 0xff; infinity and what is above 2^127 are 0xff, with satfinite 0xfe.
constexpr uint64_t encodeScale(const Unpacked& x, bool up, bool satfinite) {
  constexpr int kBias = 127;
  constexpr uint64_t kNan = 0xff;
  if (x.kind == NumberKind::Nan) return kNan;
  if (x.kind == NumberKind::Zero) return 0;
  int code = 255;
  if (x.kind == NumberKind::Finite) {
    const bool inexact = (x.significand << 1) != 0;
    code = x.exponent + kBias + (up && inexact ? 1 : 0);
    // Below 2^-127 nothing is left to round up from: the least code is the result both ways.
    if (x.exponent < -kBias) code = 0;
  }
  if (code >= 255) return satfinite ? 0xfe : kNan;
  return static_cast<uint64_t>(code < 0 ? 0 : code);
}

constexpr Unpacked decodeScale(uint64_t bits) {
  const int code = static_cast<int>(bits & 0xff);
  if (code == 255) return {NumberKind::Nan, false, 0, 0};
  return unpackedInteger(false, 1, code - 127);
}

// Bits of the field that holds one number of a packed register.
constexpr unsigned packedFieldBits(ScalarFormat format) {
  switch (format) {
    case ScalarFormat::F16:
    case ScalarFormat::BF16: return 16;
    case ScalarFormat::E2M1: return 4;
    default: return 8;
  }
}

// cvt of two numbers without random bits.
class PackedConversion {
 public:
  // The element types of .f16x2.f32, .e4m3x2.f16x2, .f16x2.e2m1x2 and so on; nullopt when PTX has no such form.
  static std::optional<PackedConversion> resolve(ScalarFormat from, ScalarFormat to, ConvertMode mode);

  // Two f32 sources: a to the upper field.
  uint32_t pair(uint32_t a, uint32_t b) const { return one(a) << targetBits_ | one(b); }
  // One packed source.
  uint32_t packed(uint32_t source) const { return pair(source >> sourceBits_, source & ((1u << sourceBits_) - 1)); }
  // Whether the form is that of pair() (an f32 source), otherwise that of packed().
  bool takesPair() const { return takesPair_; }

 private:
  PackedConversion(ConvertFunction function, ConvertMode mode, ScalarFormat from, ScalarFormat to)
      : function_(function),
        mode_(mode),
        sourceBits_(packedFieldBits(from)),
        targetBits_(packedFieldBits(to)),
        takesPair_(from == ScalarFormat::F32) {}
  uint32_t one(uint32_t bits) const { return static_cast<uint32_t>(function_(bits, mode_)); }

  ConvertFunction function_;
  ConvertMode mode_;
  unsigned sourceBits_, targetBits_;
  bool takesPair_;
};

// cvt.rs{.relu}{.satfinite}.{f16x2,bf16x2}.f32 d, a, b, rbits. `to` is F16 or BF16.
uint32_t convertStochasticPair(ScalarFormat to, uint32_t a, uint32_t b, uint32_t rbits, bool relu, bool satfinite);

// cvt.rs{.relu}.satfinite.{e4m3x4,e5m2x4,e2m3x4,e3m2x4,e2m1x4}.f32 d, {a, b, e, f}, rbits; `abef` are the f32 bits.
uint32_t convertStochasticQuad(ScalarFormat to, const std::array<uint32_t, 4>& abef, uint32_t rbits, bool relu);

}  // namespace ptxopt::exec
