#include "exec/value/convert_narrow.h"

namespace ptxopt::exec {
namespace {

constexpr uint32_t reversed16(uint32_t bits) {
  uint32_t result = 0;
  for (int i = 0; i < 16; ++i) result |= (bits >> i & 1) << (15 - i);
  return result;
}

uint32_t stochastic(ScalarFormat to, uint32_t bits, uint32_t random, uint8_t randomBits, bool relu,
                    bool satfinite) {
  return static_cast<uint32_t>(convertUnpacked(decode(bits, floatFormat(ScalarFormat::F32)), to,
                                               Rounder::stochastic(random, randomBits), relu, satfinite, false));
}

// Scalar forms that also exist packed: the narrow destinations have no others.
bool hasPackedForm(ScalarFormat from, ScalarFormat to) {
  const bool narrowSource = isNarrowFloat(from) || from == ScalarFormat::UE8M0;
  const bool narrowTarget = isNarrowFloat(to) || to == ScalarFormat::UE8M0;
  if (from == ScalarFormat::F32) return narrowTarget || to == ScalarFormat::F16 || to == ScalarFormat::BF16;
  return (narrowSource || narrowTarget) && to != ScalarFormat::F32;
}

}  // namespace

std::optional<PackedConversion> PackedConversion::resolve(ScalarFormat from, ScalarFormat to, ConvertMode mode) {
  // .f16x2.f32 and .bf16x2.f32 know neither .ftz, .sat nor the directed roundings that the scalar forms have.
  const bool towardsInfinity = mode.rounding == Rounding::Down || mode.rounding == Rounding::Up;
  if (!hasPackedForm(from, to) || mode.ftz || mode.sat) return std::nullopt;
  if (towardsInfinity && to != ScalarFormat::UE8M0) return std::nullopt;
  const ConvertFunction function = resolveConversion(from, to, mode);
  if (function == nullptr) return std::nullopt;
  return PackedConversion(function, mode, from, to);
}

uint32_t convertStochasticPair(ScalarFormat to, uint32_t a, uint32_t b, uint32_t rbits, bool relu, bool satfinite) {
  const uint8_t count = to == ScalarFormat::F16 ? 13 : 16;
  const uint32_t mask = (uint32_t{1} << count) - 1;
  return stochastic(to, a, rbits >> 16 & mask, count, relu, satfinite) << 16 |
         stochastic(to, b, rbits & mask, count, relu, satfinite);
}

uint32_t convertStochasticQuad(ScalarFormat to, const std::array<uint32_t, 4>& abef, uint32_t rbits, bool relu) {
  uint32_t upper = rbits >> 16, lower = rbits & 0xffff;
  if (to == ScalarFormat::E2M1) {
    upper = (rbits >> 24) << 8 | (rbits >> 8 & 0xff);
    lower = (rbits >> 16 & 0xff) << 8 | (rbits & 0xff);
  }
  const std::array<uint32_t, 4> random = {reversed16(upper), upper, reversed16(lower), lower};
  uint32_t result = 0;
  for (unsigned i = 0; i < 4; ++i)
    result = result << packedFieldBits(to) | stochastic(to, abef[i], random[i], 16, relu, true);
  return result;
}

}  // namespace ptxopt::exec
