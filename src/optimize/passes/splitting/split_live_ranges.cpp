// split-live-ranges: takes values out of loops that they only live through.
//
// What:       a register that is live around a loop and not mentioned in it is carried by another one there:
//             `mov c, r` on every way in, `mov r, c` on every way out where r is needed. What was one range across
//             the loop becomes one before, one inside that nobody touches, and one after, which later passes can
//             move, recompute or put elsewhere one by one.
// Algorithm:  loop_candidates.h finds the registers, loop_ways.h the places. A value made by a copy of another
//             register that is carried around the same loop shares its carrier: where both are live they hold the
//             same, by the numbers of the live ranges, up the chain of copies. A value in which several definitions
//             meet is carried like any other; the copies back write the register in which they meet.
// Modes:      by default copies only, which this file inserts. Knob split-remat: loop_remat.h.
// Machine code of ptxas: identical by default. It joins most copies, but not where a value and its copy meet, nor a
//             copy of what it computes anew: both are declined. Copies make PTX larger, so the pass runs on request
//             only.
// Cost:       that of finding candidates; copies at most a few times the instructions.
// Declines:   too-large; no-loop-through-values; those of loop_candidates.h; cheap-definition, budget (too many
//             copies); with split-remat operand-of-recomputed and those of SplitGoal.

#include "passes/splitting/cheap_definitions.h"
#include "passes/splitting/loop_candidates.h"
#include "passes/splitting/loop_remat.h"
#include "passes/util/insert_copy.h"
#include "passes/util/missed_remarks.h"
#include "passes/util/register_scopes.h"

namespace ptxopt {
namespace {

class LoopSplitter {
 public:
  LoopSplitter(Function& f, PassContext& context)
      : f_(f),
        context_(context),
        module_(context.module),
        slots_(context.analyses.slotIndexes()),
        intervals_(context.analyses.liveIntervals()),
        occurrences_(f),
        scopes_(module_, f),
        candidates_(f, context, occurrences_, scopes_, missed_),
        remat_(f, context, occurrences_, scopes_) {}

  bool run() {
    if (!candidates_.found())
      context_.decline("no-loop-through-values", "no value lives through a loop without being used in it");
    const std::size_t before = f_.instructions.size();
    mostCopies_ = kMostCopies * before + kMostCopies;
    if (candidates_.found() && context_.knobs[Knob::SplitRemat] != 0) remat_.findGoal();
    for (uint32_t l = 0; l < context_.analyses.loops().size(); ++l) splitLoop(LoopId(l));
    apply();
    missed_.tell(context_, "time");
    const std::size_t made = f_.instructions.size() - before, recomputed = remat_.places().size();
    context_.count("ranges-split", split_);
    context_.count("rematerialized", recomputed);
    context_.count("copies-added", made - recomputed);
    if (recomputed != 0) remat_.tellExpected();
    return made != 0;
  }

 private:
  static constexpr std::size_t kMostCopies = 4;  // an instruction

  struct Copy {
    RegId to, from;
    InstrId place;
  };
  struct Carried {
    RegId reg;
    RegId carrier;  // not valid: none, or that of a register in its chain of copies
  };

  void splitLoop(LoopId l) {
    if (candidates_.of(l).empty()) return;
    const LoopWays& ways = candidates_.ways(l);
    std::vector<Carried> all;
    indexOf_.resize(f_.registers.size(), UINT32_MAX);
    for (const RegId reg : candidates_.of(l)) {
      indexOf_[reg.value] = static_cast<uint32_t>(all.size());
      all.push_back({reg, RegId()});
    }
    for (const Carried& c : all) {
      const bool isRecomputed = remat_.recompute(l, c.reg, candidates_);
      if (!isRecomputed && !carry(c.reg, ways, all)) continue;
      ++split_;
    }
    // One way in for each carrier, whichever register of its chain came first.
    for (const Carried& c : all)
      if (c.carrier.valid())
        for (const InstrId place : ways.in) in_.push_back({c.carrier, c.reg, place});
    for (const Carried& c : all) indexOf_[c.reg.value] = UINT32_MAX;
  }

  bool carry(RegId reg, const LoopWays& ways, std::vector<Carried>& all) {
    if (const std::string_view why = whyNotCarried(reg); !why.empty()) {
      missed_.add(why);
      return false;
    }
    const RegId carrier = carrierOf(all, reg);
    for (const LoopWays::Out& o : ways.out)
      if (candidates_.isNeeded(reg, o)) out_.push_back({reg, carrier, o.place});
    remat_.markSplit(reg);
    return true;
  }

  std::string_view whyNotCarried(RegId reg) const {
    if (remat_.isOperand(reg)) return "operand-of-recomputed";
    if (out_.size() + in_.size() > mostCopies_) return "budget";
    return hasCheapValue(module_, f_, intervals_, slots_, reg) ? "cheap-definition" : "";
  }

  // The register that carries `reg`: that of the last in its chain of copies which is carried too.
  RegId carrierOf(std::vector<Carried>& all, RegId reg) {
    for (RegId source = sourceOf(reg); source.valid() && !remat_.isOperand(source); source = sourceOf(source))
      reg = source;
    Carried& root = all[indexOf_[reg.value]];
    if (!root.carrier.valid()) root.carrier = f_.makeRegister(f_.registers[reg.value].type);
    return root.carrier;
  }

  // The register that `reg` copies where the loop begins, if that is carried too and still holds the same value there.
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

  // What comes out of one loop may go into the next at the same place: out comes first.
  void apply() {
    for (const Copy& c : out_) insertCopy(module_, f_, c.to, c.from, c.place);
    remat_.insert(f_);
    for (const Copy& c : in_) insertCopy(module_, f_, c.to, c.from, c.place);
  }

  Function& f_;
  PassContext& context_;
  const Module& module_;
  const SlotIndexes& slots_;
  const LiveIntervals& intervals_;
  const Occurrences occurrences_;
  const RegisterScopes scopes_;
  MissedRemarks missed_;  // before `candidates_`, which adds to it
  const LoopCandidates candidates_;
  LoopRemat remat_;
  std::vector<uint32_t> indexOf_;  // by RegId: among the candidates of the loop at hand
  std::vector<Copy> in_, out_;
  std::size_t split_ = 0, mostCopies_ = 0;
};

}  // namespace

bool splitLiveRanges(Function& f, PassContext& context) {
  if (!context.hasUsableGraph()) return false;
  return LoopSplitter(f, context).run();
}

}  // namespace ptxopt
