// States flow through ValueFlow and only get worse: Open, a leader or its half, Differs. A value that an instruction
// computes from uniform sources becomes a leader itself.
#include "analysis/values/launch_values.h"

#include <algorithm>

#include "analysis/values/plain_operands.h"
#include "analysis/values/uniform_registers.h"
#include "ir/opcode_predicates.h"

namespace ptxopt {
namespace {

bool hasStates(const Register& r) {
  return r.lanes == 1 && r.registerClass() != RegisterClass::Carry && r.registerClass() != RegisterClass::B128;
}

// For two sources that are both needed.
LaunchValues::State worse(LaunchValues::State a, LaunchValues::State b) {
  using State = LaunchValues::State;
  if (a.leader == State::kDiffers || b.leader == State::kDiffers) return {State::kDiffers};
  return a.isOne() ? b : a;
}

}  // namespace

bool LaunchValues::isComputation(const OpcodeForm& form) {
  if (form.effects == effect::Pure) return true;
  // Only kept by ptxas when dead.
  constexpr Op kSlow[] = {Op::Div, Op::Rem, Op::Rcp, Op::Rsqrt, Op::Sqrt};
  return form.effects == effect::Side && std::ranges::find(kSlow, form.op) != std::end(kSlow);
}

LaunchValues::LaunchValues(const Module& module, const Function& function, const Cfg& cfg, const SlotIndexes& slots,
                           const LiveIntervals& intervals, const LaunchMemory& memory,
                           std::span<const Edge> without)
    : ValueFlow(module, function, cfg, slots, intervals, hasStates), memory_(memory), without_(without) {
  if (!solve(kMostSweeps)) std::ranges::fill(states_, State{State::kDiffers});
}

SlotIndex LaunchValues::placeOf(State s) const {
  return intervals_[numbers_.reg(s.leader)][numbers_.value(s.leader)].def;
}

bool LaunchValues::ignores(BlockId from, BlockId to) const {
  return std::ranges::any_of(without_, [&](const Edge& e) { return e.from == from && e.to == to; });
}

LaunchValues::State LaunchValues::join(State a, State b) {
  if (a.leader == State::kOpen || a == b) return b;
  return b.leader == State::kOpen ? a : State{State::kDiffers};
}

LaunchValues::State LaunchValues::entering(const FlowValue& v, BlockId, bool) const {
  return intervals_[v.reg][v.value].kind == ValueKind::Entry ? State{State::kDiffers} : State();
}

// What is known never gets better: what differs stays so, and a leader stays one until it differs.
bool LaunchValues::raise(uint32_t value, State to) {
  State& state = states_[value];
  const bool isLeader = state == State{value};
  if (state == to || to.leader == State::kOpen || state.leader == State::kDiffers || (isLeader && to.isOne()))
    return false;
  state = to;
  return true;
}

LaunchValues::State LaunchValues::source(const Operand& o, InstrId id, uint32_t own) const {
  if (o.isRegister()) return o.flags == 0 ? read(o.reg(), id) : State{State::kDiffers};
  return isUniformSource(module_, f_, o, false) ? State{own} : State{State::kDiffers};
}

// For mov: a copy, `{low, high}` of a register, or a register of these.
LaunchValues::State LaunchValues::moved(InstrId id, std::span<const Operand> to, std::span<const Operand> from,
                                        std::size_t index, uint32_t own) const {
  if (to.size() == 1 && from.size() == 1) return source(from[0], id, own);
  const auto isPair = [&](std::span<const Operand> o) {
    return o.size() == 3 && o[0].kind == OperandKind::Vector && o[1].isRegister() && o[2].isRegister();
  };
  const auto bits = [&](const Operand& o) { return o.isRegister() ? info(f_.registers[o.payload].type).bits : 0u; };
  if (to.size() == 1 && isPair(from)) {
    const State low = source(from[1], id, own), high = source(from[2], id, own), both = worse(low, high);
    const bool isWhole = both.isOne() && low.leader == high.leader && low.part == Part::Low &&
                         high.part == Part::High && bits(from[1]) == 32 && bits(from[2]) == 32;
    if (isWhole) return {low.leader};
    return both.isOne() ? State{own} : both;
  }
  if (isPair(to) && from.size() == 1) {
    const State s = source(from[0], id, own);
    if (!s.isOne() || s.part != Part::Whole || bits(from[0]) != 64 || bits(to[1]) != 32)
      return s.isOne() ? State{own} : s;
    return {s.leader, index == 1 ? Part::Low : Part::High};
  }
  return {State::kDiffers};
}

LaunchValues::State LaunchValues::made(InstrId id, const Operand& to, uint32_t own) const {
  const State differs{State::kDiffers};
  const Instruction& i = f_[id];
  const OpcodeForm& form = module_.form(i);
  if (i.is(Instruction::Guarded) || to.role != Role::Def || to.flags != 0 || !form.knowsOperands()) return differs;
  if (form.op == Op::Mov)
    if (const PlainOperands operands(f_.operandsOf(i)); operands.size() == 2)
      return moved(id, operands[0], operands[1], static_cast<std::size_t>(&to - operands[0].data()), own);
  // Whatever lane it comes from.
  if (form.op == Op::Shfl) {
    const PlainOperands operands(f_.operandsOf(i));
    const bool isPlain = operands.size() >= 2 && operands.single(0) == &to && operands.single(1) != nullptr;
    return isPlain ? source(*operands.single(1), id, own) : differs;
  }
  const bool loadsParameter = f_.isEntry && isParameterLoad(form);
  const bool loads = loadsParameter || isConstantLoad(form) || memory_.isAsLaunched(id);
  if (!isComputation(form) && !(loads && !form.is(~uint32_t{effect::Read}))) return differs;
  State all{own};
  for (const Operand& o : f_.operandsOf(i)) {
    if (!o.isRegister()) {
      if (!isUniformSource(module_, f_, o, loadsParameter)) return differs;
    } else if (o.reads()) {
      all = worse(all, read(o.reg(), id));
      if (all.leader == State::kDiffers) return differs;
    }
  }
  return all.leader == State::kOpen ? all : State{own};
}

}  // namespace ptxopt
