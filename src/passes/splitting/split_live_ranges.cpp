// split-live-ranges: takes values out of loops that they only live through.
//
// What:       a register that is live around a loop and not mentioned in it is carried by another one there:
//             `mov c, r` on every way in, `mov r, c` on every way out where r is needed. What was one range across
//             the loop becomes one before, one inside that nobody touches, and one behind, which later passes can
//             move, recompute or put elsewhere one by one. Of nested loops the outermost is taken.
// Algorithm:  for each register, the highest first, the loops whose headers lie in its live range and that have
//             none of its mentions (marked up the loop tree). A value made by a copy of another register that is
//             carried around the same loop shares its carrier: where both are live they hold the same value, by the
//             numbers of the live ranges, up the chain of copies. A value in which several definitions meet is
//             carried like any other; the copies back write the register in which they meet.
//             Ways in: the end of a block that leads nowhere else, or a new block between two that follow each
//             other in the text. Ways out: the start of a block that only the loop leads to.
// Modes:      by default copies only. Knob split-remat: in loops whose pressure is above the next step of the
//             occupancy (split_goal.h), a value with a cheap definition (cheap_definitions.h) whose operands hold the
//             same values behind the loop is computed anew there instead of carried.
// Machine code of ptxas: identical by default. It joins most copies, but not where a value and its copy meet, nor a
//             copy of what it computes anew: both are declined. Copies make PTX larger, so the pass runs on request
//             only.
// Cost:       linear in operands and in pairs of a loop and a register live through it, times a logarithm.
// Declines:   too-large; no-loop-through-values; for a loop: irreducible, no-preheader (a way in has no place); for
//             a register: those of whyUnsplittable, shared-exit (a way out that it needs is shared with ways around
//             the loop), meets-itself (the same further down), cheap-definition, scope (its name may mean another
//             register there), carried-already (it is only copied), budget (more copies than a few times the
//             instructions); with split-remat operand-of-recomputed and those of SplitGoal.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "passes/splitting/cheap_definitions.h"
#include "passes/splitting/split_goal.h"
#include "passes/util/split_places.h"

namespace ptxopt {
namespace {

// The ways into and out of a loop.
struct Ways {
  struct Out {
    BlockId to;
    InstrId place;
    SlotIndex start;  // a register is needed if it is live here
    bool isAlone;     // only the loop leads here
  };
  std::string_view why;     // there are none
  std::vector<InstrId> in;  // places
  std::vector<Out> out;
};

class LoopSplitter {
 public:
  LoopSplitter(Function& f, PassContext& context)
      : f_(f),
        context_(context),
        module_(context.module),
        cfg_(context.analyses.cfg()),
        loops_(context.analyses.loops()),
        slots_(context.analyses.slotIndexes()),
        intervals_(context.analyses.liveIntervals()),
        occurrences_(f),
        zones_(module_, f) {}

  bool run() {
    collect();
    if (!found_)
      context_.decline("no-loop-through-values", "no value lives through a loop without being used in it");
    const std::size_t before = f_.instructions.size();
    mostCopies_ = kMostCopies * before + kMostCopies;
    if (found_ && context_.knobs[Knob::SplitRemat] != 0) setGoal();
    for (uint32_t l = 0; l < loops_.size(); ++l) splitLoop(LoopId(l));
    apply();
    declines_.tell(context_, "time");
    const std::size_t made = f_.instructions.size() - before;
    context_.count("ranges-split", split_);
    context_.count("rematerialized", again_.size());
    context_.count("copies-added", made - again_.size());
    if (!again_.empty()) tellExpected();
    return made != 0;
  }

 private:
  static constexpr std::size_t kMostCopies = 4;    // an instruction
  static constexpr std::size_t kMostLookups = 64;  // an instruction

  struct Copy {
    RegId to, from;
    InstrId place;
  };
  struct Again {
    InstrId definition, place;
  };
  struct Candidate {
    RegId reg;
    RegId carrier;
  };

  // ---- which registers live through which loops ----

  void collect() {
    candidates_.resize(loops_.size());
    ways_.resize(loops_.size());
    if (loops_.size() == 0) return;
    why_ = whyUnsplittable(module_, f_, intervals_);
    std::vector<std::pair<SlotIndex, LoopId>> headers;
    for (uint32_t l = 0; l < loops_.size(); ++l) headers.emplace_back(slots_.start(loops_[LoopId(l)].header), l);
    std::ranges::sort(headers);
    std::vector<RegId> mentions(loops_.size());  // by loop: the register that was last found to be mentioned in it
    std::vector<LoopId> through;
    for (uint32_t r = static_cast<uint32_t>(f_.registers.size()); r-- > 1;) {
      const RegId reg(r);
      through.clear();
      bool marked = false;
      for (const Segment& s : intervals_[reg].segments())
        for (auto h = std::ranges::lower_bound(headers, std::pair(s.start, LoopId(0u)));
             h != headers.end() && h->first < s.end; ++h, ++lookups_) {
          if (!marked) markMentions(reg, mentions);
          marked = true;
          if (mentions[h->second.value] != reg) through.push_back(h->second);
        }
      if (lookups_ > kMostLookups * (f_.instructions.size() + kMostLookups)) return declines_.add("budget");
      if (through.empty()) continue;
      found_ = true;
      std::ranges::sort(through);  // parents first
      chooseLoops(reg, through);
    }
  }

  void markMentions(RegId reg, std::vector<RegId>& mentions) const {
    for (const Occurrence& o : occurrences_.of(reg))
      for (LoopId l = loops_.of(cfg_.blockOf(o.instruction)); l.valid() && mentions[l.value] != reg;
           l = loops_[l].parent)
        mentions[l.value] = reg;
  }

  void chooseLoops(RegId reg, const std::vector<LoopId>& through) {
    if (!why_[reg.value].empty()) return declines_.add(why_[reg.value]);
    if (isOnlyCopied(module_, f_, occurrences_, reg)) return declines_.add("carried-already");
    chosen_.clear();
    for (const LoopId l : through) {
      bool inside = false;
      for (LoopId outer = loops_[l].parent; outer.valid() && !inside; outer = loops_[outer].parent)
        inside = std::ranges::binary_search(chosen_, outer);
      if (inside) continue;
      const Ways& ways = waysOf(l);
      const std::string_view why = whyNot(reg, ways);
      if (!why.empty()) {
        declines_.add(why);
      } else {
        chosen_.push_back(l);
        candidates_[l.value].push_back({reg, RegId()});
      }
    }
  }

  bool isNeeded(RegId reg, const Ways::Out& out) const { return intervals_[reg].isLiveAt(out.start); }

  std::string_view whyNot(RegId reg, const Ways& ways) {
    if (!ways.why.empty()) return ways.why;
    for (const Ways::Out& o : ways.out) {
      if (!isNeeded(reg, o)) continue;
      if (!o.isAlone) return "shared-exit";
      if (!zones_.reaches(occurrences_, reg, o.place)) return "scope";
      if (meetsItself(reg, o.to)) return "meets-itself";
    }
    return std::ranges::all_of(ways.in, [&](InstrId p) { return zones_.reaches(occurrences_, reg, p); }) ? ""
                                                                                                         : "scope";
  }

  // Whether, somewhere behind the copy back at the start of `to`, `reg` is live where a way that does not pass `to`
  // joins: there ptxas would see two values that meet, and does not always find out that they are one.
  bool meetsItself(RegId reg, BlockId to) {
    const DominatorTree& dominators = context_.analyses.dominators();
    for (const Segment& s : intervals_[reg].segments())
      for (BlockId b = slots_.blockAt(s.start); b.value < cfg_.size() && slots_.start(b) < s.end;
           b = BlockId(b.value + 1)) {
        ++lookups_;
        if (!dominators.dominates(to, b)) continue;
        for (const BlockId next : cfg_.successors(b))
          if (!dominators.dominates(to, next) && intervals_[reg].isLiveAt(slots_.start(next))) return true;
      }
    return false;
  }

  // ---- ways ----

  const Ways& waysOf(LoopId l) {
    std::optional<Ways>& ways = ways_[l.value];
    if (!ways) {
      ways.emplace();
      ways->why = findIn(l, *ways);
      findOut(l, *ways);
    }
    return *ways;
  }

  bool isRoot(BlockId b) const { return std::ranges::find(cfg_.roots(), b) != cfg_.roots().end(); }

  std::string_view findIn(LoopId l, Ways& ways) const {
    const BlockId header = loops_[l].header;
    if (loops_[l].irreducible) return "irreducible";
    if (isRoot(header)) return "no-preheader";
    for (const BlockId p : cfg_.predecessors(header)) {
      if (loops_.contains(l, p)) continue;
      InstrId place;
      if (leadsOnlyTo(p, header))
        place = placeAtEnd(module_, f_, cfg_[p]);
      else if (!placeBetween(module_, f_, cfg_, p, header, place))
        return "no-preheader";
      ways.in.push_back(place);
    }
    return {};
  }

  bool leadsOnlyTo(BlockId from, BlockId to) const {
    return std::ranges::all_of(cfg_.successors(from), [&](BlockId s) { return s == to; });
  }

  void findOut(LoopId l, Ways& ways) const {
    std::vector<BlockId> done;
    for (const Loops::Exit& e : loops_.exits(cfg_, l)) {
      // One that leaves the function needs nothing.
      if (!e.to.valid() || std::ranges::find(done, e.to) != done.end()) continue;
      done.push_back(e.to);
      const bool isAlone = !isRoot(e.to) && std::ranges::all_of(cfg_.predecessors(e.to),
                                                                [&](BlockId p) { return loops_.contains(l, p); });
      ways.out.push_back({e.to, placeAtStart(module_, f_, cfg_[e.to]), slots_.start(e.to), isAlone});
    }
  }

  // ---- copies ----

  void splitLoop(LoopId l) {
    std::vector<Candidate>& all = candidates_[l.value];
    if (all.empty()) return;
    const Ways& ways = *ways_[l.value];
    indexOf_.resize(f_.registers.size(), UINT32_MAX);
    for (uint32_t k = 0; k < all.size(); ++k) indexOf_[all[k].reg.value] = k;
    for (Candidate& c : all) {
      if (recompute(l, c.reg, ways)) continue;
      if (isLocked(c.reg)) {
        declines_.add("operand-of-recomputed");
        continue;
      }
      if (out_.size() + in_.size() > mostCopies_) {
        declines_.add("budget");
        continue;
      }
      if (hasCheapValue(module_, f_, intervals_, slots_, c.reg)) {
        declines_.add("cheap-definition");
        continue;
      }
      const RegId carrier = carrierOf(all, c.reg);
      for (const Ways::Out& o : ways.out)
        if (isNeeded(c.reg, o)) out_.push_back({c.reg, carrier, o.place});
      markSplit(c.reg);
      ++split_;
    }
    // One way in for each carrier, whichever register of its chain came first.
    for (const Candidate& c : all)
      if (c.carrier.valid())
        for (const InstrId place : ways.in) in_.push_back({c.carrier, c.reg, place});
    for (const Candidate& c : all) indexOf_[c.reg.value] = UINT32_MAX;
  }

  // The register that carries `reg`: that of the last in its chain of copies which is carried too.
  RegId carrierOf(std::vector<Candidate>& all, RegId reg) {
    for (RegId source = sourceOf(reg); source.valid() && !isLocked(source); source = sourceOf(source)) reg = source;
    Candidate& root = all[indexOf_[reg.value]];
    if (!root.carrier.valid()) root.carrier = f_.makeRegister(f_.registers[reg.value].type);
    return root.carrier;
  }

  // Of what `reg` is a copy where the loop begins, if that is carried too and still holds the same value there.
  RegId sourceOf(RegId reg) const {
    const LiveRange& range = intervals_[reg];
    if (range.values().size() != 1 || range.values()[0].kind != ValueKind::Instruction) return {};
    const InstrId id = slots_.instructionAt(range.values()[0].def);
    const Instruction& i = f_[id];
    const auto operands = f_.operandsOf(i);
    if (i.is(Instruction::Guarded) || operands.size() != 2 || !operands[0].isRegister() ||
        !operands[1].isRegister() || operands[1].flags != 0 || module_.form(i).op != Op::Mov)
      return {};
    const RegId source = operands[1].reg();
    const bool isAlike = source != reg && indexOf_.size() > source.value && indexOf_[source.value] != UINT32_MAX &&
                         f_.registers[source.value].registerClass() == f_.registers[reg.value].registerClass();
    // One value each: wherever both are live they hold the same.
    return isAlike && intervals_[source].values().size() == 1 ? source : RegId();
  }

  // ---- recomputing ----

  void setGoal() {
    const RegisterPressure& pressure = context_.analyses.registerPressure();
    goal_ = findSplitGoal(f_, context_, static_cast<uint32_t>(context_.knobs[Knob::SplitRegisters]));
    if (!goal_->why.empty()) {
      context_.decline(goal_->why, "nothing is recomputed");
      goal_.reset();
      return;
    }
    const uint32_t most = goal_->mostUnits(goal_->registers.front());
    isPressed_.resize(loops_.size());
    for (uint32_t l = 0; l < loops_.size(); ++l)
      for (const BlockId b : loops_.blocks(LoopId(l)))
        for (std::size_t p = pressure.points().firstOf(b); p < pressure.points().endOf(b) && !isPressed_[l]; ++p)
          isPressed_[l] = goal_->units[p] > most;
    isOperand_.resize(f_.registers.size());
    isSplit_.resize(f_.registers.size());
  }

  bool isLocked(RegId r) const { return isOperand_.size() > r.value && isOperand_[r.value]; }
  void markSplit(RegId r) {
    if (isSplit_.size() > r.value) isSplit_[r.value] = true;
  }

  // Whether `reg` is computed anew behind the loop. Its only definition dominates what reads it, and those of its
  // operands' values dominate that, so no new round of a loop changes an operand while `reg` is live. What it reads
  // is not split then, nor the other way around: the order of the two behind the loop would matter.
  bool recompute(LoopId l, RegId reg, const Ways& ways) {
    if (!goal_ || !isPressed_[l.value] || isLocked(reg)) return false;
    const LiveRange& range = intervals_[reg];
    if (range.values().size() != 1 || range.values()[0].kind != ValueKind::Instruction) return false;
    const InstrId definition = slots_.instructionAt(range.values()[0].def);
    if (!isCheapDefinition(module_, f_, f_[definition])) return false;
    const auto reads = [&](const auto& holds) {
      return std::ranges::all_of(f_.operandsOf(f_[definition]),
                                 [&](const Operand& o) { return !o.isRegister() || !o.reads() || holds(o.reg()); });
    };
    if (!reads([&](RegId r) { return !isSplit_[r.value]; })) return false;
    for (const Ways::Out& o : ways.out)
      if (isNeeded(reg, o) && (!readsSameAt(f_, intervals_, slots_, definition, o.start) ||
                               !reads([&](RegId r) { return zones_.reaches(occurrences_, r, o.place); })))
        return false;
    for (const Ways::Out& o : ways.out)
      if (isNeeded(reg, o)) again_.push_back({definition, o.place});
    reads([&](RegId r) { return isOperand_[r.value] = true; });
    markSplit(reg);
    ++split_;
    return true;
  }

  void tellExpected() {
    context_.analyses.invalidate();
    const uint32_t after = context_.analyses.fatPointRegisters();
    context_.count("registers-expected-before", goal_->estimate.fatPoint);
    context_.count("registers-expected-after", after);
    context_.note("expected-registers", fmt::format("{} before, {} after (estimates), {} values recomputed",
                                                    goal_->estimate.fatPoint, after, again_.size()));
  }

  // What comes out of one loop may go into the next at the same place: out comes first.
  void apply() {
    for (const Copy& c : out_) insertCopy(module_, f_, c.to, c.from, c.place);
    for (const Again& a : again_) insertAgain(f_, a.definition, a.place);
    for (const Copy& c : in_) insertCopy(module_, f_, c.to, c.from, c.place);
  }

  Function& f_;
  PassContext& context_;
  const Module& module_;
  const Cfg& cfg_;
  const Loops& loops_;
  const SlotIndexes& slots_;
  const LiveIntervals& intervals_;
  const Occurrences occurrences_;
  const Zones zones_;
  Declines declines_;
  bool found_ = false;
  std::vector<std::string_view> why_;               // by RegId
  std::vector<std::optional<Ways>> ways_;           // by LoopId
  std::vector<std::vector<Candidate>> candidates_;  // by LoopId
  std::vector<LoopId> chosen_;                      // loops of the register at hand, ascending
  std::vector<uint32_t> indexOf_;                   // by RegId: in the candidates of the loop at hand
  std::optional<SplitGoal> goal_;
  std::vector<bool> isPressed_;            // by LoopId
  std::vector<bool> isOperand_, isSplit_;  // by RegId, with a goal
  std::vector<Copy> in_, out_;
  std::vector<Again> again_;
  std::size_t split_ = 0, mostCopies_ = 0, lookups_ = 0;
};

}  // namespace

bool splitLiveRanges(Function& f, PassContext& context) {
  if (!context.analyses.cfg().complete()) {
    context.decline("too-large", "the control-flow graph has too many edges");
    return false;
  }
  return LoopSplitter(f, context).run();
}

}  // namespace ptxopt
