// An element is a function of the kind, the seed and its index through the finalizer of splitmix64, so that any page
// can be made alone and in any order.
#include "verify/values.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>

#include "exec/value/half.h"

namespace ptxopt::verify {

// The finalizer of splitmix64.
uint64_t mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}
uint64_t mix(uint64_t a, uint64_t b) { return mix(mix(a) ^ b); }

// A value of an element of `bytes` bytes.
uint64_t integerValue(Contents::Kind kind, unsigned bits, uint64_t r) {
  static constexpr uint64_t kSpecial[] = {0,  1,  2,  ~uint64_t{0}, ~uint64_t{1}, 31,  32,
                                          33, 63, 64, 127,          128,          255, 256};
  const uint64_t top = uint64_t{1} << (bits - 1);
  switch (kind) {
    case Contents::Kind::Small: return r % 16;
    case Contents::Kind::Mixed: return r % 8 == 0 ? mix(r) : r % 8 == 1 ? 0 - mix(r) % 9 : mix(r) % 100;
    case Contents::Kind::Any: return mix(r);
    case Contents::Kind::Special:
      if (r % 4 == 0) return top - (r / 4 & 1);
      return kSpecial[r / 4 % std::size(kSpecial)];
    case Contents::Kind::Wide: {
      const uint64_t v = mix(r) >> (64 - bits + r % bits);
      return r / bits % 4 == 0 ? 0 - v : v;
    }
    case Contents::Kind::Rising:
    case Contents::Kind::Tiny:
    case Contents::Kind::Few:
    case Contents::Kind::Coarse:
    case Contents::Kind::Literal:
    case Contents::Kind::Scaled:
    case Contents::Kind::Shuffled:
    case Contents::Kind::Same: return r % 16;
  }
  return 0;
}

namespace {

// In order, by steps that differ from array to array.
uint64_t risingValue(const Contents& c, uint64_t index) {
  static constexpr uint64_t kSteps[] = {1, 3, 5, 40};
  const uint64_t step = kSteps[mix(c.seed) % std::size(kSteps)];
  return index * step + mix(c.seed, index) % step;
}

// One to four bits, mostly with an exponent that halves have, too.
float coarseValue(uint64_t r) {
  const auto significand = static_cast<float>(static_cast<int>(r % 31) - 15);
  const bool isFar = r / 32 % 8 == 0;
  const int exponent = isFar ? static_cast<int>(r / 256 % 280) - 152 : static_cast<int>(r / 256 % 40) - 27;
  return std::ldexp(significand, exponent);
}

float floatValue(Contents::Kind kind, uint64_t r) {
  static constexpr uint32_t kSpecial[] = {0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000,
                                          0x7fc00000, 0x00000001, 0x807fffff, 0x00800000, 0x7f7fffff, 0x4b000001};
  const auto unit = [r] { return static_cast<double>(mix(r) >> 11) * 0x1p-53; };
  switch (kind) {
    case Contents::Kind::Small: return static_cast<float>(unit() * 2 - 1);
    case Contents::Kind::Mixed: return static_cast<float>(static_cast<int64_t>(mix(r) % 2001) - 1000) / 8;
    case Contents::Kind::Any: return std::bit_cast<float>(static_cast<uint32_t>(mix(r)));
    case Contents::Kind::Special: return std::bit_cast<float>(kSpecial[r % std::size(kSpecial)]);
    case Contents::Kind::Rising: return static_cast<float>(unit());
    case Contents::Kind::Tiny:
      return static_cast<float>(std::ldexp(unit() * 2 - 1, -125 - static_cast<int>(r % 4)));
    case Contents::Kind::Wide:
      return static_cast<float>(
          std::ldexp(r / 128 % 2 == 0 ? 1 + unit() : -1 - unit(), static_cast<int>(r % 81) - 40));
    case Contents::Kind::Few:
    case Contents::Kind::Literal:
    case Contents::Kind::Scaled:
    case Contents::Kind::Shuffled:
    case Contents::Kind::Same: return static_cast<float>(unit());
    case Contents::Kind::Coarse: return coarseValue(mix(r));
  }
  return 0;
}

// Likewise with all bits of a double, and its own limits.
double doubleValue(Contents::Kind kind, uint64_t r) {
  static constexpr uint64_t kSpecial[] = {0x0000000000000001, 0x800fffffffffffff, 0x0010000000000000,
                                          0x7fefffffffffffff};
  switch (kind) {
    case Contents::Kind::Any: return std::bit_cast<double>(mix(r));
    case Contents::Kind::Special:
      if (r / 16 % 4 == 0) return std::bit_cast<double>(kSpecial[r % std::size(kSpecial)]);
      return static_cast<double>(floatValue(kind, r));
    case Contents::Kind::Tiny:
      return std::ldexp(static_cast<double>(mix(r) >> 11) * 0x1p-52 - 1, -1021 - static_cast<int>(r % 4));
    case Contents::Kind::Mixed:
    case Contents::Kind::Coarse:
    case Contents::Kind::Rising: return static_cast<double>(floatValue(kind, r));
    default: {
      const auto v = static_cast<double>(floatValue(kind, r));
      return v == 0 ? v : std::bit_cast<double>(std::bit_cast<uint64_t>(v) | (mix(~r) & ((1u << 29) - 1)));
    }
  }
}

uint16_t halfBits(float f, bool brain) {
  return brain ? exec::roundToNearest<exec::Bf16>(f) : exec::roundToNearest<exec::F16>(f);
}

// A number in a format; in both halves of a pair.
uint64_t bitsOf(ScalarType type, double x) {
  const auto single = static_cast<float>(x);
  switch (type) {
    case ScalarType::f64: return std::bit_cast<uint64_t>(x);
    case ScalarType::f32: return std::bit_cast<uint32_t>(single);
    case ScalarType::f16:
    case ScalarType::f16x2: return halfBits(single, false) * 0x10001u;
    default: return halfBits(single, true) * 0x10001u;
  }
}

// Below a power of two.
uint64_t scaledValue(const Contents& c, uint64_t r) {
  const uint64_t scale = mix(~c.seed);
  if (!holdsFloats(c.element)) return mix(r) & ((uint64_t{2} << scale % 11) - 1);
  const double unit = static_cast<double>(mix(r) >> 11) * 0x1p-53;
  const bool isSigned = scale / 16 % 4 != 0;
  return bitsOf(c.element, std::ldexp(isSigned ? unit * 2 - 1 : unit, static_cast<int>(scale % 9) - 1));
}

// A permutation of the numbers below each multiple of a power of two.
uint64_t shuffledValue(const Contents& c, uint64_t index) {
  const uint64_t scale = mix(~c.seed);
  const auto width = static_cast<unsigned>(5 + scale % 6);
  const uint64_t mask = (uint64_t{1} << width) - 1;
  uint64_t low = index & mask;
  low = (low * (scale >> 16 | 1) + (scale >> 8)) & mask;
  low = ((low ^ low >> width / 2) * (scale >> 32 | 1)) & mask;
  const uint64_t v = (index & ~mask) | low;
  return holdsFloats(c.element) ? bitsOf(c.element, static_cast<double>(static_cast<int64_t>(v)) / 4) : v;
}

// A zero of either sign in every second array.
uint64_t sameValue(const Contents& c) {
  static constexpr double kOthers[] = {1, -1, 2, -0.75, 3, 1e-40, HUGE_VAL, -HUGE_VAL};
  const uint64_t r = mix(~c.seed);
  if (!holdsFloats(c.element)) return r % 2 == 0 ? 0 : r / 2 % 4 == 0 ? ~uint64_t{0} : r / 8 % 4;
  const double zero = r / 2 % 2 == 0 ? 0.0 : -0.0;
  return bitsOf(c.element, r % 2 == 0 ? zero : kOthers[r / 4 % std::size(kOthers)]);
}

// Bits that a number moves by one either way, or not at all.
uint64_t nextTo(uint64_t bits, uint64_t r) { return bits + r % 3 - 1; }

// A number that the kernel compares with, or the bits of an integer that it compares with, as the upper half of a double.
std::optional<uint64_t> literalFloat(const Literals& literals, ScalarType element, uint64_t r) {
  const bool takesInteger = literals.numbers.empty() || r % 4 == 0;
  if (takesInteger && literals.integers.empty()) return std::nullopt;
  r = mix(r);
  if (takesInteger) {
    const auto bits = static_cast<uint64_t>(literals.integers[r % literals.integers.size()]);
    return element == ScalarType::f64 && bits >> 32 == 0 ? bits << 32 | (mix(~r) & 0xFFFF'FFFF)
                                                         : nextTo(bits, r >> 32);
  }
  const double number = literals.numbers[r % literals.numbers.size()] * (r >> 40 & 1 ? -1 : 1);
  const auto single = static_cast<float>(number);
  switch (element) {
    case ScalarType::f64: return nextTo(std::bit_cast<uint64_t>(number), r >> 32);
    case ScalarType::f32: return nextTo(std::bit_cast<uint32_t>(single), r >> 32);
    case ScalarType::f16: return nextTo(halfBits(single, false), r >> 32);
    case ScalarType::bf16: return nextTo(halfBits(single, true), r >> 32);
    default: return std::nullopt;
  }
}

std::optional<uint64_t> literalValue(const Contents& c, uint64_t r) {
  if (c.literals == nullptr || r % 2 == 0) return std::nullopt;
  if (holdsFloats(c.element)) return literalFloat(*c.literals, c.element, mix(r));
  const auto& integers = c.literals->integers;
  if (integers.empty()) return std::nullopt;
  const auto bits = static_cast<uint64_t>(integers[mix(r) % integers.size()]);
  return nextTo(bits, mix(~r));
}

// Element `index`; `r` is its random number.
uint64_t valueOf(const Contents& c, uint64_t index, uint64_t r) {
  if (c.kind == Contents::Kind::Literal) {
    if (const auto value = literalValue(c, r)) return *value;
    Contents other = c;
    other.kind = Contents::Kind::Mixed;
    return valueOf(other, index, r);
  }
  if (c.kind == Contents::Kind::Few) {
    using Kind = Contents::Kind;
    static constexpr Kind kKinds[] = {Kind::Special, Kind::Mixed, Kind::Small, Kind::Special, Kind::Wide};
    Contents one = c;
    one.seed = mix(c.seed, r % (1 + c.seed % 3));
    one.kind = kKinds[one.seed % std::size(kKinds)];
    return valueOf(one, 0, mix(one.seed, 0));
  }
  if (c.kind == Contents::Kind::Scaled) return scaledValue(c, r);
  if (c.kind == Contents::Kind::Shuffled) return shuffledValue(c, index);
  if (c.kind == Contents::Kind::Same) return sameValue(c);
  const unsigned bits = std::max(8u, info(c.element).bits);
  const bool isFloat = c.element == ScalarType::f32 || c.element == ScalarType::f64;
  if (c.kind == Contents::Kind::Rising) {
    const uint64_t v = risingValue(c, index);
    if (!isFloat && info(c.element).bits >= 16) return v;
    if (c.element == ScalarType::f32)
      return std::bit_cast<uint32_t>(static_cast<float>(static_cast<int64_t>(v)) / 4);
    if (c.element == ScalarType::f64)
      return std::bit_cast<uint64_t>(static_cast<double>(static_cast<int64_t>(v)) / 4);
  }
  switch (c.element) {
    case ScalarType::f32: return std::bit_cast<uint32_t>(floatValue(c.kind, r));
    case ScalarType::f64: return std::bit_cast<uint64_t>(doubleValue(c.kind, r));
    case ScalarType::f16: return halfBits(floatValue(c.kind, r), false);
    case ScalarType::bf16: return halfBits(floatValue(c.kind, r), true);
    case ScalarType::f16x2:
    case ScalarType::bf16x2: {
      const bool brain = c.element == ScalarType::bf16x2;
      return halfBits(floatValue(c.kind, r), brain) |
             static_cast<uint32_t>(halfBits(floatValue(c.kind, mix(r)), brain)) << 16;
    }
    default: return integerValue(c.kind, std::min(bits, 64u), r);
  }
}

}  // namespace

uint64_t elementValue(const Contents& c, uint64_t index) { return valueOf(c, index, mix(c.seed, index)); }

bool holdsFloats(ScalarType type) {
  switch (type) {
    case ScalarType::f16:
    case ScalarType::f16x2:
    case ScalarType::bf16:
    case ScalarType::bf16x2:
    case ScalarType::f32:
    case ScalarType::f64: return true;
    default: return false;
  }
}

// What an array holds. Integers may be indices, with which wild values leave the memory there is, or counts of
// loops: most arrays of them are tame. Floats are not, and `a + b` says little when both are NaN, so that the kinds
// of different arrays are mixed.
Contents::Kind contentsKind(bool floats, unsigned number, uint64_t r) {
  using Kind = Contents::Kind;
  static constexpr Kind kFirstFloats[] = {Kind::Small, Kind::Mixed, Kind::Any,
                                          Kind::Small, Kind::Tiny,  Kind::Special};
  static constexpr Kind kFirstIntegers[] = {Kind::Small, Kind::Rising, Kind::Mixed,
                                            Kind::Any,   Kind::Small,  Kind::Special};
  static constexpr Kind kFloats[] = {Kind::Small,   Kind::Mixed,  Kind::Small,  Kind::Any,
                                     Kind::Tiny,    Kind::Mixed,  Kind::Wide,   Kind::Rising,
                                     Kind::Special, Kind::Wide,   Kind::Few,    Kind::Coarse,
                                     Kind::Literal, Kind::Scaled, Kind::Scaled, Kind::Shuffled};
  static constexpr Kind kIntegers[] = {Kind::Small,   Kind::Rising,  Kind::Mixed,   Kind::Any,
                                       Kind::Small,   Kind::Special, Kind::Few,     Kind::Wide,
                                       Kind::Literal, Kind::Scaled,  Kind::Shuffled};
  if (number < std::size(kFirstFloats)) return floats ? kFirstFloats[number] : kFirstIntegers[number];
  return floats ? kFloats[r % std::size(kFloats)] : kIntegers[r % std::size(kIntegers)];
}

// A scalar that is a floating-point number.
uint64_t floatBits(const Field& f, Contents::Kind kind, uint64_t r) {
  Contents c;
  c.kind = kind;
  c.element = f.bytes == 8 ? ScalarType::f64 : f.bytes == 4 ? ScalarType::f32 : ScalarType::f16;
  c.seed = r;
  return elementValue(c, r % 64);
}

void Contents::fillPage(int64_t offset, std::byte* page) const {
  const unsigned bytes = std::clamp(info(element).bits / 8, 1u, 8u);
  const uint64_t mixedSeed = mix(seed);
  for (unsigned at = 0; at < TrialMemory::kPage; at += bytes) {
    const auto index = static_cast<uint64_t>((offset + at) / bytes) + skip;
    const uint64_t v = valueOf(*this, index, mix(mixedSeed ^ index));  // elementValue
    std::memcpy(page + at, &v, bytes);
  }
}

}  // namespace ptxopt::verify
