// The state of a register is one number: written, unwritten, or unwritten where a predicate has one value. Only
// registers that are live where control enters are candidates; a forward iteration solves them, and a last walk
// reports.
#include "analysis/dataflow/uninitialised.h"

#include <algorithm>

namespace ptxopt {
namespace {

// What is known of a register at a point.
class State {
 public:
  static constexpr State written() { return State(0); }
  static constexpr State unwritten() { return State(1); }
  // Unwritten at most where `predicate` is `value`.
  static constexpr State unwrittenWhere(RegId predicate, bool value) {
    return State(2 + predicate.value * 2 + value);
  }

  bool isWritten() const { return raw_ == 0; }
  bool isConditional() const { return raw_ >= 2; }
  RegId predicate() const { return RegId((raw_ - 2) / 2); }
  bool value() const { return (raw_ - 2) % 2 != 0; }

  // When control comes from either of two places.
  static State join(State a, State b) {
    if (a.isWritten() || a == b) return b;
    return b.isWritten() ? a : unwritten();
  }
  // When it is known that `predicate` is `value`.
  State where(RegId p, bool v) const {
    if (isWritten()) return *this;
    if (!isConditional()) return unwrittenWhere(p, v);
    return predicate() == p && value() != v ? written() : *this;
  }
  // When the register is written where `p` is `v`.
  State writtenWhere(RegId p, bool v) const { return where(p, !v); }

  friend bool operator==(State, State) = default;

  constexpr State() = default;

 private:
  constexpr explicit State(uint32_t raw) : raw_(raw) {}
  uint32_t raw_ = 0;
};

struct Condition {
  RegId predicate;  // none: always
  bool value = true;
};

Condition guardOf(const Function& f, const Instruction& i) {
  if (!i.is(Instruction::Guarded)) return {};
  const Operand& guard = f.operandsOf(i)[0];
  return {guard.reg(), !guard.is(Operand::Not)};
}

class UnassignedFinder {
 public:
  UnassignedFinder(const Module& module, const Function& function, const Cfg& cfg)
      : module_(module), f_(function), cfg_(cfg), number_(function.registers.size(), kNone) {}

  UninitialisedReads run(const Liveness& liveness, std::size_t mostBytes) {
    findCandidates(liveness);
    if (candidates_.empty()) return {};
    if (candidates_.size() * cfg_.size() * sizeof(State) > mostBytes) return {.complete = false, .reads = {}};
    solve();
    return report();
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  void findCandidates(const Liveness& liveness) {
    std::vector<bool> excluded(f_.registers.size());
    for (const RegId reg : f_.returnRegisters) excluded[reg.value] = true;
    for (const BlockId root : cfg_.roots())
      liveness.forEachLiveIn(root, [&](RegId reg) {
        if (number_[reg.value] != kNone || excluded[reg.value] || f_.registers[reg.value].isParameter) return;
        number_[reg.value] = static_cast<uint32_t>(candidates_.size());
        candidates_.push_back(reg);
      });
    uint32_t& flag = number_[Function::kCarry.value];
    if (flag == kNone && readsFlag()) {
      flag = static_cast<uint32_t>(candidates_.size());
      candidates_.push_back(Function::kCarry);
    }
    if (flag != kNone) startsLoop_ = findLoopStarts(cfg_);
  }

  bool readsFlag() const {
    for (const InstrId id : f_) {
      if (!f_[id].isInstruction()) continue;
      for (const Operand& o : f_.operandsOf(f_[id]))
        if (o.isRegister() && o.reg() == Function::kCarry && isRead(f_[id], o)) return true;
    }
    return false;
  }

  // What a call leaves of the flag.
  void loseFlag(Condition guard) {
    const uint32_t n = number_[Function::kCarry.value];
    if (n == kNone) return;
    const bool mayStay = guard.predicate.valid() && current_[n].isWritten();
    current_[n] = mayStay ? State::unwrittenWhere(guard.predicate, guard.value) : State::unwritten();
  }

  State* statesOf(BlockId b) { return states_.data() + b.value * candidates_.size(); }

  void solve() {
    // Written stands for not reached as well: it is where joins begin.
    states_.assign(candidates_.size() * cfg_.size(), State::written());
    current_.resize(candidates_.size());
    std::vector<uint8_t> dirty(cfg_.size());
    // At the first block nothing is written. At other roots the function is under way: a jump there by an
    // address may come from anywhere, and no warning is better than a wrong one.
    std::fill_n(statesOf(BlockId(0u)), candidates_.size(), State::unwritten());
    dirty[0] = 1;
    const auto& order = cfg_.postOrder();
    for (bool again = true; again;) {
      again = false;
      for (auto b = order.rbegin(); b != order.rend(); ++b) {
        if (!dirty[b->value]) continue;
        dirty[b->value] = 0;
        walk(*b, nullptr);
        for (const BlockId s : cfg_.successors(*b)) {
          if (!flow(*b, s)) continue;
          dirty[s.value] = 1;
          again = true;
        }
      }
    }
  }

  // Moves `current_` over a block; with `reads`, notes what is read unwritten.
  void walk(BlockId b, std::vector<UninitialisedRead>* reads) {
    std::copy_n(statesOf(b), candidates_.size(), current_.begin());
    const Block& block = cfg_[b];
    for (InstrId id = block.first; id.valid(); id = id == block.last ? InstrId() : f_[id].next) step(id, reads);
  }

  void step(InstrId id, std::vector<UninitialisedRead>* reads) {
    const Instruction& i = f_[id];
    if (!i.isInstruction()) return;
    const auto operands = f_.operandsOf(i);
    const Condition guard = guardOf(f_, i);
    if (reads != nullptr)
      for (const Operand& o : operands)
        if (o.isRegister() && isRead(i, o)) noteRead(id, o, guard, *reads);
    for (const Operand& o : operands) {
      if (!o.isRegister() || !o.writes()) continue;
      if (const uint32_t n = number_[o.payload]; n != kNone)
        current_[n] =
            guard.predicate.valid() ? current_[n].writtenWhere(guard.predicate, guard.value) : State::written();
    }
    if (module_.form(i).is(effect::Call)) loseFlag(guard);
    // Nothing that is read after a trap matters, though control may go on there (Module::trapFallsThrough).
    if (module_.form(i).op == Op::Trap)
      for (State& s : current_)
        s = guard.predicate.valid() ? s.writtenWhere(guard.predicate, guard.value) : State::written();
    // Last: what is known under the old value of a predicate is not known under the new one.
    for (const Operand& o : operands)
      if (o.isRegister() && o.writes() && f_.registers[o.payload].registerClass() == RegisterClass::Pred)
        forget(o.reg());
  }

  bool isRead(const Instruction& i, const Operand& o) const {
    if (o.reg() != Function::kCarry) return o.role == Role::Use;
    // addc.cc reads the flag that it writes; an unknown opcode only might.
    const OpcodeForm& form = module_.form(i);
    return form.knowsOperands() && form.is(effect::CarryIn);
  }

  void noteRead(InstrId id, const Operand& o, Condition guard, std::vector<UninitialisedRead>& reads) {
    const uint32_t n = number_[o.payload];
    if (n == kNone || reported_[n]) return;
    State state = current_[n];
    if (guard.predicate.valid() && !o.is(Operand::Guard)) state = state.where(guard.predicate, guard.value);
    if (state.isWritten()) return;
    reported_[n] = true;
    reads.push_back({o.reg(), id});
  }

  void forget(RegId predicate) {
    for (State& state : current_)
      if (state.isConditional() && state.predicate() == predicate) state = State::unwritten();
  }

  // Joins the end of `from`, where `current_` stands, into the start of `to`.
  bool flow(BlockId from, BlockId to) {
    const Condition known = conditionOf(from, to);
    State* const states = statesOf(to);
    bool changed = false;
    for (std::size_t n = 0; n < candidates_.size(); ++n) {
      State arriving = known.predicate.valid() ? current_[n].where(known.predicate, known.value) : current_[n];
      if (candidates_[n] == Function::kCarry && startsLoop_[to.value]) arriving = State::unwritten();
      const State joined = State::join(states[n], arriving);
      changed |= joined != states[n];
      states[n] = joined;
    }
    return changed;
  }

  // What is known on an edge: the guard of the instruction that ends the block, where only one side of it leads
  // there.
  Condition conditionOf(BlockId from, BlockId to) const {
    const Block& block = cfg_[from];
    if (!block.last.valid() || !f_[block.last].isInstruction()) return {};
    const Instruction& last = f_[block.last];
    const OpcodeForm& form = module_.form(last);
    if (!form.is(effect::kControl) || form.is(effect::Unknown)) return {};
    Condition guard = guardOf(f_, last);
    if (!guard.predicate.valid()) return {};
    const bool isNext = to.value == from.value + 1;
    const bool leavesOnly = !form.is(effect::Branch | effect::IndirectBranch);
    if (isNext && !leavesOnly && mayJumpTo(last, form, to)) return {};
    if (isNext) guard.value = !guard.value;
    return guard;
  }

  bool mayJumpTo(const Instruction& branch, const OpcodeForm& form, BlockId to) const {
    if (form.is(effect::IndirectBranch)) return true;  // a list may name the next block as well
    for (const Operand& o : f_.operandsOf(branch))
      if (o.kind == OperandKind::Label && cfg_.blockOf(f_.labels[o.payload].place) == to) return true;
    return false;
  }

  UninitialisedReads report() {
    UninitialisedReads result;
    reported_.assign(candidates_.size(), false);
    // In the order of the text: blocks are numbered so.
    for (uint32_t b = 0; b < cfg_.size(); ++b)
      if (cfg_[BlockId(b)].reachable) walk(BlockId(b), &result.reads);
    return result;
  }

  const Module& module_;
  const Function& f_;
  const Cfg& cfg_;
  std::vector<uint32_t> number_;  // by RegId: of a candidate
  std::vector<RegId> candidates_;
  std::vector<State> states_;   // at the start of each block
  std::vector<State> current_;  // by candidate
  std::vector<bool> reported_;
  std::vector<bool> startsLoop_;  // by block; only with the flag among the candidates
};

}  // namespace

std::vector<bool> findLoopStarts(const Cfg& cfg) {
  std::vector<uint32_t> place(cfg.size());  // in post-order
  for (uint32_t k = 0; k < cfg.postOrder().size(); ++k) place[cfg.postOrder()[k].value] = k;
  std::vector<bool> starts(cfg.size());
  for (uint32_t b = 0; b < cfg.size(); ++b)
    for (const BlockId to : cfg.successors(BlockId(b)))
      if (cfg[BlockId(b)].reachable && place[to.value] >= place[b]) starts[to.value] = true;
  return starts;
}

UninitialisedReads findUninitialisedReads(const Module& module, const Function& function, const Cfg& cfg,
                                          const Liveness& liveness, std::size_t mostBytes) {
  return UnassignedFinder(module, function, cfg).run(liveness, mostBytes);
}

}  // namespace ptxopt
