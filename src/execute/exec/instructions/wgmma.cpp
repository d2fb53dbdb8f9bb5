// wgmma: products of matrices by four warps, asynchronous. Forms, layouts and descriptors: exec/matrix/wgmma.h.
//
// Each warp computes its own 16 rows of D by itself; that the three others do their part is left to them, but the
// block must have them. What is asynchronous is modelled so that mistakes show:
//   - mma_async reads A and B at once, and remembers what it read of shared memory;
//   - the product is computed, and the registers of D are read and written, when a wait_group demands it, group by
//     group in order; until then they keep their old values;
//   - shared memory that is no longer what was read is then an error: somebody wrote it while it was in use;
//   - groups that nobody waits for are never computed: nobody may look at their results.
// fence does nothing: what it orders is in order here. Descriptors, scale-d and addresses must be the same in all
// lanes. Declines .sp, and waiting in another function than the one with the mma_async.
#include "exec/matrix/wgmma.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>

#include "exec/block.h"
#include "exec/instructions/matrix_operands.h"

namespace ptxopt::exec {

using matrix::Lanes;
using matrix::Matrix;

namespace wgmma {

constexpr unsigned kUnitBytes = 16;
using Unit = std::array<std::byte, kUnitBytes>;

struct WgmmaOperands {
  matrix::WgmmaShape shape;
  std::vector<Arg> d, a;  // `a` only when it is in registers
  Arg aDescriptor, bDescriptor, accumulate;
  bool aInRegisters = false;
  bool negateA = false, negateB = false;
  matrix::Major majorA = matrix::Major::K, majorB = matrix::Major::K;
};

// What was read of shared memory, in pieces of 16 bytes.
class SharedSnapshot {
 public:
  explicit SharedSnapshot(Warp& w) : warp_(w) { recent_.fill(kNone); }

  uint32_t read(uint32_t address, unsigned bytes) {
    // Neighbours are read one after the other, or in turns with a few more: remember some.
    uint32_t& slot = recent_[address / kUnitBytes % kRecent];
    if (slot == kNone || units_[slot].address != address / kUnitBytes * kUnitBytes) {
      slot = static_cast<uint32_t>(units_.size());
      Piece p;
      p.address = address / kUnitBytes * kUnitBytes;
      p.at = warp_.memory(Space::Shared, 0, p.address, kUnitBytes, kUnitBytes, Access::Read);
      std::memcpy(p.bytes.data(), p.at, kUnitBytes);
      units_.push_back(p);
    }
    uint32_t value = 0;
    std::memcpy(&value, units_[slot].bytes.data() + address % kUnitBytes, bytes);
    return value;
  }

  struct Piece {
    uint32_t address;
    const std::byte* at;
    Unit bytes;
  };
  std::vector<Piece> take() { return std::move(units_); }

 private:
  static constexpr unsigned kRecent = 256;
  static constexpr uint32_t kNone = UINT32_MAX;
  Warp& warp_;
  std::vector<Piece> units_;
  std::array<uint32_t, kRecent> recent_;
};

struct PendingProduct {
  const WgmmaOperands* operands;
  const Frame* frame;  // whose registers the operands are
  matrix::WgmmaScales scales;
  std::vector<uint64_t> a, b;
  std::vector<SharedSnapshot::Piece> pieces;
  uint64_t group = 0;
};

}  // namespace wgmma

struct WgmmaGroups {
  std::deque<wgmma::PendingProduct> products;
  uint64_t group = 0;  // the one that is being made; all before are committed
};

namespace {

using namespace wgmma;

WgmmaGroups& groupsOf(Warp& w) {
  if (w.wgmmaGroups == nullptr) w.wgmmaGroups = std::make_shared<WgmmaGroups>();
  return *w.wgmmaGroups;
}

void requireWarpgroup(Warp& w, Mask active) {
  requireWholeWarp(w, active);
  const std::size_t first = w.index() / matrix::kWarpgroupWarps * matrix::kWarpgroupWarps;
  auto& warps = w.block().warps();
  if (first + matrix::kWarpgroupWarps > warps.size() ||
      warps[first + matrix::kWarpgroupWarps - 1].started() != kAllLanes)
    throw LaneFault{
        FaultKind::Deadlock, 0,
        fmt::format("the warpgroup of warp {} has fewer than 128 threads: all four warps must execute it",
                    w.index())};
}

std::vector<uint64_t> readMatrix(Warp& w, SharedSnapshot& shared, const matrix::WgmmaShape& shape, Matrix which,
                                 const Arg& descriptor, matrix::Major major) {
  const uint64_t raw = uniformValue(w, descriptor, "a matrix descriptor");
  const auto d = matrix::decodeDescriptor(raw);
  if (!d)
    throw LaneFault{FaultKind::Unsupported, 0,
                    fmt::format("the matrix descriptor {:#018x} has reserved bits set", raw)};
  const bool isA = which == Matrix::A;
  const unsigned first = isA ? w.index() % matrix::kWarpgroupWarps * matrix::kRowsPerWarp : 0;
  return matrix::loadShared(shape, which, *d, major, first, isA ? matrix::kRowsPerWarp : shape.n,
                            [&](uint32_t address, unsigned bytes) { return shared.read(address, bytes); });
}

Step issueProduct(Warp& w, const Op& op, Mask active) {
  requireWarpgroup(w, active);
  const WgmmaOperands& o = *static_cast<const WgmmaOperands*>(op.data);
  const Mask accumulate = w.predicate(o.accumulate);
  if (accumulate != 0 && accumulate != kAllLanes)
    throw LaneFault{FaultKind::Unsupported, 0, "scale-d is not the same in all lanes; that is undefined behaviour"};
  PendingProduct p;
  p.operands = &o;
  p.frame = w.path().frame;
  p.scales = {accumulate != 0, o.negateA, o.negateB};
  SharedSnapshot shared(w);
  if (o.aInRegisters) {
    std::vector<Lanes> registers(o.a.size());
    readRegisters(w, o.a, registers);
    p.a.resize(o.shape.a.size());
    o.shape.a.gather(registers, p.a);
  } else {
    p.a = readMatrix(w, shared, o.shape, Matrix::A, o.aDescriptor, o.majorA);
  }
  p.b = readMatrix(w, shared, o.shape, Matrix::B, o.bDescriptor, o.majorB);
  p.pieces = shared.take();
  WgmmaGroups& groups = groupsOf(w);
  p.group = groups.group;
  groups.products.push_back(std::move(p));
  return Step::Next;
}

void complete(Warp& w, const PendingProduct& p) {
  if (p.frame != w.path().frame)
    throw LaneFault{FaultKind::Unsupported, 0,
                    "wgmma.wait_group in another function than the wgmma.mma_async that it waits for"};
  for (const SharedSnapshot::Piece& piece : p.pieces) {
    if (std::memcmp(piece.at, piece.bytes.data(), kUnitBytes) == 0) continue;
    throw LaneFault{FaultKind::Race, 0,
                    fmt::format("shared memory at {:#x} was written after the wgmma.mma_async that reads it and "
                                "before this wait",
                                piece.address)};
  }
  const WgmmaOperands& o = *p.operands;
  std::vector<Lanes> d(o.d.size());
  if (p.scales.accumulate) readRegisters(w, o.d, d);
  matrix::multiplyWarp(o.shape, p.scales, p.a, p.b, d);
  writeRegisters(w, o.d, d);
}

Step commitGroup(Warp& w, const Op&, Mask active) {
  requireWarpgroup(w, active);
  ++groupsOf(w).group;
  return Step::Next;
}

// data: how many groups may stay pending.
Step waitGroup(Warp& w, const Op& op, Mask active) {
  requireWarpgroup(w, active);
  const uint64_t keep = *static_cast<const uint64_t*>(op.data);
  WgmmaGroups& groups = groupsOf(w);
  while (!groups.products.empty() && groups.products.front().group + keep < groups.group) {
    complete(w, groups.products.front());
    groups.products.pop_front();
  }
  return Step::Next;
}

Step fence(Warp& w, const Op&, Mask active) {
  requireWarpgroup(w, active);
  return Step::Next;
}

bool scaleIsNegative(Binder& b, std::size_t operand) {
  const int64_t value = b.immediate(operand);
  if (value != 1 && value != -1) b.unsupported(fmt::format("a scale of {}", value));
  return value < 0;
}

matrix::Major majorness(Binder& b, std::size_t operand) {
  const int64_t value = b.immediate(operand);
  if (value != 0 && value != 1) b.unsupported(fmt::format("a transposition of {}", value));
  return value == 0 ? matrix::Major::K : matrix::Major::Mn;
}

void bindProduct(Binder& b) {
  refuseSparse(b);
  const auto shape = matrix::wgmmaShape(takeComponents(b));
  if (!shape) return b.unsupported("this combination of shape, types and modifiers");
  WgmmaOperands o;
  o.shape = *shape;
  o.d = matrixDests(b, 0, shape->d.registers(), 32, "D");
  o.aInRegisters = b.shape(1) == Shape::Vector;
  if (o.aInRegisters)
    o.a = matrixSources(b, 1, shape->a.registers(), 32, "A");
  else
    o.aDescriptor = b.source(1, ScalarType::b64);
  o.bDescriptor = b.source(2, ScalarType::b64);
  o.accumulate = b.predicate(3);
  std::size_t next = 4;
  if (shape->hasScale()) {
    o.negateA = scaleIsNegative(b, next++);
    o.negateB = scaleIsNegative(b, next++);
  }
  if (shape->hasMajorness()) {
    if (!o.aInRegisters) o.majorA = majorness(b, next++);
    o.majorB = majorness(b, next++);
  }
  b.data(std::move(o));
  b.handler(issueProduct);
}

}  // namespace

void bindWgmma(Binder& b) {
  bindWholeWarp(b);
  if (b.has("mma_async")) return bindProduct(b);
  b.take("sync");
  b.take("aligned");
  if (b.take("fence")) return b.handler(fence);
  if (b.take("commit_group")) return b.handler(commitGroup);
  if (!b.take("wait_group")) return;
  const int64_t keep = b.immediate(0);
  if (keep < 0) b.unsupported("a negative number of groups");
  b.data(static_cast<uint64_t>(keep));
  b.handler(waitGroup);
}

}  // namespace ptxopt::exec
