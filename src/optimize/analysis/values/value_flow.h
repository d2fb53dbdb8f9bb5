// A solver for facts about values: what each value of a function's registers is, by the instruction that makes it or by the
// ways on which control comes to its phi.
//
// An analysis derives from ValueFlow<Analysis, State> and has, for the solver to call:
//   State join(State a, State b) const                    the least upper bound
//   State unknown() const                                 what a register that is not followed holds
//   State entering(const FlowValue& v, BlockId b, bool isRoot) const    what a value that begins in `b` may be besides what
//                                                         the predecessors leave in its register
//   State fromEdge(RegId r, ValueId v) const              what an edge brings; `v` is invalid if nothing was written before
//   State made(InstrId id, const Operand& to, uint32_t number)    what an instruction leaves in an operand that it writes;
//       under a guard joined with what was there (`stateRead`)
// and may have
//   bool ignores(BlockId from, BlockId to) const          edges that are taken not to be there
//   bool raise(uint32_t number, State to)                 another way to go up
//   bool visitPhi(const FlowValue& v, BlockId b), bool visit(InstrId id)    facts of its own; whether they changed
//
// Algorithm:  from below, in sweeps over the reachable blocks in reverse post-order until nothing changes.
// Invariants: only reachable code counts. A state goes up only.
// Cost:       linear in operands for each sweep; for a lattice of fixed height as many as loops are deep, and two.
// Source:     Kam and Ullman, "Monotone data flow analysis frameworks" (1977).
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/dataflow/live_intervals.h"
#include "analysis/values/value_numbers.h"
#include "ir/module.h"

namespace ptxopt {

struct FlowValue {
  RegId reg;
  ValueId value;
};

template <typename Analysis, typename State>
class ValueFlow {
 protected:
  using Follows = bool (*)(const Register&);

  // All must live as long as this, and stay as they are. `follows`: the registers whose values have states.
  // `lowest`: below all states.
  ValueFlow(const Module& module, const Function& function, const Cfg& cfg, const SlotIndexes& slots,
            const LiveIntervals& intervals, Follows follows, State lowest = State())
      : module_(module),
        f_(function),
        cfg_(cfg),
        slots_(slots),
        intervals_(intervals),
        numbers_(function, intervals, follows),
        states_(numbers_.size(), lowest),
        begin_(cfg.size()),
        isRoot_(cfg.size()) {
    for (const BlockId b : cfg.roots()) isRoot_[b.value] = true;
    for (uint32_t r = 0; r < f_.registers.size(); ++r) {
      if (!numbers_.contains(RegId(r))) continue;
      const auto& values = intervals[RegId(r)].values();
      for (std::size_t v = 0; v < values.size(); ++v)
        if (values[v].kind == ValueKind::Phi || values[v].kind == ValueKind::Entry)
          begin_[slots.blockAt(values[v].def).value].push_back({RegId(r), ValueId(v)});
    }
  }

  // False, with the states as they were then, where something still changes in sweep `most`.
  bool solve(unsigned most) {
    for (unsigned sweeps = 0; sweep();)
      if (++sweeps == most) return false;
    return true;
  }

  bool isFollowed(RegId r) const { return numbers_.contains(r); }
  State at(RegId r, ValueId v) const {
    return v.valid() && isFollowed(r) ? states_[numbers_(r, v)] : analysis().unknown();
  }
  // What instruction `id` reads in `r`, and what is in `r` after it.
  State stateRead(RegId r, InstrId id) const { return at(r, intervals_[r].valueIn(slots_[id])); }
  State stateWritten(RegId r, InstrId id) const { return at(r, intervals_[r].valueOut(slots_[id])); }
  // Phis, and values on entry, that begin in a block.
  const std::vector<FlowValue>& beginning(BlockId b) const { return begin_[b.value]; }
  // Calls `visit` with the value that each edge brings to a phi; it is invalid where nothing was written before.
  template <typename F>
  void forEachIncoming(const FlowValue& v, BlockId b, F&& visit) const {
    for (const BlockId from : cfg_.predecessors(b))
      if (cfg_[from].reachable && !analysis().ignores(from, b)) visit(intervals_[v.reg].valueAt(slots_.last(from)));
  }

  bool ignores(BlockId, BlockId) const { return false; }
  bool visitPhi(const FlowValue&, BlockId) { return false; }
  bool visit(InstrId) { return false; }
  bool raise(uint32_t number, const State& to) { return raise(states_[number], to); }
  bool raise(State& state, const State& to) {
    const State now = analysis().join(state, to);
    if (now == state) return false;
    state = now;
    return true;
  }

  const Module& module_;
  const Function& f_;
  const Cfg& cfg_;
  const SlotIndexes& slots_;
  const LiveIntervals& intervals_;
  const ValueNumbers numbers_;
  std::vector<State> states_;  // by number
  bool changed_ = false;       // in this sweep

 private:
  Analysis& analysis() { return static_cast<Analysis&>(*this); }
  const Analysis& analysis() const { return static_cast<const Analysis&>(*this); }

  bool sweep() {
    changed_ = false;
    const auto& postOrder = cfg_.postOrder();
    for (auto b = postOrder.rbegin(); b != postOrder.rend(); ++b) {
      if (!cfg_[*b].reachable) continue;
      for (const FlowValue& v : beginning(*b)) {
        State all = analysis().entering(v, *b, isRoot_[b->value]);
        forEachIncoming(v, *b, [&](ValueId from) { all = analysis().join(all, analysis().fromEdge(v.reg, from)); });
        changed_ |= analysis().raise(numbers_(v.reg, v.value), all);
        changed_ |= analysis().visitPhi(v, *b);
      }
      for (const InstrId id : slots_.instructions(*b)) {
        changed_ |= analysis().visit(id);
        for (const Operand& o : f_.operandsOf(f_[id])) {
          if (!o.isRegister() || !o.writes() || !isFollowed(o.reg())) continue;
          const ValueId v = intervals_[o.reg()].valueOut(slots_[id]);
          if (!v.valid()) continue;
          const uint32_t number = numbers_(o.reg(), v);
          changed_ |= analysis().raise(number, analysis().made(id, o, number));
        }
      }
    }
    return changed_;
  }

  std::vector<std::vector<FlowValue>> begin_;  // by block
  std::vector<bool> isRoot_;                   // by block
};

}  // namespace ptxopt
