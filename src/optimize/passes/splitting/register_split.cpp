// One walk over the mentions of a register makes stretches in which it is held, where few high points lie between two
// mentions of one block. The split relieves what is live outside of these stretches, and is dropped if it moves too
// much for that.
#include "passes/splitting/register_split.h"

#include <algorithm>

#include "ir/opcode_predicates.h"
#include "passes/splitting/splittable.h"
#include "passes/util/missed_remarks.h"

namespace ptxopt {

SplitSource::SplitSource(const Function& function, PassContext& context)
    : f(function),
      module(context.module),
      cfg(context.analyses.cfg()),
      slots(context.analyses.slotIndexes()),
      intervals(context.analyses.liveIntervals()),
      pressure(context.analyses.registerPressure()),
      points(pressure.points()),
      scopes(module, f),
      occurrences(f) {
  const Loops& loops = context.analyses.loops();
  depth.reserve(cfg.size());
  for (uint32_t b = 0; b < cfg.size(); ++b)
    depth.push_back(static_cast<uint8_t>(std::min<std::size_t>(loops.depth(BlockId(b)), HighPoints::kDepths)));
}

SplitFinder::SplitFinder(const SplitSource& source, const AllocatedValues& allocated)
    : source_(source), why_(whyUnsplittable(source.module, source.f, source.intervals)) {
  findCallSequences();
  findLenders(allocated);
}

// What is passed to a call and comes back has to stay beside it.
void SplitFinder::findCallSequences() {
  const Function& f = source_.f;
  for (const InstrId id : f) {
    const Instruction& i = f[id];
    if (!i.isInstruction()) continue;
    const OpcodeForm& form = source_.module.form(i);
    const auto operands = f.operandsOf(i);
    const bool isOwn = std::ranges::any_of(operands, [&](const Operand& o) {
      return o.kind == OperandKind::Variable && f.variables[o.payload].isParameter;
    });
    if (!form.is(effect::Call) && !isParameterStore(form) && (!isParameterLoad(form) || isOwn)) continue;
    for (const Operand& o : operands)
      if (o.isRegister() && why_[o.payload].empty()) why_[o.payload] = "call-sequence";
  }
}

void SplitFinder::findLenders(const AllocatedValues& allocated) {
  for (uint32_t r = 0; r < source_.f.registers.size(); ++r) {
    const uint32_t v = allocated.valueOf[r];
    if (v == AllocatedValues::kNone || source_.intervals[RegId(r)].empty()) continue;
    const RegId lender = allocated.values[v].reg;
    if (lender.value != r && why_[lender.value].empty()) why_[lender.value] = "lent";
  }
}

std::optional<RegisterSplit> SplitFinder::find(RegId reg, const HighPoints& high, MissedRemarks& missed) const {
  uint64_t live = 0;
  for (const Segment& g : source_.intervals[reg].segments())
    live += high.between(source_.firstOf(g), source_.endOf(g));
  if (live == 0) return {};
  if (std::string_view why = why_[reg.value];
      !why.empty() || isOnlyCopied(source_.module, source_.f, source_.occurrences, reg)) {
    missed.add(why.empty() ? "carried-already" : why);
    return {};
  }
  RegisterSplit s = walk(reg, high);
  if (live < kShort * (s.defs.size() + s.uses.size())) return {};
  uint64_t held = 0;
  for (const AllocatedValue::Span& h : s.held) held += high.between(h.first, h.last);
  if (s.units == 0 || live <= held || s.uses.empty()) return {};
  s.relieved = (live - held) * s.units;
  return s;
}

RegisterSplit SplitFinder::walk(RegId reg, const HighPoints& high) const {
  RegisterSplit s{.reg = reg, .units = source_.pressure.sizeOf(reg).units, .defs = {}, .uses = {}, .held = {}};
  BlockId block;
  uint32_t last = 0;
  bool afterDef = false, readAfterDef = false;
  for (const Occurrence& o : source_.occurrences.of(reg)) {
    const auto at = static_cast<uint32_t>(source_.pointOf(o.instruction));
    const BlockId b = source_.cfg.blockOf(o.instruction);
    if (!source_.cfg[b].reachable) continue;
    const bool isHeld = b == block && high.between(last, at) < kShort;
    if (isHeld)
      s.held.back().last = at;
    else
      s.held.push_back({at, at});
    if (o.reads && !isHeld) s.uses.push_back(o.instruction);
    readAfterDef |= o.reads && isHeld && afterDef;
    afterDef = o.writes || (isHeld && afterDef);
    if (o.writes) s.defs.push_back(o.instruction);
    s.deepest = std::max(s.deepest, source_.depth[b.value]);
    block = b;
    last = at;
  }
  s.definitionDies = !readAfterDef;
  return s;
}

}  // namespace ptxopt
