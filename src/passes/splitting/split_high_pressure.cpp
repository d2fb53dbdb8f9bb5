// split-high-pressure: takes values out of the stretches where too much is live.
//
// What:       where the kept units of a kernel are above what the next step of its occupancy allows (split_goal.h),
//             the registers that live longest through those points without being mentioned are split around them: a
//             carrier takes the value over after each definition, and the register is written again before the
//             first use of each block, and before a use that has a point of high pressure between it and the
//             mention before. In between the register is dead.
// Algorithm:  for each kept register one walk over its mentions, block by block, finds where it has to be written
//             again, and so how many high points it would leave. Most units first; a register that leaves no point
//             that is still too high is not split; done when no such point remains.
// Modes:      by default the carrier is another register and the value is copied.
//             split-remat: a cheap definition (split_remat.h) whose operands hold the same values at each place is
//             computed anew there; a definition that nothing reads any more goes.
//             demote-shared: the carrier is a slot in .shared memory (split_shared.h), the form of splitting that
//             ptxas does not undo. Of the steps that can be reached that with the most resident blocks is taken,
//             the slots counted; none if there would be no more than now. Only where the accesses stand in no
//             deeper loop than some of the points that they relieve, and if they are in a loop, in a less deep one.
// Machine code of ptxas: identical by default. It joins copies of values with one definition, but for what it
//             computes anew itself and for lane masks, whose origin it wants to see: copies of others are declined.
//             Copies make PTX larger, so the pass runs on request only.
// Cost:       linear in operands, and logarithmic in points for each stretch, for each step tried.
// Declines:   too-large, those of SplitGoal, nothing-to-split; with slots those of whyNoSlots and step-not-reached
//             (no more blocks with the slots that fit); for a register those of whyUnsplittable, call-sequence (it
//             is a parameter or result of a call), lent (what costs nothing itself lives on in it), carried-already
//             (it is only copied); for copies cheap-definition, several-definitions, convergent; for slots
//             no-shared-memory, in-inner-loop, loads-together (see fitTogether), not-32-or-64-bits;
//             operand-of-recomputed.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "ir/opcode_predicates.h"
#include "passes/splitting/split_goal.h"
#include "passes/splitting/split_remat.h"
#include "passes/splitting/split_shared.h"
#include "passes/util/function_pass.h"
#include "passes/util/split_places.h"
#include "support/range_max.h"

namespace ptxopt {
namespace {

class PressureSplitter : FunctionPass {
 public:
  PressureSplitter(Function& f, PassContext& context)
      : FunctionPass(f, context),
        pressure_(context.analyses.registerPressure()),
        points_(pressure_.points()),
        goal_(findSplitGoal(f, context, static_cast<uint32_t>(context.knobs[Knob::SplitRegisters]))),
        remat_(context.knobs[Knob::SplitRemat] != 0),
        demote_(context.knobs[Knob::DemoteShared] != 0) {}

  bool run() {
    if (!goal_.why.empty()) {
      context_.decline(goal_.why, "the pressure is no reason to split");
      return false;
    }
    if (demote_) {
      const std::string_view why = whyNoSlots(module_, f_, goal_.needs);
      if (!why.empty()) {
        context_.decline(why, "no slots in .shared");
        demote_ = false;
        if (!remat_) return false;
      }
    }
    occurrences_.emplace(f_);
    why_ = whyUnsplittable(module_, f_, intervals_);
    findDepths();
    findCallSequences();
    findLenders();
    const Plan plan = choosePlan();
    if (plan.picks.empty()) {
      if (!declinedAll_)
        context_.decline("nothing-to-split", "no value lives unused through the points of high pressure");
    } else {
      apply(plan);
    }
    plan.declines.tell(context_, "register");
    return !plan.picks.empty();
  }

 private:
  enum class Way : uint8_t { Copy, Again, Slot };
  static constexpr std::size_t kDepths = 4;
  static constexpr uint32_t kShort = 8;  // high points between two mentions, or for each access, that do not pay

  // What splitting a register means.
  struct Split {
    RegId reg;
    Way way = Way::Copy;
    uint64_t relieved = 0;  // high points times units
    uint32_t units = 0;
    bool definitionDies = false;        // the first mention after each definition writes the register again
    std::vector<InstrId> defs;          // after these it is taken over
    std::vector<InstrId> uses;          // before these it is written again
    std::vector<KeptValue::Span> held;  // points where it stays
  };
  struct Plan {
    std::vector<Split> picks;
    uint32_t registers = 0;  // that the kernel is expected to need
    uint32_t blocks = 0;
    std::optional<SharedSlots> slots;
    Declines declines;
  };

  // ---- what is known of registers and points ----

  void findDepths() {
    const Loops& loops = context_.analyses.loops();
    depth_.reserve(cfg_.size());
    for (uint32_t b = 0; b < cfg_.size(); ++b)
      depth_.push_back(static_cast<uint8_t>(std::min<std::size_t>(loops.depth(BlockId(b)), kDepths)));
  }

  // What is passed to a call and comes back has to stay beside it.
  void findCallSequences() {
    for (const InstrId id : f_) {
      const Instruction& i = f_[id];
      if (!i.isInstruction()) continue;
      const OpcodeForm& form = module_.form(i);
      const auto operands = f_.operandsOf(i);
      const bool isOwn = std::ranges::any_of(operands, [&](const Operand& o) {
        return o.kind == OperandKind::Variable && f_.variables[o.payload].isParameter;
      });
      if (!form.is(effect::Call) && !isParameterStore(form) && (!isParameterLoad(form) || isOwn)) continue;
      for (const Operand& o : operands)
        if (o.isRegister() && why_[o.payload].empty()) why_[o.payload] = "call-sequence";
    }
  }

  void findLenders() {
    for (uint32_t r = 0; r < f_.registers.size(); ++r) {
      const uint32_t v = goal_.kept.valueOf[r];
      if (v == KeptValues::kNone || intervals_[RegId(r)].empty()) continue;
      const RegId kept = goal_.kept.values[v].reg;
      if (kept.value != r && why_[kept.value].empty()) why_[kept.value] = "lent";
    }
  }

  std::size_t pointOf(InstrId id) const { return points_.firstFrom(slots_[id].reg()); }

  // ---- the points of high pressure for one step ----

  struct High {
    uint32_t most = 0;
    // How many there are before a point, and how many of them in loops deeper than d.
    std::vector<uint32_t> before;
    std::array<std::vector<uint32_t>, kDepths> deeper;
    uint32_t between(uint32_t first, uint32_t end) const { return first < end ? before[end] - before[first] : 0; }
  };

  High findHigh(uint32_t step) const {
    High high;
    high.most = goal_.mostUnits(step);
    high.before.resize(points_.size() + 1);
    for (auto& d : high.deeper) d.resize(points_.size() + 1);
    for (std::size_t p = 0; p < points_.size(); ++p) {
      const bool isHigh = goal_.units[p] > high.most;
      high.before[p + 1] = high.before[p] + isHigh;
      const uint8_t depth = depth_[points_[p].block.value];
      for (std::size_t d = 0; d < kDepths; ++d) high.deeper[d][p + 1] = high.deeper[d][p] + (isHigh && depth > d);
    }
    return high;
  }

  // How `reg` would be split; nothing when it relieves no point.
  std::optional<Split> look(RegId reg, const High& high, Declines& declines) const {
    Split s{.reg = reg, .units = pressure_.sizeOf(reg).units, .defs = {}, .uses = {}, .held = {}};
    uint64_t live = 0;
    for (const Segment& g : intervals_[reg].segments())
      live += high.between(static_cast<uint32_t>(points_.firstFrom(g.start)),
                           static_cast<uint32_t>(points_.firstFrom(g.end)));
    if (live == 0) return {};
    if (std::string_view why = why_[reg.value]; !why.empty() || isOnlyCopied(module_, f_, *occurrences_, reg)) {
      declines.add(why.empty() ? "carried-already" : why);
      return {};
    }
    BlockId block;
    uint32_t last = 0;
    uint64_t held = 0;
    uint8_t deepest = 0;
    bool afterDef = false, readBehindDef = false;
    for (const Occurrence& o : occurrences_->of(reg)) {
      const auto at = static_cast<uint32_t>(pointOf(o.instruction));
      const BlockId b = cfg_.blockOf(o.instruction);
      if (!cfg_[b].reachable) continue;
      const bool isHeld = b == block && high.between(last, at) < kShort;
      if (isHeld)
        s.held.back().last = at;
      else
        s.held.push_back({at, at});
      if (o.reads && !isHeld) s.uses.push_back(o.instruction);
      readBehindDef |= o.reads && isHeld && afterDef;
      afterDef = o.writes || (isHeld && afterDef);
      if (o.writes) s.defs.push_back(o.instruction);
      deepest = std::max(deepest, depth_[b.value]);
      block = b;
      last = at;
    }
    if (live < kShort * (s.defs.size() + s.uses.size())) return {};
    for (const KeptValue::Span& h : s.held) held += high.between(h.first, h.last);
    s.definitionDies = !readBehindDef;
    if (s.units == 0 || live <= held || s.uses.empty()) return {};
    s.relieved = (live - held) * s.units;
    return choose(s, high, deepest, declines) ? std::optional(std::move(s)) : std::nullopt;
  }

  bool choose(Split& s, const High& high, uint8_t deepest, Declines& declines) const {
    if (remat_ && s.defs.size() == 1 && isCheapDefinition(module_, f_, f_[s.defs[0]]) &&
        std::ranges::all_of(s.uses, [&](InstrId use) {
          return readsSameAt(f_, intervals_, slots_, s.defs[0], slots_[use]) && operandsReach(s.defs[0], use);
        })) {
      s.way = Way::Again;
      return true;
    }
    std::string_view why = demote_ ? "" : whyNoCopy(s);
    if (!demote_) {
      if (!why.empty()) declines.add(why);
      return why.empty();
    }
    s.way = Way::Slot;
    const Register& r = f_.registers[s.reg.value];
    if (info(r.type).bits != 32 && info(r.type).bits != 64)
      why = "not-32-or-64-bits";
    else if (deepest != 0 && relievedDeeper(s.reg, high, deepest) == 0)
      why = "in-inner-loop";
    if (!why.empty()) declines.add(why);
    return why.empty();
  }

  // What ptxas would not take a copy for the same value of.
  std::string_view whyNoCopy(const Split& s) const {
    if (hasCheapValue(module_, f_, intervals_, slots_, s.reg)) return "cheap-definition";
    if (s.defs.size() != 1) return "several-definitions";
    return module_.form(f_[s.defs[0]]).is(effect::Convergent) ? "convergent" : "";
  }

  uint64_t relievedDeeper(RegId reg, const High& high, uint8_t than) const {
    uint64_t points = 0;
    if (than < kDepths)
      for (const Segment& g : intervals_[reg].segments())
        points += high.deeper[than][points_.firstFrom(g.end)] - high.deeper[than][points_.firstFrom(g.start)];
    return points;
  }

  bool operandsReach(InstrId definition, InstrId place) const {
    return std::ranges::all_of(f_.operandsOf(f_[definition]), [&](const Operand& o) {
      return !o.isRegister() || zones_.reaches(*occurrences_, o.reg(), place);
    });
  }

  // ---- plans ----

  Plan choosePlan() {
    Plan best = makePlan(goal_.registers.front());
    if (!demote_) return best;
    for (std::size_t k = 1; k < goal_.registers.size(); ++k)
      if (Plan plan = makePlan(goal_.registers[k]); plan.blocks > best.blocks) best = std::move(plan);
    const bool forced = context_.knobs[Knob::SplitRegisters] != 0;
    if (best.slots->bytes() == 0 || forced || best.blocks > occupancy(*goal_.machine, goal_.block).blocks)
      return best;
    context_.decline("step-not-reached",
                     fmt::format("{} registers and {} bytes of .shared (estimates) allow no more blocks",
                                 best.registers, best.slots->allBytes()));
    declinedAll_ = true;
    best.picks.clear();
    return best;
  }

  Plan makePlan(uint32_t step) const {
    Plan plan;
    if (demote_) plan.slots.emplace(goal_.needs);
    const High high = findHigh(step);
    std::vector<Split> all;
    for (const KeptValue& v : goal_.kept.values)
      if (std::optional<Split> s = look(v.reg, high, plan.declines)) all.push_back(std::move(*s));
    std::ranges::stable_sort(all, std::ranges::greater(), &Split::relieved);

    RangeMax units(goal_.units);
    std::vector<uint32_t> together(2 * cfg_.size());  // units stored and loaded in each block
    std::vector<bool> isOperand(f_.registers.size()), isSplit(f_.registers.size());
    for (Split& s : all) {
      if (units.most() <= high.most) break;
      if (isOperand[s.reg.value]) {
        plan.declines.add("operand-of-recomputed");
        continue;
      }
      if (s.way == Way::Again && readsAny(s.defs[0], isSplit)) continue;
      if (s.way == Way::Slot && !plan.slots->hasRoom(s.units)) {
        plan.declines.add("no-shared-memory");
        continue;
      }
      if (s.way == Way::Slot && !fitTogether(s, high.most, together)) {
        plan.declines.add("loads-together");
        continue;
      }
      if (!relieve(s, high.most, units)) continue;
      isSplit[s.reg.value] = true;
      if (s.way == Way::Again)
        for (const Operand& o : f_.operandsOf(f_[s.defs[0]]))
          if (o.isRegister() && o.reads()) isOperand[o.payload] = true;
      if (s.way == Way::Slot) {
        plan.slots->add(s.units);
        forEachAccess(s, [&](std::size_t place) { together[place] += s.units; });
      }
      plan.picks.push_back(std::move(s));
    }
    const auto most = static_cast<uint32_t>(std::max<int64_t>(units.most(), 0));
    plan.registers = step + (most > high.most ? most - high.most : 0);
    BlockNeeds block = goal_.block;
    block.registersPerThread = plan.registers;
    if (demote_) block.sharedBytes = plan.slots->allBytes();
    plan.blocks = occupancy(*goal_.machine, block).blocks;
    return plan;
  }

  void forEachAccess(const Split& s, const auto& visit) const {
    for (const InstrId id : s.defs) visit(2 * std::size_t{cfg_.blockOf(id).value});
    for (const InstrId id : s.uses) visit(2 * std::size_t{cfg_.blockOf(id).value} + 1);
  }

  // ptxas brings the loads of a block together, those of the slots and those whose results go there: they would all
  // be live at a time, so there must be no more than the step allows.
  bool fitTogether(const Split& s, uint32_t most, const std::vector<uint32_t>& together) const {
    bool fits = true;
    forEachAccess(s, [&](std::size_t place) { fits &= together[place] + s.units <= most; });
    return fits;
  }

  bool readsAny(InstrId id, const std::vector<bool>& registers) const {
    return std::ranges::any_of(f_.operandsOf(f_[id]), [&](const Operand& o) {
      return o.isRegister() && o.reads() && registers[o.payload];
    });
  }

  // Takes the units of `s` from the points that it leaves. False, and nothing done, when none of them is still
  // high.
  bool relieve(const Split& s, uint32_t most, RangeMax& units) const {
    const auto forEachLeft = [&](const auto& visit) {
      auto h = s.held.begin();
      for (const Segment& g : intervals_[s.reg].segments()) {
        std::size_t at = points_.firstFrom(g.start);
        const std::size_t end = points_.firstFrom(g.end);
        while (at < end) {
          while (h != s.held.end() && h->last < at) ++h;
          const std::size_t stop = h == s.held.end() ? end : std::min<std::size_t>(end, h->first);
          if (at < stop) visit(at, stop);
          at = h == s.held.end() ? end : std::max<std::size_t>(stop, h->last + 1);
        }
      }
    };
    bool useful = false;
    forEachLeft([&](std::size_t first, std::size_t end) { useful |= units.most(first, end) > most; });
    if (useful) forEachLeft([&](std::size_t first, std::size_t end) { units.add(first, end, -int64_t{s.units}); });
    return useful;
  }

  // ---- changes ----

  struct Edit {
    uint32_t point;
    bool behind;  // the instruction of the point, or before it
    uint32_t split;
    InstrId instruction;
  };

  void apply(Plan plan) {
    std::vector<Edit> edits;
    std::vector<uint32_t> carrier(plan.picks.size());  // a register, or a slot
    std::array<uint32_t, 2> next{};
    std::vector<InstrId> dying;
    uint64_t ways[3] = {};
    for (uint32_t k = 0; k < plan.picks.size(); ++k) {
      const Split& s = plan.picks[k];
      ++ways[static_cast<std::size_t>(s.way)];
      if (s.way == Way::Copy) carrier[k] = f_.makeRegister(f_.registers[s.reg.value].type).value;
      if (s.way == Way::Slot) carrier[k] = next[s.units - 1]++;
      if (s.way == Way::Again && s.definitionDies) dying.push_back(s.defs[0]);
      if (s.way != Way::Again)
        for (const InstrId id : s.defs) edits.push_back({static_cast<uint32_t>(pointOf(id)), true, k, id});
      for (const InstrId id : s.uses) edits.push_back({static_cast<uint32_t>(pointOf(id)), false, k, id});
    }
    std::ranges::stable_sort(edits, {}, [](const Edit& e) { return 2 * uint64_t{e.point} + e.behind; });
    if (plan.slots) plan.slots->declare(module_, f_);
    BlockId block;
    for (const Edit& e : edits) {
      const Split& s = plan.picks[e.split];
      const InstrId place = e.behind ? f_[e.instruction].next : placeBefore(module_, f_, e.instruction);
      if (const BlockId b = cfg_.blockOf(e.instruction); b != block && plan.slots) {
        plan.slots->startBlock();
        block = b;
      }
      switch (s.way) {
        case Way::Copy:
          e.behind ? insertCopy(module_, f_, RegId(carrier[e.split]), s.reg, place)
                   : insertCopy(module_, f_, s.reg, RegId(carrier[e.split]), place);
          break;
        case Way::Again: insertAgain(f_, s.defs[0], place); break;
        case Way::Slot: plan.slots->access(module_, f_, s.reg, carrier[e.split], e.behind, place); break;
      }
    }
    for (const InstrId id : dying) f_.erase(id);
    context_.count("ranges-split", plan.picks.size());
    context_.count("copied", ways[0]);
    context_.count("rematerialized", ways[1]);
    context_.count("demoted", ways[2]);
    if (plan.slots) context_.count("shared-bytes", plan.slots->bytes());
    if (ways[1] + ways[2] != 0) tellExpected(plan, ways[1], ways[2]);
  }

  void tellExpected(const Plan& plan, uint64_t again, uint64_t slots) {
    context_.analyses.invalidate();
    const uint32_t after = context_.analyses.fatPointRegisters();
    context_.count("registers-expected-before", goal_.estimate.fatPoint);
    context_.count("registers-expected-after", after);
    context_.note("expected-registers",
                  fmt::format("{} before, {} after (estimates); {} values recomputed, {} in {} bytes of .shared",
                              goal_.estimate.fatPoint, after, again, slots, plan.slots ? plan.slots->bytes() : 0));
  }

  const RegisterPressure& pressure_;
  const PressurePoints& points_;
  const SplitGoal goal_;
  const Zones zones_{module_, f_};
  bool remat_, demote_;
  bool declinedAll_ = false;
  std::optional<Occurrences> occurrences_;
  std::vector<std::string_view> why_;  // by RegId
  std::vector<uint8_t> depth_;         // of loops, by BlockId, kDepths at most
};

}  // namespace

bool splitHighPressure(Function& f, PassContext& context) {
  const Cfg& cfg = context.analyses.cfg();
  if (!cfg.complete()) {
    context.decline("too-large", "the control-flow graph has too many edges");
    return false;
  }
  return PressureSplitter(f, context).run();
}

}  // namespace ptxopt
