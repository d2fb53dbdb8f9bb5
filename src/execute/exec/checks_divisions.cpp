// LaunchConfig::checkDivisions: the quotient or remainder of integers by zero, about which PTX says nothing, comes
// to something.
//
// Algorithm: a bit a lane and component of each register of a frame says that its value rests on such a result. It
// goes from what an instruction reads to what it writes; across lanes where lanes work together; through selp only
// from the operand that is taken. The fault is the first instruction that does more than write registers and reads
// one of them: an access's address or value, a branch, a guard, an argument. So the bits need not follow memory.
// Cost: a look at each op, and the bits once there was a division by zero.
#include <bit>
#include <unordered_map>

#include "exec/block.h"
#include "exec/checks_made.h"
#include "exec/checks_touched.h"
#include "exec/launch.h"

namespace ptxopt::exec {

namespace {

struct Meaning {
  Touched touched;
  uint8_t divisorBytes = 0;  // an integer division: of its operands
  bool isSelection = false;  // selp: of what it reads the operand that is taken counts
  bool comesToSomething = false;
  bool acrossLanes = false;
};

Meaning meaningOf(const Module& module, const Routine& routine, const Op& op) {
  Meaning m;
  const Instruction& i = routine.function->instructions[op.instruction];
  if (!i.isInstruction()) return m;
  if (op.kind == OpKind::Plain && op.args == nullptr) return m;
  m.touched = touchedBy(module, routine, op);
  const OpcodeForm& form = module.form(i);
  const bool isFloat = form.type == ScalarType::f16 || form.type == ScalarType::f32 || form.type == ScalarType::f64;
  if ((form.op == ptxopt::Op::Div || form.op == ptxopt::Op::Rem) && !isFloat) m.divisorBytes = op.args[2].bytes;
  m.isSelection = form.op == ptxopt::Op::Selp;
  m.acrossLanes = op.kind == OpKind::Collective || form.is(effect::Convergent);
  m.comesToSomething =
      m.touched.writes.empty() || form.is(effect::kKeep & ~static_cast<uint32_t>(effect::Convergent));
  for (const Operand& o : routine.function->operandsOf(i))
    m.comesToSomething = m.comesToSomething || o.kind == OperandKind::Memory;
  return m;
}

class DivisionCheck final : public Checks {
 public:
  void newFrame(Frame& frame) override {
    if (any_) registers_[&frame].assign(frame.routine->registers.size() * kComponents, 0);
  }
  void copied(Warp&, unsigned, const ParameterPlace&, Frame&, const ParameterPlace&, Frame&) override {}
  void global(Warp&, unsigned, Allocation&, uint64_t, std::byte*, unsigned, Access) override {}
  void shared(Warp&, unsigned, Block&, uint32_t, unsigned, Access) override {}
  void local(Warp&, unsigned, uint32_t, unsigned, Access) override {}
  void barrier(Block&, const std::vector<uint32_t>&) override {}

  void before(Warp& warp, const Routine& routine, const Op& op, Mask active) override {
    const Meaning& m = meaning(warp, routine, op);
    zeros_ = m.divisorBytes == 0 ? 0 : divisionsByZero(warp, op, active);
    any_ = any_ || zeros_ != 0;
    taken_ = 0;
    if (!any_) return;
    std::vector<Mask>& bits = bitsOf(warp);
    if (const Mask guard = unionOf(bits, m.touched.guard) & warp.path().mask; guard != 0) fail(guard);
    taken_ = (m.isSelection ? selected(warp, bits, op, m) : unionOf(bits, m.touched.reads)) & active;
    if (taken_ != 0 && m.comesToSomething) fail(taken_);
    // What a call leaves comes without a word to `after`.
    if (op.kind == OpKind::Call) write(bits, m, active, 0);
  }

  void after(Warp& warp, const Routine& routine, const Op& op, Mask active) override {
    if (!any_) return;
    const Meaning& m = meaning(warp, routine, op);
    Mask open = taken_ | zeros_;
    if (m.acrossLanes && open != 0) open = active;
    write(bitsOf(warp), m, active, open);
  }

 private:
  const Meaning& meaning(Warp& warp, const Routine& routine, const Op& op) {
    const auto [known, isNew] = meanings_.try_emplace(&op);
    if (isNew) known->second = meaningOf(warp.block().program().module(), routine, op);
    return known->second;
  }

  std::vector<Mask>& bitsOf(Warp& warp) {
    const Frame* const frame = warp.path().frame;
    std::vector<Mask>& bits = registers_[frame];
    if (bits.empty()) bits.assign(frame->routine->registers.size() * kComponents, 0);
    return bits;
  }

  static Mask divisionsByZero(Warp& warp, const Op& op, Mask active) {
    Mask zeros = 0;
    for (Mask m = active; m != 0; m &= m - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(m));
      if (warp.value(op.args[2], lane) == 0) zeros |= Mask{1} << lane;
    }
    return zeros;
  }

  static Mask unionOf(const std::vector<Mask>& bits, const std::vector<RegisterUse>& uses) {
    Mask all = 0;
    for (const RegisterUse& use : uses)
      for (unsigned c = 0; c < use.count; ++c) all |= bits[use.first + c];
    return all;
  }

  // selp d, a, b, p: lanes whose predicate rests on such a result, or the one of a and b that they take. `reads`
  // are the registers among a, b and p in their order.
  static Mask selected(Warp& warp, const std::vector<Mask>& bits, const Op& op, const Meaning& m) {
    const Mask chosen = warp.predicate(op.args[3]);
    const Mask sides[] = {chosen, ~chosen, kAllLanes};
    Mask all = 0;
    std::size_t next = 0;
    for (unsigned k = 1; k <= 3; ++k) {
      if (op.args[k].base != Base::Frame || next == m.touched.reads.size()) continue;
      all |= unionOf(bits, {m.touched.reads[next++]}) & sides[k - 1];
    }
    return all;
  }

  static void write(std::vector<Mask>& bits, const Meaning& m, Mask active, Mask open) {
    for (const RegisterUse& use : m.touched.writes)
      for (unsigned c = 0; c < use.count; ++c)
        bits[use.first + c] = (bits[use.first + c] & ~active) | (open & active);
  }

  [[noreturn]] static void fail(Mask lanes) {
    throw LaneFault{FaultKind::DivisionByZero, static_cast<unsigned>(std::countr_zero(lanes)),
                    "this rests on a division by zero, for which PTX gives no result"};
  }

  std::unordered_map<const Frame*, std::vector<Mask>> registers_;
  std::unordered_map<const Op*, Meaning> meanings_;
  bool any_ = false;  // there was a division by zero
  Mask zeros_ = 0;    // the op that is being executed: its divisions by zero
  Mask taken_ = 0;    // ... and the lanes that read what rests on one
};

}  // namespace

std::unique_ptr<Checks> makeDivisionCheck() { return std::make_unique<DivisionCheck>(); }

}  // namespace ptxopt::exec
