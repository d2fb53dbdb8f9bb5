// A table gives each type its name, kind and encoding. Floats of 8 bits or fewer are converted by tables of 256
// doubles, made once; the others by widening.
#include "exec/matrix/element.h"

#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "exec/value/half.h"

namespace ptxopt::exec::matrix {

namespace {

enum class Kind : uint8_t { Float, Signed, Unsigned };

struct Properties {
  std::string_view name;
  Kind kind;
  uint8_t exponentBits, mantissaBits;  // of floats of at most 8 bits
  bool hasInfinity, hasNaN;            // with hasNaN alone, only all ones is NaN
};

constexpr std::array<Properties, 16> kProperties{{
    {"f16", Kind::Float, 0, 0, true, true},
    {"bf16", Kind::Float, 0, 0, true, true},
    {"tf32", Kind::Float, 0, 0, true, true},
    {"f32", Kind::Float, 0, 0, true, true},
    {"f64", Kind::Float, 0, 0, true, true},
    {"e4m3", Kind::Float, 4, 3, false, true},
    {"e5m2", Kind::Float, 5, 2, true, true},
    {"e2m3", Kind::Float, 2, 3, false, false},
    {"e3m2", Kind::Float, 3, 2, false, false},
    {"e2m1", Kind::Float, 2, 1, false, false},
    {"s32", Kind::Signed, 0, 0, false, false},
    {"s8", Kind::Signed, 0, 0, false, false},
    {"u8", Kind::Unsigned, 0, 0, false, false},
    {"s4", Kind::Signed, 0, 0, false, false},
    {"u4", Kind::Unsigned, 0, 0, false, false},
    {"b1", Kind::Unsigned, 0, 0, false, false},
}};

const Properties& properties(Element e) { return kProperties[static_cast<std::size_t>(e)]; }

constexpr uint64_t kTf32Dropped = 0x1fff;

// The floats of at most 8 bits, by their raw bits.
constexpr std::size_t kFirstTiny = static_cast<std::size_t>(Element::E4m3);
using TinyTables = std::array<std::array<double, 256>, 5>;
static_assert(static_cast<std::size_t>(Element::E2m1) - kFirstTiny == 4);

double tinyValue(const Properties& p, uint32_t raw) {
  const uint32_t mantissa = raw & ((1u << p.mantissaBits) - 1);
  const uint32_t top = (1u << p.exponentBits) - 1;
  const uint32_t exponent = raw >> p.mantissaBits & top;
  const bool negative = (raw >> (p.mantissaBits + p.exponentBits) & 1) != 0;
  const int leastExponent = 2 - (1 << (p.exponentBits - 1)) - p.mantissaBits;
  double magnitude;
  if (exponent == top && p.hasInfinity) {
    magnitude = mantissa == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == top && p.hasNaN && mantissa == (1u << p.mantissaBits) - 1) {
    magnitude = std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = std::ldexp(mantissa, leastExponent);
  } else {
    magnitude = std::ldexp(mantissa | 1u << p.mantissaBits, leastExponent + static_cast<int>(exponent) - 1);
  }
  return negative ? -magnitude : magnitude;
}

TinyTables makeTinyTables() {
  TinyTables tables;
  for (std::size_t type = 0; type < tables.size(); ++type) {
    const Properties& p = kProperties[kFirstTiny + type];
    const uint32_t mask = (1u << bits(static_cast<Element>(kFirstTiny + type))) - 1;
    for (uint32_t raw = 0; raw < 256; ++raw) tables[type][raw] = tinyValue(p, raw & mask);
  }
  return tables;
}

}  // namespace

bool isFloat(Element e) { return properties(e).kind == Kind::Float; }
bool isSigned(Element e) { return properties(e).kind != Kind::Unsigned; }

bool isTinyFloat(Element e) { return isFloat(e) && bits(e) <= 8; }

std::optional<Element> elementNamed(std::string_view name) {
  for (std::size_t i = 0; i < kProperties.size(); ++i) {
    if (kProperties[i].name == name) return static_cast<Element>(i);
  }
  return std::nullopt;
}

namespace {

template <typename F>
void convertAll(std::span<const uint64_t> raw, std::span<double> values, F convert) {
  for (std::size_t i = 0; i < raw.size(); ++i) values[i] = convert(raw[i]);
}

}  // namespace

void toDoubles(Element e, std::span<const uint64_t> raw, std::span<double> values) {
  switch (e) {
    case Element::F16:
      return convertAll(raw, values,
                        [](uint64_t x) { return static_cast<double>(widen<F16>(static_cast<uint16_t>(x))); });
    case Element::Bf16:
      return convertAll(raw, values,
                        [](uint64_t x) { return static_cast<double>(widen<Bf16>(static_cast<uint16_t>(x))); });
    case Element::Tf32:
      return convertAll(raw, values, [](uint64_t x) {
        return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(x & ~kTf32Dropped)));
      });
    case Element::F32:
      return convertAll(raw, values, [](uint64_t x) {
        return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(x)));
      });
    default: {
      static const TinyTables kTables = makeTinyTables();
      const std::array<double, 256>& table = kTables[static_cast<std::size_t>(e) - kFirstTiny];
      return convertAll(raw, values, [&](uint64_t x) { return table[x & 0xff]; });
    }
  }
}

double toDouble(Element e, uint64_t raw) {
  double value = 0.0;
  toDoubles(e, {&raw, 1}, {&value, 1});
  return value;
}

int64_t toInteger(Element e, uint64_t raw) {
  const unsigned unused = 64 - bits(e);
  return isSigned(e) ? static_cast<int64_t>(raw << unused) >> unused
                     : static_cast<int64_t>(raw << unused >> unused);
}

uint32_t roundToF32(double value) {
  return std::isnan(value) ? F32::kNaN : std::bit_cast<uint32_t>(static_cast<float>(value));
}

uint16_t roundToF16(double value) { return roundTo<F16>(value, Rounding::Nearest); }

}  // namespace ptxopt::exec::matrix
