// Head, body and join of each triangle are collected once. The conditions are then asked in a fixed order, so that the
// first that fails is the one reported; a guard for the first thread alone is recognized by its comparison.
#include "passes/memory/lane_sections.h"

#include <algorithm>

#include "analysis/machine/kernel_needs.h"
#include "analysis/values/launch_values.h"
#include "analysis/values/plain_operands.h"
#include "ir/opcode_predicates.h"
#include "passes/util/missed_remarks.h"

namespace ptxopt {
namespace {

constexpr unsigned kLanes = 32;
constexpr std::size_t kMostSectionInstructions = 64;  // of a section

constexpr uint32_t bit(ModifierFlag f) { return 1u << static_cast<unsigned>(f); }

// `bar.warp.sync`
bool isWarpBarrier(const OpcodeForm& form) {
  return form.op == Op::Bar && form.hasOnly(field::Flag) &&
         form.flags == (bit(ModifierFlag::Warp) | bit(ModifierFlag::Sync));
}
// `bar.sync`, `barrier.cta.sync.aligned`
bool isBlockBarrier(const OpcodeForm& form) {
  return (form.op == Op::Bar || form.op == Op::Barrier) && form.hasOnly(field::Scope | field::Flag) &&
         (form.scope == MemoryScope::None || form.scope == MemoryScope::Cta) &&
         (form.flags & ~bit(ModifierFlag::Aligned)) == bit(ModifierFlag::Sync);
}

bool isInteger32(ScalarType t) { return isIntegerOrBits(t) && info(t).bits == 32; }

}  // namespace

LaneSections::LaneSections(const Function& f, PassContext& context, const LaunchMemory& memory)
    : f_(f),
      context_(context),
      module_(context.module),
      cfg_(context.analyses.cfg()),
      slots_(context.analyses.slotIndexes()),
      intervals_(context.analyses.liveIntervals()),
      memory_(memory) {
  for (uint32_t b = 0; b < cfg_.size(); ++b)
    if (auto s = triangleAt(BlockId(b))) triangles_.push_back(*s);
}

std::vector<LaneSection> LaneSections::find(MissedRemarks& missed) const {
  std::vector<LaneSection> sections;
  for (LaneSection s : triangles_) {
    if (!hasShuffles(s.join)) continue;
    const std::string_view why = whyNot(s);
    if (why.empty())
      sections.push_back(s);
    else
      missed.add(why);
  }
  return sections;
}

// ---- the blocks ----

std::optional<LaneSection> LaneSections::triangleAt(BlockId head) const {
  const Block& block = cfg_[head];
  if (!block.reachable || cfg_.successors(head).size() != 2 || slots_.instructions(head).empty()) return {};
  const InstrId branch = slots_.instructions(head).back();
  const auto operands = f_.operandsOf(f_[branch]);
  if (form(branch).op != Op::Bra || !f_[branch].is(Instruction::Guarded)) return {};
  const auto target = std::ranges::find(operands, OperandKind::Label, &Operand::kind);
  if (target == operands.end()) return {};
  const BlockId join = cfg_.blockOf(f_.labels[target->payload].place), body(head.value + 1);
  if (body.value >= cfg_.size() || body == join || join == head) return {};
  const bool isTriangle = cfg_.predecessors(body).size() == 1 && cfg_.predecessors(body)[0] == head &&
                          cfg_.successors(body).size() == 1 && cfg_.successors(body)[0] == join &&
                          !cfg_[body].leaves;
  if (!isTriangle) return {};
  const RegId guard = operands[0].reg();
  return LaneSection{.head = head,
                     .body = body,
                     .join = join,
                     .branch = branch,
                     .guard = {guard, intervals_[guard].valueIn(slots_[branch])},
                     .runsIf = operands[0].is(Operand::Not)};
}

bool LaneSections::hasShuffles(BlockId b) const {
  return std::ranges::any_of(slots_.instructions(b), [&](InstrId id) { return isSyncShuffle(form(id)); });
}

// ---- the conditions ----

std::string_view LaneSections::whyNot(LaneSection& s) const {
  bool loads = false, needsBarrier = false;
  if (const std::string_view why = whyNotComputed(s, loads, needsBarrier); !why.empty()) return why;
  for (const InstrId id : slots_.instructions(s.body))
    for (const Operand& o : f_.operandsOf(f_[id]))
      if (o.isRegister() && o.writes() && keepsOld(o.reg(), s)) return "keeps-old-value";
  if (!loads) return {};
  if (!isAlwaysRun(s.head)) return "not-always-run";
  if (needsBarrier) {
    const Barrier barrier = barrierIn(s.join);
    if (barrier == Barrier::None) return "no-barrier";
    s.votes = barrier == Barrier::Warp && !isOneWarp();
    // No lane waits for the vote in vain.
    if (s.votes && (cfg_.predecessors(s.join).size() != 2 || context_.analyses.loops().of(s.head).valid()))
      return "not-always-run";
  }
  return s.votes || isOfFirstThread(s.branch) ? "" : "first-thread-unknown";
}

// Why another lane would not get what the lanes of the section compute there; and what it loads.
std::string_view LaneSections::whyNotComputed(const LaneSection& s, bool& loads, bool& needsBarrier) const {
  const std::span<const InstrId> body = slots_.instructions(s.body);
  if (body.size() > kMostSectionInstructions) return "side-effects";
  for (const InstrId id : body) {
    if (form(id).op == Op::Bra) continue;
    if (f_[id].is(Instruction::Guarded) || !form(id).knowsOperands()) return "side-effects";
    if (form(id).op != Op::Ld) {
      if (!LaunchValues::isComputation(form(id))) return "side-effects";
      continue;
    }
    if (isParameterLoad(form(id)) && f_.isEntry) continue;
    loads = true;
    if (form(id).space == StateSpace::Const || memory_.isConstant(id)) continue;
    needsBarrier = true;
    if (!memory_.isAsLaunchedIfGlobal(id)) return "may-have-changed";
    if (!memory_.isAsLaunched(id)) return "unknown-space";
  }
  return {};
}

// Whether a lane that jumps has a value that is defined, and may be read.
bool LaneSections::keepsOld(RegId r, const LaneSection& s) const {
  if (!intervals_[r].valueAt(slots_.start(s.join)).valid()) return false;
  const ValueId old = intervals_[r].valueAt(slots_.last(s.head));
  return !old.valid() || intervals_[r][old].kind != ValueKind::Entry || f_.registers[r.value].isParameter;
}

bool LaneSections::isOneWarp() const {
  const auto threads = kernelNeeds(module_, f_, &context_.moduleAnalyses.get<ModuleCalledNeeds>()).threads;
  return threads && *threads <= kLanes;
}

// Whether all threads of it meet in the block before anything may be written.
LaneSections::Barrier LaneSections::barrierIn(BlockId b) const {
  for (const InstrId id : slots_.instructions(b)) {
    const GlobalEffect effect = memory_.effectOf(id);
    if (effect == GlobalEffect::None) continue;
    const PlainOperands operands(f_.operandsOf(f_[id]));
    if (effect == GlobalEffect::Changes || f_[id].is(Instruction::Guarded) || operands.size() != 1 ||
        operands.single(0) == nullptr)
      return Barrier::None;
    if (isWarpBarrier(form(id))) {
      const auto mask = immediate(f_, *operands.single(0));
      return mask && static_cast<uint32_t>(*mask) == UINT32_MAX ? Barrier::Warp : Barrier::None;
    }
    return isBlockBarrier(form(id)) ? Barrier::Block : Barrier::None;
  }
  return Barrier::None;
}

// ---- who runs a section ----

// The one instruction that makes what `id` reads in `r`, without a guard.
InstrId LaneSections::definition(RegId r, InstrId id) const {
  const ValueId v = intervals_[r].valueIn(slots_[id]);
  if (!v.valid() || intervals_[r][v].kind != ValueKind::Instruction || intervals_[r][v].isPartial) return {};
  const InstrId made = slots_.instructionAt(intervals_[r][v].def);
  return made.valid() && !f_[made].is(Instruction::Guarded) ? made : InstrId();
}

// Whether the branch is not taken by threads with an index of 0 in one dimension; each block has some.
bool LaneSections::isOfFirstThread(InstrId branch) const {
  const Operand& guard = f_.operandsOf(f_[branch])[0];
  const InstrId test = definition(guard.reg(), branch);
  if (!test.valid()) return false;
  const ComparisonOperator wanted = guard.is(Operand::Not) ? ComparisonOperator::Eq : ComparisonOperator::Ne;
  const ScalarType type = form(test).type;
  if (!form(test).isExactly(Op::Setp, wanted, type) || !isInteger32(type)) return false;
  const PlainOperands operands(f_.operandsOf(f_[test]));
  const bool comparesWithZero = operands.size() == 3 && operands.single(0) != nullptr &&
                                operands.single(1) != nullptr && operands.single(2) != nullptr &&
                                immediate(f_, *operands.single(2)) == std::optional<uint64_t>(0);
  return comparesWithZero && isThreadIndex(*operands.single(1), test);
}

// Whether `o` is the index of a thread in one dimension.
bool LaneSections::isThreadIndex(const Operand& o, InstrId reader) const {
  if (!o.isRegister() || o.flags != 0) return false;
  const InstrId source = definition(o.reg(), reader);
  if (!source.valid() || form(source).op != Op::Mov || !isInteger32(form(source).type)) return false;
  const PlainOperands moved(f_.operandsOf(f_[source]));
  if (moved.size() != 2 || moved.single(1) == nullptr || moved.single(1)->kind != OperandKind::SpecialRegister)
    return false;
  const std::string_view name = module_.text(NameId(moved.single(1)->payload));
  return name == "%tid.x" || name == "%tid.y" || name == "%tid.z";
}

// Whether each thread comes to the block that any other of its block comes to: there is no branch before it but
// over triangles.
bool LaneSections::isAlwaysRun(BlockId b) const {
  const DominatorTree& dominators = context_.analyses.dominators();
  if (cfg_.roots().size() != 1 || mayStop(b)) return false;
  while (b != cfg_.roots()[0]) {
    const BlockId above = dominators.parent(b);
    if (!above.valid() || mayStop(above)) return false;
    const bool follows = cfg_.successors(above).size() == 1;
    const bool joins = std::ranges::any_of(
        triangles_, [&](const LaneSection& s) { return s.head == above && s.join == b && !mayStop(s.body); });
    if (!follows && !joins) return false;
    b = above;
  }
  return true;
}

// Whether a thread that comes to the block may not get to its end.
bool LaneSections::mayStop(BlockId b) const {
  constexpr uint32_t kStops =
      effect::Call | effect::Exit | effect::Return | effect::NoReturn | effect::IndirectBranch | effect::Unknown;
  return cfg_[b].leaves || std::ranges::any_of(slots_.instructions(b), [&](InstrId id) {
           return form(id).row == nullptr || form(id).is(kStops) || form(id).op == Op::Trap;
         });
}

}  // namespace ptxopt
