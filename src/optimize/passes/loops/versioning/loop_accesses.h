// What a loop of one block loads from and stores to global memory, in the order of the text, and where.
//
// The address of an access in round k is start + k * step, modulo 2^64, by scalar evolution. Where a counter of 32 bits is
// extended whose next round may wrap, it is that only if the checks of its group hold, which say that it does not wrap.
// Accesses whose steps are the same and whose starts differ by a constant are a group. A group's bytes, over all rounds, lie
// in one range that is known before the loop, if the checks of the group hold.
// Loads of memory that nobody writes (.nc), and accesses of other spaces, which global memory does not overlap, are not among
// them. Generic ones are, with an address that is not known.
#pragma once

#include <map>

#include "passes/loops/versioning/round_bound.h"
#include "passes/manager/pass.h"

namespace ptxopt {

struct LoopAccess {
  InstrId id;
  bool isStore = false, isGuarded = false;
  unsigned bytes = 0;
  uint32_t memory = 0;  // operand `[..]`
  ExprId start, step;   // none: not known
  std::size_t group = 0;
  int64_t offset = 0;  // in the group
  bool isKnown() const { return start.valid(); }
};

struct AccessGroup {
  ExprId start, step;         // of offset 0
  int64_t low = 0, high = 0;  // offsets of the first byte, and after the last, in one round
  RunTimeChecks wraps;        // that its addresses are what they are said to be
};

// The bytes of a group in all rounds: [low, low + size), modulo 2^64; size is below 2^63.
struct AccessRange {
  ExprId low, size;
  RunTimeChecks checks;
};

class LoopAccesses {
 public:
  LoopAccesses(const Function& f, PassContext& context, LoopId l, const RoundBound& bound)
      : f_(f), context_(context), evolution_(context.analyses.scalarEvolution()), loop_(l), bound_(bound) {}

  // Adds an access; they come in order.
  void add(InstrId id);
  std::span<const LoopAccess> all() const { return all_; }
  const AccessGroup& group(std::size_t g) const { return groups_[g]; }
  std::size_t groups() const { return groups_.size(); }
  // None where the bytes of a group are not known before the loop.
  std::optional<AccessRange> range(std::size_t g) const;
  // How far `b` begins after `a`, in one round or, with `isRoundBefore`, where `b` is that of the round before; none
  // where that is not a constant.
  std::optional<uint64_t> distance(const LoopAccess& a, const LoopAccess& b, bool isRoundBefore) const;

 private:
  ExprId affine(ExprId e, RunTimeChecks& wraps) const;
  ExprId affineExtension(ExprId e, RunTimeChecks& wraps) const;
  void join(LoopAccess& access, const RunTimeChecks& wraps);

  const Function& f_;
  PassContext& context_;
  ScalarEvolution& evolution_;
  const LoopId loop_;
  const RoundBound& bound_;
  std::vector<LoopAccess> all_;
  std::vector<AccessGroup> groups_;
};

}  // namespace ptxopt
