// Addresses in shared memory are computed as offsets of 16-byte units, then swizzled by exclusive or. Each of the four
// warps multiplies its 16 rows on its own.
#include "exec/matrix/wgmma.h"

#include <algorithm>

#include "exec/matrix/components.h"

namespace ptxopt::exec::matrix {

namespace {

constexpr unsigned kUnitBytes = 16;
constexpr uint32_t kFieldMask = 0x3fff;
// Bits 14-15, 30-31, 46-48 and 52-61.
constexpr uint64_t kReserved = uint64_t{3} << 14 | uint64_t{3} << 30 | uint64_t{7} << 46 | uint64_t{0x3ff} << 52;

// Types d, a, b; the modifiers; the depth of one instruction.
bool fitTogetherInWgmma(const Components& c) {
  const Element d = c.types[0], a = c.types[1], b = c.types[2];
  const bool isNarrowResult = d == Element::F16, isWideResult = d == Element::F32;
  const bool isPlain = !c.satfinite && !c.popc && !c.bitOperation;
  const auto isFp8 = [](Element e) { return e == Element::E4m3 || e == Element::E5m2; };
  const auto isByte = [](Element e) { return e == Element::S8 || e == Element::U8; };
  if (isFp8(a)) return isFp8(b) && (isNarrowResult || isWideResult) && isPlain && c.k == 32;
  if (isByte(a)) return isByte(b) && d == Element::S32 && !c.popc && !c.bitOperation && c.k == 32;
  if (a != b) return false;
  switch (a) {
    case Element::F16: return (isNarrowResult || isWideResult) && isPlain && c.k == 16;
    case Element::Bf16: return isWideResult && isPlain && c.k == 16;
    case Element::Tf32: return isWideResult && isPlain && c.k == 8;
    case Element::B1:
      return d == Element::S32 && c.popc && c.bitOperation == BitOperation::And && !c.satfinite && c.k == 256;
    default: return false;
  }
}

// Floats take every multiple of 8 to 256; integers 8, 24 and the multiples of 16.
bool isWidth(unsigned n, bool forFloats) {
  if (n == 0 || n > 256 || n % 8 != 0) return false;
  return forFloats || n % 16 == 0 || n == 8 || n == 24;
}

uint64_t signBit(Element e) { return uint64_t{1} << (bits(e) - 1); }

std::vector<uint64_t> negated(Element e, std::span<const uint64_t> matrix) {
  std::vector<uint64_t> result(matrix.begin(), matrix.end());
  for (uint64_t& raw : result) raw ^= signBit(e);
  return result;
}

}  // namespace

std::optional<WgmmaShape> wgmmaShape(std::span<const std::string_view> components) {
  const auto c = sortComponents(components);
  if (!c || !c->layouts.empty() || c->types.size() != 3 || c->m != 64 || c->kindF8f6f4 || c->rounding) {
    return std::nullopt;
  }
  const bool areKnown = std::all_of(c->words.begin(), c->words.end(), [](std::string_view word) {
    return word == "mma_async" || word == "sync" || word == "aligned";
  });
  if (!areKnown || !fitTogetherInWgmma(*c) || !isWidth(c->n, isFloat(c->types[1]))) return std::nullopt;
  WgmmaShape shape;
  shape.n = c->n, shape.k = c->k;
  Arithmetic& how = shape.arithmetic;
  how.d = how.c = c->types[0];
  how.a = c->types[1], how.b = c->types[2];
  how.satfinite = c->satfinite;
  how.bitOperation = BitOperation::And;
  shape.a = Operand(tiledFragment(Matrix::A, how.a, kRowsPerWarp, c->k, bits(how.a)));
  shape.d = Operand(tiledFragment(Matrix::D, how.d, kRowsPerWarp, c->n, bits(how.d)));
  return shape;
}

std::optional<MatrixDescriptor> decodeDescriptor(uint64_t descriptor) {
  if ((descriptor & kReserved) != 0) return std::nullopt;
  const auto field = [&](unsigned shift) {
    return static_cast<uint32_t>(descriptor >> shift & kFieldMask) * kUnitBytes;
  };
  constexpr unsigned kUnits[] = {1, 8, 4, 2};
  MatrixDescriptor d;
  d.start = field(0), d.leading = field(16), d.stride = field(32);
  d.baseOffset = static_cast<unsigned>(descriptor >> 49 & 7);
  d.swizzleUnits = kUnits[descriptor >> 62];
  return d;
}

uint32_t MatrixDescriptor::addressOf(Major major, unsigned elementBits, unsigned mn, unsigned k) const {
  constexpr unsigned kUnitBits = kUnitBytes * 8;
  const unsigned w = swizzleUnits;
  const unsigned along = (major == Major::K ? k : mn) * elementBits;  // bits along the contiguous dimension
  const unsigned unit = along / kUnitBits;
  const unsigned inUnit = along % kUnitBits / 8;
  uint32_t offset;  // of the unit, in bytes
  if (major == Major::K) {
    offset = mn % 8 * w * kUnitBytes + mn / 8 * stride + unit * (w == 1 ? leading : kUnitBytes);
  } else if (w == 1) {
    offset = unit * stride + k % 8 * kUnitBytes + k / 8 * leading;
  } else {
    offset = unit % w * kUnitBytes + unit / w * leading + k % 8 * w * kUnitBytes + k / 8 * stride;
  }
  const uint32_t linear = start + offset;
  const uint32_t line = (linear >> 7) - baseOffset;
  return (linear ^ (line & (w - 1)) << 4) + inUnit;
}

void multiplyWarp(const WgmmaShape& shape, const WgmmaScales& scales, std::span<const uint64_t> a,
                  std::span<const uint64_t> b, std::span<Lanes> d) {
  const Arithmetic& how = shape.arithmetic;
  const std::vector<uint64_t> left = scales.negateA ? negated(how.a, a) : std::vector<uint64_t>(a.begin(), a.end());
  const std::vector<uint64_t> right =
      scales.negateB ? negated(how.b, b) : std::vector<uint64_t>(b.begin(), b.end());
  std::vector<uint64_t> sum(shape.d.size());
  if (scales.accumulate) shape.d.gather(d, sum);
  multiplyAdd(how, kRowsPerWarp, shape.n, shape.k / elementsInWord(how.a), left, right, sum, sum);
  shape.d.scatter(sum, d);
}

}  // namespace ptxopt::exec::matrix
