// Expressions are computed on request, by recursion with a limit on depth, and kept by value. A phi stands for itself
// while its sources are looked at; the difference of what comes back then gives the step.
#include "analysis/values/scalar_evolution.h"

#include <algorithm>

#include "analysis/values/scev_instructions.h"

namespace ptxopt {

std::string_view name(NoWrapProof::Kind kind) {
  switch (kind) {
    case NoWrapProof::Kind::ExitTest: return "exit test";
    case NoWrapProof::Kind::TripCount: return "trip count";
    case NoWrapProof::Kind::Range: break;
  }
  return "range";
}

ScalarEvolution::ScalarEvolution(const Module& module, const Function& function, const Cfg& cfg,
                                 const DominatorTree& dominators, const Loops& loops, const SlotIndexes& slots,
                                 const LiveIntervals& intervals, ValueRanges& ranges)
    : module_(module),
      f_(function),
      cfg_(cfg),
      dominators_(dominators),
      loops_(loops),
      slots_(slots),
      intervals_(intervals),
      ranges_(ranges),
      e_(loops),
      trips_(loops.size()),
      tests_(loops.size()) {
  memo_.assign(ranges.numbers().size(), ExprId());
  constantDefinitions_.assign(ranges.numbers().size(), InstrId());
  // Outer loops first: what is known of their iterations helps to bound the starts of inner ones.
  // Large loops in a deep nest hold the same blocks over and over: of those beyond the budget nothing is known.
  std::size_t work = 0;
  for (uint32_t l = 0; l < loops.size(); ++l) {
    const uint32_t blocks = loops[LoopId(l)].blockCount;
    if (blocks > kSmallLoop && (work += blocks) > kMostWork + kMostDepthOfLoops * cfg.size()) {
      trips_[l].unknown = "too-deep";
      continue;
    }
    findTests(LoopId(l));
    countTrips(LoopId(l));
  }
  counted_ = true;
  // What was settled before all trip counts were known may say less than it could.
  for (const uint32_t key : made_) memo_[key] = ExprId();
  made_.clear();
  forgetRanges();
}

unsigned ScalarEvolution::widthOf(RegId reg) const {
  // Expressions are computed anew from the registers that hold their values: no .f16x2 among them.
  const Register& r = f_.registers[reg.value];
  return isInteger(r.type) && r.lanes == 1 ? info(r.type).bits : 0;
}

ExprId ScalarEvolution::plain(RegId reg, ValueId value) {
  const LiveValue& v = intervals_[reg][value];
  const LoopId loop = loops_.of(slots_.blockAt(v.def));
  if (v.kind == ValueKind::Instruction && !v.isPartial) {
    // The first value that holds a constant of the launch stands for all.
    uint64_t constant = 0;
    const InstrId id = slots_.instructionAt(v.def);
    if (ScevInstructions(*this).isLaunchConstant(id, constant)) {
      constantDefinitions_[keyOf(reg, value)] = id;
      const uint32_t key = constants_.try_emplace(constant << 8 | widthOf(reg), keyOf(reg, value)).first->second;
      return e_.value(ranges_.numbers().reg(key), ranges_.numbers().value(key), widthOf(reg), LoopId());
    }
  }
  return e_.value(reg, value, widthOf(reg), loop);
}

InstrId ScalarEvolution::constantDefinition(RegId reg, ValueId value) const {
  return constantDefinitions_[keyOf(reg, value)];
}

ValueId ScalarEvolution::valueAtEnd(RegId reg, BlockId block) const {
  return intervals_[reg].valueAt(slots_.last(block));
}

// For a value that is not known yet.
ExprId ScalarEvolution::settle(RegId reg, ValueId value) {
  if (widthOf(reg) == 0) return {};
  if (depth_ >= kMostDepth) return plain(reg, value);
  const uint32_t key = keyOf(reg, value);
  ++depth_;
  ExprId e = compute(reg, value);
  --depth_;
  if (e.valid() && e_[e].size > kMostSize) e = {};
  if (!e.valid()) e = plain(reg, value);
  memo_[key] = e;
  made_.push_back(key);
  return e;
}

ExprId ScalarEvolution::compute(RegId reg, ValueId value) {
  const LiveValue& v = intervals_[reg][value];
  if (v.isPartial) return {};
  if (v.kind == ValueKind::Phi) return phi(reg, value, slots_.blockAt(v.def));
  if (v.kind != ValueKind::Instruction) return {};
  const ExprId e = ScevInstructions(*this).result(slots_.instructionAt(v.def), reg);
  return e.valid() && e_[e].width == widthOf(reg) ? e : ExprId();
}

ExprId ScalarEvolution::phi(RegId reg, ValueId value, BlockId block) {
  const LoopId loop = loops_.of(block);
  for (LoopId l = loop; l.valid(); l = loops_[l].parent)
    if (loops_[l].irreducible) return {};
  const bool isHeader = loop.valid() && loops_[loop].header == block;
  // While its sources are looked at, the value stands for itself.
  const uint32_t key = keyOf(reg, value);
  const ExprId self = e_.value(reg, value, widthOf(reg), loop);
  memo_[key] = self;
  const std::size_t before = made_.size();
  ExprId start, next;
  bool same = true;
  for (const BlockId p : cfg_.predecessors(block)) {
    if (!cfg_[p].reachable) continue;
    const ValueId source = valueAtEnd(reg, p);
    // What nobody wrote is not a number to count from.
    if (f_.isEntry && source.valid() && intervals_[reg][source].kind == ValueKind::Entry) same = false;
    const ExprId e = seenFrom(reg, source, p);
    ExprId& known = isHeader && loops_.contains(loop, p) ? next : start;
    if (!e.valid() || (known.valid() && known != e)) same = false;
    known = e;
  }
  ExprId result;
  if (same && start.valid()) {
    if (!isHeader) {
      if (!e_.contains(start, self) && !countsOther(start, block)) result = start;
    } else if (next.valid() && !countsOther(start, loops_[loop].header) && e_.isInvariant(start, loop)) {
      const ExprId step = e_.subtract(next, self);
      if (e_.isInvariant(step, loop) && !e_.contains(step, self)) result = e_.recurrence(loop, start, step);
    }
  }
  memo_[key] = ExprId();
  if (!result.valid()) return self;  // what was settled meanwhile stays right: it is the value itself
  std::size_t kept = before;
  for (std::size_t k = before; k < made_.size(); ++k) {
    if (memo_[made_[k]].valid() && e_.contains(memo_[made_[k]], self))
      memo_[made_[k]] = ExprId();
    else
      made_[kept++] = made_[k];
  }
  made_.resize(kept);
  return result;
}

// Whether an expression counts the iterations of a loop that the block is not in. The result is that for all blocks of
// one innermost loop.
bool ScalarEvolution::countsOther(ExprId e, BlockId block) const {
  const Expr& n = e_[e];
  if (!n.varies || (!n.isMixed && loops_.contains(n.innermost, block))) return false;
  if (n.kind == ExprKind::Constant || n.kind == ExprKind::Value) return false;
  if (otherCounters_.size() <= e.value) otherCounters_.resize(e_.size());
  const LoopId loop = loops_.of(block);
  if (const OtherCounters& o = otherCounters_[e.value]; o.isKnown && o.loop == loop) return o.hasSome;
  const bool hasSome = hasOtherCounter(e, block);
  otherCounters_[e.value] = {loop, true, hasSome};
  return hasSome;
}

bool ScalarEvolution::hasOtherCounter(ExprId e, BlockId block) const {
  const Expr& n = e_[e];
  switch (n.kind) {
    case ExprKind::Sum:
    case ExprKind::Product:
      return std::ranges::any_of(e_.terms(e), [&](const ExprTerm& t) { return countsOther(t.expr, block); });
    case ExprKind::SignExtend:
    case ExprKind::ZeroExtend:
    case ExprKind::Truncate: return countsOther(n.operand(), block);
    case ExprKind::Recurrence:
      if (!loops_.contains(n.loop, block)) return true;
      [[fallthrough]];
    default: return countsOther(n.left(), block) || countsOther(n.right(), block);
  }
}

ExprId ScalarEvolution::seenFrom(RegId reg, ValueId value, BlockId block) {
  if (!value.valid()) return {};
  const ExprId e = of(reg, value);
  return e.valid() && countsOther(e, block) ? plain(reg, value) : e;
}

ExprId ScalarEvolution::read(RegId reg, InstrId at) {
  if (!slots_[at].valid()) return {};
  return seenFrom(reg, intervals_[reg].valueIn(slots_[at]), cfg_.blockOf(at));
}

ExprId ScalarEvolution::written(RegId reg, InstrId at) {
  if (!slots_[at].valid()) return {};
  return of(reg, intervals_[reg].valueOut(slots_[at]));
}

}  // namespace ptxopt
