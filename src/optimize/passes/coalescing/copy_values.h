// Which registers hold the same value, because one was copied from the other.
//
// Every value of every candidate register (live_range.h) gets a root: the value that it is a copy of, through any
// number of copies, and through phis all of whose sides are copies of one value. Where two registers are live and
// their values have one root, they hold the same bits; so they do not stand in each other's way.
// Algorithm: the partition is optimistic. In reverse post-order of their blocks each value takes the root that its
// sides known so far agree on; a phi whose other sides turn out to differ is a root, and all begins anew with it.
// A guarded copy has the root of its source where the old value has it, too, and where a copy under the opposite of
// its guard comes directly before: `@p mov a, x; @!p mov a, x`.
// A copy may read its source before it is made, through a register that holds the source packed (Copy::readAt): the
// instruction that read it dominates the copy, and nothing between them is executed a second time without both.
// Sound because values are in strict SSA form: equal roots mean that the later of two definitions still saw what
// the earlier one left (Boissinot et al., "Revisiting out-of-SSA translation for correctness, code quality, and
// efficiency", 2009, section III).
// Cost: linear in the values of candidates and the edges into their phis, times how often loops inside loops find
// new roots: the depth of the nest, mostly.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analysis/dataflow/copies.h"
#include "analysis/dataflow/live_intervals.h"
#include "analysis/manager/analyses.h"

namespace ptxopt {

// For a small function, the live intervals that passes share; for a large one, those of the candidates, made here.
class CandidateIntervals {
 public:
  CandidateIntervals(const Function& f, Analyses& analyses, std::span<const RegId> candidates);
  const LiveIntervals& operator*() const { return own_ ? *own_ : *shared_; }

 private:
  std::optional<LiveIntervals> own_;
  const LiveIntervals* shared_ = nullptr;
};

class CopyValues {
 public:
  // A value of a register as one number, dense over the candidates.
  using Number = uint32_t;
  static constexpr Number kNone = UINT32_MAX;

  CopyValues(const Function& function, const Cfg& cfg, const SlotIndexes& slots, const LiveIntervals& intervals,
             std::span<const RegId> candidates, std::span<const Copy> copies);

  std::size_t size() const { return root_.size(); }
  // kNone when the register is not a candidate.
  Number number(RegId r, ValueId v) const { return first_[r.value] == kNone ? kNone : first_[r.value] + v.value; }
  Number firstOf(RegId r) const { return first_[r.value]; }
  Number root(Number n) const { return root_[n]; }
  RegId registerOf(Number n) const { return register_[n]; }
  // The copy that defines a value, or nullptr.
  const Copy* copyOf(Number n) const { return definedBy_[n]; }
  const LiveValue& operator[](Number n) const {
    return intervals_[register_[n]][ValueId(n - first_[register_[n].value])];
  }
  // The values that a phi merges, and the one that a partial definition keeps something of.
  std::span<const Number> sources(Number n) const {
    return {sources_.data() + sourceStart_[n], sourceStart_[n + 1] - sourceStart_[n]};
  }

 private:
  void findCopies(std::span<const Copy> copies);
  void findSources();
  Number evaluate(Number n) const;
  Number meet(Number a, Number b, Number self) const;
  bool completes(Number n, const Copy& copy) const;

  const Function& f_;
  const Cfg& cfg_;
  const SlotIndexes& slots_;
  const LiveIntervals& intervals_;
  std::vector<Number> first_;           // by RegId
  std::vector<RegId> register_;         // by Number
  std::vector<Number> root_;            // by Number; kNone while nothing is known
  std::vector<const Copy*> definedBy_;  // by Number: the copy that defines it
  std::vector<Number> copied_;          // by Number: what that copy reads; kNone: it is not live there
  std::vector<uint32_t> sourceStart_;   // by Number, and the end of the last
  std::vector<Number> sources_;
};

}  // namespace ptxopt
