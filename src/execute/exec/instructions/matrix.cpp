// mma.sync and wmma: products of matrices that the registers of a warp hold, and wmma's loads and stores.
//
// Layouts and arithmetic are those of exec/matrix. wmma.load and wmma.store access memory row by row (column by
// column for .col): each must lie in one allocation and be aligned to 16 bytes, or to its size where that is less.
// The address and the stride must be the same in all lanes. Declines sparse matrices.
#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>

#include "exec/instructions/matrix_operands.h"
#include "exec/instructions/memory_operand.h"
#include "exec/matrix/mma_scaled.h"
#include "exec/matrix/wmma.h"

namespace ptxopt::exec {

namespace {

using matrix::Lanes;

constexpr unsigned kMostRegisters = 8;  // of an operand
using Fragment = std::array<Lanes, kMostRegisters>;

struct MmaOperands {
  matrix::MmaShape shape;
  std::vector<Arg> d, a, b, c;
};

MmaOperands mmaOperands(Binder& b, const matrix::MmaShape& shape) {
  MmaOperands o;
  o.shape = shape;
  const auto width = [](const matrix::Operand& x) { return x.fragment().registerBits; };
  o.d = matrixDests(b, 0, shape.d.registers(), width(shape.d), "D");
  o.a = matrixSources(b, 1, shape.a.registers(), width(shape.a), "A");
  o.b = matrixSources(b, 2, shape.b.registers(), width(shape.b), "B");
  o.c = matrixSources(b, 3, shape.c.registers(), width(shape.c), "C");
  for (const std::size_t count : {o.d.size(), o.a.size(), o.b.size(), o.c.size()})
    if (count > kMostRegisters) b.unsupported(fmt::format("more than {} registers", kMostRegisters));
  return o;
}

struct Fragments {
  Fragment a, b, c, d;
};

void readOperands(const Warp& w, const MmaOperands& o, Fragments& f) {
  readRegisters(w, o.a, f.a);
  readRegisters(w, o.b, f.b);
  readRegisters(w, o.c, f.c);
}

Step multiplyMatrices(Warp& w, const Op& op, Mask active) {
  requireWholeWarp(w, active);
  const MmaOperands& o = *static_cast<const MmaOperands*>(op.data);
  Fragments f;
  readOperands(w, o, f);
  matrix::multiply(o.shape, f.a, f.b, f.c, f.d);
  writeRegisters(w, o.d, f.d);
  return Step::Next;
}

// ---- block scaling ----

struct ScaleArgs {
  Arg data, byteId, threadId;
};

struct ScaledOperands {
  matrix::ScaledMmaShape shape;
  MmaOperands matrices;
  ScaleArgs a, b;
};

matrix::ScaleOperand readScale(const Warp& w, const ScaledOperands& o, const ScaleArgs& args,
                               matrix::Matrix which) {
  matrix::ScaleOperand scale;
  readRegisters(w, {&args.data, 1}, {&scale.data, 1});
  scale.byteId = static_cast<unsigned>(uniformValue(w, args.byteId, "a byte selector"));
  scale.threadId = static_cast<unsigned>(uniformValue(w, args.threadId, "a thread selector"));
  if (!matrix::areSelectors(o.shape, which, scale))
    throw LaneFault{FaultKind::Unsupported, 0,
                    fmt::format("the scale selectors {{{}, {}}} of {} are undefined behaviour", scale.byteId,
                                scale.threadId, which == matrix::Matrix::A ? "A" : "B")};
  return scale;
}

Step multiplyScaledMatrices(Warp& w, const Op& op, Mask active) {
  requireWholeWarp(w, active);
  const ScaledOperands& o = *static_cast<const ScaledOperands*>(op.data);
  Fragments f;
  readOperands(w, o.matrices, f);
  const matrix::ScaleOperand scaleA = readScale(w, o, o.a, matrix::Matrix::A),
                             scaleB = readScale(w, o, o.b, matrix::Matrix::B);
  matrix::multiplyScaled(o.shape, f.a, scaleA, f.b, scaleB, f.c, f.d);
  writeRegisters(w, o.matrices.d, f.d);
  return Step::Next;
}

ScaleArgs scaleArgs(Binder& b, std::size_t operand) {
  ScaleArgs s;
  s.data = b.source(operand, ScalarType::b32);
  const std::vector<Arg> ids = b.sources(operand + 1, ScalarType::b16);
  if (ids.size() != 2) b.unsupported("scale selectors that are not two");
  s.byteId = ids[0], s.threadId = ids[1];
  return s;
}

// ---- wmma.load and wmma.store ----

struct MoveOperands {
  // Where an element lies: in which row (or column), and how many bits from its beginning.
  struct Place {
    uint8_t line;
    uint16_t bit;
  };

  matrix::WmmaMove move;
  unsigned lines = 0, lineBytes = 0;
  std::vector<Place> places;  // by lane and then element
  std::vector<Arg> registers;
  Location address;
  bool hasStride = false;
  Arg stride;
};

constexpr unsigned kMostLines = 32;

// The beginnings of the rows or columns.
void findLines(Warp& w, const MoveOperands& o, std::array<std::byte*, kMostLines>& lines) {
  const uint64_t base = uniformValue(w, o.address.base, "the address") + static_cast<uint64_t>(o.address.offset);
  if ((base & ~(kWindowSize - 1)) == kLocalWindow)
    throw LaneFault{FaultKind::OutOfBounds, 0, "a matrix in local memory"};
  const uint64_t stride = o.hasStride ? uniformValue(w, o.stride, "the stride") : o.move.defaultStride();
  const uint64_t strideBits = stride * matrix::bits(o.move.fragment.element);
  const unsigned alignment = std::bit_floor(std::min(16u, o.lineBytes));
  for (unsigned i = 0; i < o.lines; ++i) {
    if (i * strideBits % 8 != 0)
      throw LaneFault{FaultKind::Misaligned, 0,
                      fmt::format("a stride of {} elements puts rows between bytes", stride)};
    const uint64_t address = base + i * strideBits / 8;
    lines[i] = w.memory(o.address.space, 0, o.address.base.bytes == 4 ? static_cast<uint32_t>(address) : address,
                        o.lineBytes, alignment, o.move.isStore ? Access::Write : Access::Read);
  }
}

uint64_t loadBits(const std::byte* line, unsigned bit, unsigned count) {
  uint64_t value = 0;
  std::memcpy(&value, line + bit / 8, count <= 8 ? 1 : count / 8);
  return count < 8 ? value >> bit % 8 & ((1u << count) - 1) : value;
}

Step loadMatrix(Warp& w, const Op& op, Mask active) {
  requireWholeWarp(w, active);
  const MoveOperands& o = *static_cast<const MoveOperands*>(op.data);
  std::array<std::byte*, kMostLines> lines;
  findLines(w, o, lines);
  Fragment registers{};
  const matrix::FragmentShape& f = o.move.fragment;
  const unsigned width = matrix::bits(f.element), perRegister = f.perRegister();
  const MoveOperands::Place* place = o.places.data();
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    for (unsigned i = 0; i < f.elementsPerLane; ++i, ++place)
      registers[i / perRegister][lane] |= loadBits(lines[place->line], place->bit, width) << f.shiftOf(i);
  }
  writeRegisters(w, o.registers, registers);
  return Step::Next;
}

Step storeMatrix(Warp& w, const Op& op, Mask active) {
  requireWholeWarp(w, active);
  const MoveOperands& o = *static_cast<const MoveOperands*>(op.data);
  std::array<std::byte*, kMostLines> lines;
  findLines(w, o, lines);
  Fragment registers;
  readRegisters(w, o.registers, registers);
  const matrix::FragmentShape& f = o.move.fragment;
  const unsigned bytes = matrix::bits(f.element) / 8, perRegister = f.perRegister();
  const MoveOperands::Place* place = o.places.data();
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    for (unsigned i = 0; i < f.elementsPerLane; ++i, ++place) {
      const uint64_t raw = f.extract(registers[i / perRegister][lane], i);
      std::memcpy(lines[place->line] + place->bit / 8, &raw, bytes);
    }
  }
  return Step::Next;
}

void bindMove(Binder& b) {
  const Space space = b.has("global")                           ? Space::Global
                      : b.has("shared") || b.has("shared::cta") ? Space::Shared
                                                                : Space::Generic;
  const auto move = matrix::wmmaMove(takeComponents(b));
  if (!move) return b.unsupported("this shape, type and layout");
  MoveOperands o;
  o.move = *move;
  const matrix::FragmentShape& f = move->fragment;
  const bool byRows = move->layout == matrix::Layout::Row;
  const unsigned width = matrix::bits(f.element);
  o.lines = byRows ? f.rows : f.columns;
  o.lineBytes = (byRows ? f.columns : f.rows) * width / 8;
  if (o.lines > kMostLines || f.registers() > kMostRegisters) b.unsupported("this shape");
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    for (unsigned i = 0; i < f.elementsPerLane; ++i) {
      const matrix::Coordinate at = f.elementOf(lane, i);
      const unsigned line = byRows ? at.row : at.column, inLine = byRows ? at.column : at.row;
      o.places.push_back({static_cast<uint8_t>(line), static_cast<uint16_t>(inLine * width)});
    }
  }
  const std::size_t matrixAt = move->isStore ? 1 : 0, addressAt = 1 - matrixAt;
  o.registers = move->isStore ? matrixSources(b, matrixAt, f.registers(), f.registerBits, "the matrix")
                              : matrixDests(b, matrixAt, f.registers(), f.registerBits, "the matrix");
  o.address = Location(b.address(addressAt, space));
  if (o.address.space != Space::Global && o.address.space != Space::Shared && o.address.space != Space::Generic)
    b.unsupported("a matrix in this state space");
  o.hasStride = b.operands() > 2;
  if (o.hasStride) o.stride = b.source(2, ScalarType::u32);
  b.data(std::move(o));
  b.handler(move->isStore ? storeMatrix : loadMatrix);
}

void bindProduct(Binder& b, const std::optional<matrix::MmaShape>& shape) {
  if (!shape) b.unsupported("this combination of shape, types and modifiers");
  b.data(mmaOperands(b, *shape));
  b.handler(multiplyMatrices);
}

}  // namespace

void bindMma(Binder& b) {
  refuseSparse(b);
  bindWholeWarp(b);
  const bool isScaled = b.has("block_scale");
  const std::vector<std::string_view> components = takeComponents(b);
  if (!isScaled) return bindProduct(b, matrix::mmaShape(components));
  const auto shape = matrix::scaledMmaShape(components);
  if (!shape) b.unsupported("this combination of shape, types and modifiers");
  ScaledOperands o;
  o.shape = *shape;
  o.matrices = mmaOperands(b, shape->mma);
  o.a = scaleArgs(b, 4);
  o.b = scaleArgs(b, 6);
  b.data(std::move(o));
  b.handler(multiplyScaledMatrices);
}

void bindWmma(Binder& b) {
  bindWholeWarp(b);
  if (!b.has("mma")) return bindMove(b);
  bindProduct(b, matrix::wmmaShape(takeComponents(b)));
}

}  // namespace ptxopt::exec
