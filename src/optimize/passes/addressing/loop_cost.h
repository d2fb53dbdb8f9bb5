// What the computations of a loop cost in machine instructions an iteration, as ptxas makes them, and what is left of
// that when some addresses no longer need them.
//
// Instructions of the loop are nodes. A node is needed if it has an effect, if its result is read after the loop, or
// if a needed node reads it, also in the next iteration. An operand that a choice of forms replaces is not read. So
// what only replaced addresses needed, counters included, costs nothing.
// Costs: 32-bit operations 1, those of 64 bits by architecture (target/costs.def); mul.wide and the
// 64-bit addition that takes it up count once (wide_sums.h); shl.b64 before an addition is free with it. Memory
// accesses, floating point and control are the same in all forms and cost nothing here. A step that becomes a product
// costs that instead, as long as it is needed, so no result is below 0. Cost: linear in the loop to make, and for each
// question in what the operands decide that some question replaced.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "passes/addressing/loop_uses.h"
#include "passes/addressing/wide_sums.h"

namespace ptxopt {

// The costs that lsr compares forms by: those of the architecture, where a step by a constant costs what the form carry-steps makes of it if
// that counts (knob lsr-carry-steps).
target::Costs costsOfForms(const PassContext& context);

class LoopCost {
 public:
  // `nodeOf`: by the number of a value, UINT32_MAX; it is so again when this ends. The loop is looked at when the first
  // question is asked.
  LoopCost(const Function& f, PassContext& context, LoopId loop, const WideSums& sums,
           std::vector<uint32_t>& nodeOf);
  ~LoopCost();
  LoopCost(const LoopCost&) = delete;

  // Machine instructions an iteration when the operands in `replaced` (indices in Function::operands, in any order) are
  // not read.
  double needed(std::span<const uint32_t> replaced) { return needed(replaced, {}); }
  // ... and the sums in `steps` are steps by products of 32-bit numbers.
  double needed(std::span<const uint32_t> replaced, std::span<const InstrId> steps);
  // Whether the value is needed in what the last question was.
  bool isNeeded(RegId reg, ValueId v) const;
  // For a sum of the loop.
  double costOf(InstrId sum);
  // How many nodes there are; none before a question.
  std::size_t size() const { return nodes_.size(); }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr uint32_t kCore = 1;  // of marks

  struct Node {
    InstrId instruction;  // none for a phi
    uint32_t firstSource = 0, sourceCount = 0;
    double cost = 0;
    bool isRoot = false;
    uint32_t mark = 0;  // kCore, or the last question in which it was needed
  };
  struct Source {
    uint32_t operand;  // in Function::operands; kNone for what comes into a phi
    uint32_t node;
    uint32_t replaceable = kNone;  // its number, where a question replaced it
  };

  struct Phi {
    RegId reg;
    BlockId block;
  };

  // Makes the nodes, once.
  void look();
  // The nodes: instructions, then phis as they are met.
  void addInstructions();
  void setNode(RegId reg, ValueId v, std::size_t node);
  uint32_t nodeFor(RegId reg, ValueId v, std::vector<Phi>& phis);
  void addSources(InstrId id, std::size_t node, std::vector<Phi>& phis);
  void addSources(Phi phi, std::size_t node, std::vector<Phi>& phis);
  void setSources(std::size_t node, uint32_t first);
  void markReadAfter(std::size_t instructions, const std::vector<Phi>& phis);

  void makeCore();
  void mark(uint32_t node, uint32_t as);
  void noteReplaceable(std::span<const uint32_t> replaced);

  uint32_t nodeWriting(InstrId id) const;
  bool isMarked(const Node& n) const { return n.mark == kCore || n.mark == question_; }

  double computeCost(InstrId id) const;
  double costOfSum(InstrId id) const;
  RegId steppedRegister(InstrId id) const;
  double costOfStep(InstrId id) const;

  const Function& f_;
  PassContext& context_;
  const SlotIndexes& slots_;
  const LiveIntervals& intervals_;
  const WideSums& sums_;
  const LoopId loop_;
  const target::Costs costs_;
  const ValueNumbers& numbers_;
  std::vector<uint32_t>& nodeOf_;  // by value
  std::vector<uint32_t> noted_;    // entries of nodeOf_ that are this loop's
  std::vector<Node> nodes_;
  std::vector<Source> sources_;
  std::vector<uint32_t> work_;

  // Operands that questions replaced, by their index; and the last question that did. What is needed without reading any of them is
  // the core; `cuts_` are the sources by which it reads the rest.
  std::unordered_map<uint32_t, uint32_t> replaceable_;
  std::vector<uint32_t> askedIn_, cuts_;
  uint32_t question_ = 0;  // the last one; kCore before the first
  double core_ = 0;
};

}  // namespace ptxopt
