// The table of conversions and which of them PTX has.
#include "exec/value/convert.h"

#include <array>
#include <cassert>
#include <utility>

#include "exec/value/convert_fast.h"
#include "exec/value/convert_narrow.h"

namespace ptxopt::exec {
namespace {

using F = ScalarFormat;

bool plain(const ConvertMode& m) { return !m.tiesAway && !m.toIntegral && !m.relu && !m.satfinite; }
bool nearestOrZero(const ConvertMode& m) { return m.rounding == Rounding::Nearest || m.rounding == Rounding::Zero; }

// PTX 9.0 converts packed f16 to fp8 and fp4 but not to fp6.
constexpr bool isSixBits(F f) { return f == F::E2M3 || f == F::E3M2; }

bool existsFloatToFloat(F from, F to, const ConvertMode& m) {
  if (m.ftz && from != F::F32 && to != F::F32) return false;
  // ptxas knows .sat neither to nor from bf16.
  if (m.sat && (to == F::BF16 || from == F::BF16)) return false;
  if (m.tiesAway || (m.toIntegral && from != to)) return false;
  if (!m.relu && !m.satfinite) return true;
  return from == F::F32 && (to == F::F16 || to == F::BF16) && nearestOrZero(m) && !m.ftz && !m.sat;
}

// With at least one of tf32, fp8, fp6, fp4, ue8m0.
bool existsNarrow(F from, F to, const ConvertMode& m) {
  if (m.ftz || m.sat || m.toIntegral) return false;
  if (to == F::TF32) return from == F::F32 && nearestOrZero(m) && !(m.tiesAway && m.relu);
  if (m.tiesAway) return false;
  if (to == F::UE8M0) {
    return (from == F::F32 || from == F::BF16) && !m.relu &&
           (m.rounding == Rounding::Zero || m.rounding == Rounding::Up);
  }
  if (m.rounding != Rounding::Nearest) return false;
  if (isNarrowFloat(to)) return (from == F::F32 || (from == F::F16 && !isSixBits(to))) && m.satfinite;
  if (m.satfinite) return false;
  if (from == F::UE8M0) return (to == F::BF16 || to == F::F32) && !m.relu;
  return isNarrowFloat(from) && (to == F::F16 || to == F::F32);
}

bool exists(F from, F to, const ConvertMode& m) {
  if (isInteger(from)) {
    if (!plain(m)) return false;
    if (isInteger(to)) return !m.ftz;
    return isWideFloat(to) && !(m.ftz && to != F::F32) && !(m.sat && to == F::BF16);
  }
  if (isWideFloat(from) && isInteger(to))
    return m.toIntegral && !m.tiesAway && !m.relu && !m.satfinite && !(m.ftz && from != F::F32) &&
           !(m.sat && from == F::BF16);
  if (isInteger(to)) return false;
  return isWideFloat(from) && isWideFloat(to) ? existsFloatToFloat(from, to, m) : existsNarrow(from, to, m);
}

// One instance per pair, so that the formats are constants in it.
template <F From, F To>
uint64_t convertPair(uint64_t bits, ConvertMode mode) {
  if constexpr (isInteger(From)) {
    if constexpr (isInteger(To)) return convertInteger(bits, From, To, mode.sat);
    return convertIntegerToFloat(bits, From, To, mode);
  } else if constexpr (isInteger(To)) {
    return convertFloatToInteger(bits, From, To, mode);
  } else if constexpr (To == F::UE8M0) {
    return encodeScale(decode(bits, floatFormat(From)), mode.rounding == Rounding::Up, mode.satfinite);
  } else if constexpr (From == F::UE8M0) {
    return convertUnpacked(decodeScale(bits), To, mode.rounder(), false, false, false);
  } else {
    return convertFloat(bits, From, To, mode);
  }
}

// Pairs of types that some mode converts.
constexpr bool hasPair(F from, F to) {
  const bool scalarFrom = isInteger(from) || isWideFloat(from);
  const bool scalarTo = isInteger(to) || isWideFloat(to);
  if (scalarFrom && scalarTo) return true;
  if (to == F::TF32) return from == F::F32;
  if (to == F::UE8M0) return from == F::F32 || from == F::BF16;
  if (from == F::UE8M0) return to == F::F32 || to == F::BF16;
  if (isNarrowFloat(to)) return from == F::F32 || (from == F::F16 && !isSixBits(to));
  return isNarrowFloat(from) && (to == F::F32 || to == F::F16);
}

template <unsigned Index>
constexpr ConvertFunction pairFunction() {
  constexpr F kFrom = static_cast<F>(Index / kScalarFormats);
  constexpr F kTo = static_cast<F>(Index % kScalarFormats);
  if constexpr (hasPair(kFrom, kTo)) return convertPair<kFrom, kTo>;
  return nullptr;
}

template <unsigned... Index>
constexpr auto pairTable(std::integer_sequence<unsigned, Index...>) {
  return std::array<ConvertFunction, sizeof...(Index)>{pairFunction<Index>()...};
}
constexpr auto kPairs = pairTable(std::make_integer_sequence<unsigned, kScalarFormats * kScalarFormats>());

template <class To, class From>
To as(From value) {
  return std::bit_cast<To>(value);
}
uint32_t low(uint64_t bits) { return static_cast<uint32_t>(bits); }
uint16_t low16(uint64_t bits) { return static_cast<uint16_t>(bits); }

// A function for modes that change nothing but the rounding, or nullptr.
ConvertFunction fastFunction(F from, F to, const ConvertMode& m) {
  if (m.ftz || m.sat || m.relu || m.satfinite || m.tiesAway) return nullptr;
  if (m.toIntegral) {
    if (m.rounding != Rounding::Zero || from != F::F32) return nullptr;
    if (to == F::S32)
      return [](uint64_t x, ConvertMode) {
        return static_cast<uint64_t>(static_cast<int64_t>(truncatedToS32(as<float>(low(x)))));
      };
    if (to == F::U32) return [](uint64_t x, ConvertMode) -> uint64_t { return truncatedToU32(as<float>(low(x))); };
    return nullptr;
  }
  if (from == F::F16 && to == F::F32)
    return [](uint64_t x, ConvertMode) -> uint64_t { return floatFromHalf(low16(x)); };
  if (from == F::BF16 && to == F::F32)
    return [](uint64_t x, ConvertMode) -> uint64_t { return floatFromBfloat(low16(x)); };
  if (from == F::F32 && to == F::F64)
    return [](uint64_t x, ConvertMode) { return as<uint64_t>(widened(as<float>(low(x)))); };
  if (m.rounding != Rounding::Nearest) return nullptr;
  if (from == F::F32 && to == F::F16)
    return [](uint64_t x, ConvertMode) -> uint64_t { return halfFromFloat(low(x)); };
  if (from == F::F32 && to == F::BF16)
    return [](uint64_t x, ConvertMode) -> uint64_t { return bfloatFromFloat(low(x)); };
  if (from == F::F64 && to == F::F32)
    return [](uint64_t x, ConvertMode) -> uint64_t { return as<uint32_t>(narrowedNearest(as<double>(x))); };
  if (from == F::S32 && to == F::F32)
    return [](uint64_t x, ConvertMode) -> uint64_t { return as<uint32_t>(nearestFloat(as<int32_t>(low(x)))); };
  if (from == F::U32 && to == F::F32)
    return [](uint64_t x, ConvertMode) -> uint64_t { return as<uint32_t>(nearestFloat(low(x))); };
  if (from == F::S32 && to == F::F64)
    return [](uint64_t x, ConvertMode) { return as<uint64_t>(exactDouble(as<int32_t>(low(x)))); };
  if (from == F::U32 && to == F::F64)
    return [](uint64_t x, ConvertMode) { return as<uint64_t>(exactDouble(low(x))); };
  return nullptr;
}

ConvertFunction pairOf(F from, F to) {
  return kPairs[static_cast<unsigned>(from) * kScalarFormats + static_cast<unsigned>(to)];
}

}  // namespace

ConvertFunction resolveConversion(ScalarFormat from, ScalarFormat to, ConvertMode mode) {
  if (!exists(from, to, mode)) return nullptr;
  const ConvertFunction fast = fastFunction(from, to, mode);
  return fast != nullptr ? fast : pairOf(from, to);
}

uint64_t convert(uint64_t bits, ScalarFormat from, ScalarFormat to, ConvertMode mode) {
  assert(exists(from, to, mode));
  return pairOf(from, to)(bits, mode);
}

}  // namespace ptxopt::exec
