// A table lists the kinds with their block counts and scale types. Elements are multiplied by their scales as doubles,
// which is exact, before the products are summed.
#include "exec/matrix/mma_scaled.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "exec/matrix/components.h"

namespace ptxopt::exec::matrix {

namespace {

struct ScaledKind {
  std::string_view name;
  std::string_view blocks;
  std::string_view scale;
  unsigned count;
  bool mayOmitBlocks;
  unsigned k;
};

constexpr ScaledKind kScaledKinds[] = {
    {"kind::mxf8f6f4", "scale_vec::1X", "ue8m0", 1, true, 32},
    {"kind::mxf4", "scale_vec::2X", "ue8m0", 2, true, 64},
    {"kind::mxf4nvf4", "scale_vec::2X", "ue8m0", 2, false, 64},
    {"kind::mxf4nvf4", "scale_vec::4X", "ue4m3", 4, false, 64},
};

// Whether the words of `c` are those of `kind` and nothing more.
bool isKind(const Components& c, const ScaledKind& kind) {
  const bool hasBlocks = c.has(kind.blocks);
  if (!c.has(kind.name) || !c.has("block_scale") || !c.has(kind.scale) || (!hasBlocks && !kind.mayOmitBlocks)) {
    return false;
  }
  const auto isKnown = [&](std::string_view word) {
    return word == kind.name || word == "block_scale" || word == kind.scale || word == kind.blocks ||
           word == "sync" || word == "aligned";
  };
  return std::all_of(c.words.begin(), c.words.end(), isKnown);
}

double scaleValue(Scale type, uint64_t byte) {
  if (type == Scale::Ue4m3) return toDouble(Element::E4m3, byte & 0x7f);
  if (byte == 0xff) return std::numeric_limits<double>::quiet_NaN();
  return std::ldexp(1.0, static_cast<int>(byte) - 127);
}

unsigned laneOf(Matrix matrix, unsigned line, unsigned threadId) {
  return matrix == Matrix::A ? 4 * (line % 8) + 2 * threadId + line / 8 : 4 * line + threadId;
}

// The values of a row-major A, or a column-major B, times their scales.
std::vector<double> scaled(const ScaledMmaShape& shape, const Operand& operand, std::span<const Lanes> registers,
                           const ScaleOperand& scale) {
  const Matrix matrix = operand.fragment().matrix;
  std::vector<uint64_t> raw(operand.size());
  operand.gather(registers, raw);
  const unsigned k = shape.mma.k, blockSize = k / shape.blocks;
  std::vector<double> values(raw.size());
  for (unsigned i = 0; i < raw.size(); ++i) {
    const uint64_t bytes = scale.data[laneOf(matrix, i / k, scale.threadId)];
    const uint64_t byte = bytes >> (8 * (scale.byteId + i % k / blockSize)) & 0xff;
    values[i] = toDouble(operand.fragment().element, raw[i]) * scaleValue(shape.scale, byte);
  }
  return values;
}

}  // namespace

std::optional<ScaledMmaShape> scaledMmaShape(std::span<const std::string_view> components) {
  const auto c = sortComponents(components);
  if (!c || c->types.size() != 4 || c->layouts.size() != 2 || c->m != 16 || c->n != 8) return std::nullopt;
  if (c->layouts[0] != Layout::Row || c->layouts[1] != Layout::Column) return std::nullopt;
  if (c->satfinite || c->popc || c->kindF8f6f4 || c->bitOperation || c->rounding) return std::nullopt;
  const auto kind = std::find_if(std::begin(kScaledKinds), std::end(kScaledKinds),
                                 [&](const ScaledKind& k) { return isKind(*c, k); });
  if (kind == std::end(kScaledKinds) || c->k != kind->k) return std::nullopt;
  const Element a = c->types[1], b = c->types[2];
  if (c->types[0] != Element::F32 || c->types[3] != Element::F32 || !isTinyFloat(a) || !isTinyFloat(b)) {
    return std::nullopt;
  }
  const bool areBytes = c->k == 32;
  if (!areBytes && (a != Element::E2m1 || b != Element::E2m1)) return std::nullopt;
  ScaledMmaShape shape;
  shape.scale = kind->scale == "ue4m3" ? Scale::Ue4m3 : Scale::Ue8m0;
  shape.blocks = kind->count;
  MmaShape& mma = shape.mma;
  mma.m = c->m, mma.n = c->n, mma.k = c->k;
  mma.arithmetic.a = a, mma.arithmetic.b = b;
  const unsigned container = areBytes ? 8 : 4;
  mma.a = Operand(tiledFragment(Matrix::A, a, c->m, c->k, container));
  mma.b = Operand(tiledFragment(Matrix::B, b, c->k, c->n, container));
  mma.c = Operand(tiledFragment(Matrix::C, Element::F32, c->m, c->n, 32));
  mma.d = Operand(tiledFragment(Matrix::D, Element::F32, c->m, c->n, 32));
  return shape;
}

bool areSelectors(const ScaledMmaShape& shape, Matrix matrix, const ScaleOperand& scale) {
  return scale.threadId < (matrix == Matrix::A ? 2u : 4u) && scale.byteId < 4 && scale.byteId % shape.blocks == 0;
}

void multiplyScaled(const ScaledMmaShape& shape, std::span<const Lanes> a, const ScaleOperand& scaleA,
                    std::span<const Lanes> b, const ScaleOperand& scaleB, std::span<const Lanes> c,
                    std::span<Lanes> d) {
  const std::vector<double> left = scaled(shape, shape.mma.a, a, scaleA),
                            right = scaled(shape, shape.mma.b, b, scaleB);
  std::vector<uint64_t> sum(shape.mma.c.size());
  shape.mma.c.gather(c, sum);
  multiplyAddValues(Element::F32, Element::F32, shape.mma.m, shape.mma.n, shape.mma.k, left, right, sum, sum);
  shape.mma.d.scatter(sum, d);
}

}  // namespace ptxopt::exec::matrix
