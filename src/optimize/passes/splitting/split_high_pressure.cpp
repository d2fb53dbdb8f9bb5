// split-high-pressure: takes values out of the stretches where too much is live.
//
// What:       where the allocated units of a kernel are above what the next step of its occupancy allows (split_goal.h),
//             the registers that live longest through those points without being mentioned are split around them.
// Algorithm:  register_split.h finds how a register would be split; split_plan.h picks registers and the step;
//             this file inserts what the modes ask for, in the order of the text.
// Modes:      a file for each (split_mode.h).
//             by default     copy_mode.h: the carrier is another register, and the value is copied.
//             split-remat    remat_mode.h: a cheap definition is computed anew at each place.
//             spill-to-shared  shared_mode.h: the carrier is a slot in .shared memory.
// Machine code of ptxas: identical by default. Copies make PTX larger, so the pass runs on request only.
// Cost:       linear in operands, and logarithmic in points for each stretch, for each step tried.
// Declines:   too-large, those of SplitGoal, nothing-to-split, with slots those of whyNoSlots, and those of
//             split_plan.h and of the modes.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "passes/splitting/split_plan.h"
#include "passes/util/insertion_places.h"

namespace ptxopt {
namespace {

class PressureSplitter {
 public:
  PressureSplitter(Function& f, PassContext& context)
      : f_(f),
        context_(context),
        goal_(findSplitGoal(f, context, static_cast<uint32_t>(context.knobs[Knob::SplitRegisters]))) {}

  bool run() {
    if (!goal_.why.empty()) {
      context_.decline(goal_.why, "the pressure is not a reason to split");
      return false;
    }
    const std::optional<SplitPlanner::Modes> modes = findModes();
    if (!modes) return false;
    const SplitSource source(f_, context_);
    const SplitPlanner planner(source, goal_, *modes);
    SplitPlan plan = planner.best();
    if (plan.sharedBytes() != 0 && context_.knobs[Knob::SplitRegisters] == 0 && !planner.allowsMoreBlocks(plan)) {
      context_.decline("step-not-reached",
                       fmt::format("{} registers and {} bytes of .shared (estimates) allow no more blocks",
                                   plan.registers, plan.shared->slots().allBytes()));
      plan.picks.clear();
    } else if (plan.picks.empty()) {
      context_.decline("nothing-to-split", "no value lives unused through the points of high pressure");
    } else {
      apply(plan, source);
      tell(plan);
    }
    plan.missed.tell(context_, "register");
    return !plan.picks.empty();
  }

 private:
  // By the knobs; nothing if only slots are asked for, and there may be none.
  std::optional<SplitPlanner::Modes> findModes() {
    SplitPlanner::Modes modes{.remat = context_.knobs[Knob::SplitRemat] != 0,
                              .shared = context_.knobs[Knob::SpillToShared] != 0};
    if (!modes.shared) return modes;
    const std::string_view why = whyNoSlots(context_.module, f_, goal_.needs);
    if (why.empty()) return modes;
    context_.decline(why, "no slots in .shared");
    modes.shared = false;
    return modes.remat ? std::optional(modes) : std::nullopt;
  }

  struct Edit {
    uint32_t point;
    bool isAfter;  // the instruction of the point, or before it
    const RegisterSplit* split;
    InstrId instruction;
    InstrId place;  // what is inserted goes before it
  };

  // In the order of the text; at one point what comes before the instruction comes first.
  // The places are found before anything is inserted: of an instruction with two results the second is taken over after
  // what the first one needed, an address that both share.
  std::vector<Edit> findEdits(const SplitPlan& plan, const SplitSource& source) const {
    std::vector<Edit> edits;
    for (const RegisterSplit& s : plan.picks) {
      if (s.mode->takesOver())
        for (const InstrId id : s.defs)
          edits.push_back({static_cast<uint32_t>(source.pointOf(id)), true, &s, id, f_[id].next});
      for (const InstrId id : s.uses)
        edits.push_back(
            {static_cast<uint32_t>(source.pointOf(id)), false, &s, id, placeBefore(context_.module, f_, id)});
    }
    std::ranges::stable_sort(edits, {}, [](const Edit& e) { return 2 * uint64_t{e.point} + e.isAfter; });
    return edits;
  }

  void apply(SplitPlan& plan, const SplitSource& source) {
    const std::vector<Edit> edits = findEdits(plan, source);
    for (RegisterSplit& s : plan.picks) s.mode->beginSplit(f_, s);
    for (const auto& mode : plan.modes) mode->begin(f_);
    BlockId block;
    for (const Edit& e : edits) {
      if (const BlockId b = source.cfg.blockOf(e.instruction); b != block) {
        for (const auto& mode : plan.modes) mode->beginBlock();
        block = b;
      }
      if (e.isAfter)
        e.split->mode->takeOver(f_, *e.split, e.place);
      else
        e.split->mode->writeAgain(f_, *e.split, e.place);
    }
    for (const auto& mode : plan.modes) mode->end(f_);
  }

  void tell(const SplitPlan& plan) {
    const auto count = [&](SplitMode::Kind kind) {
      return static_cast<uint64_t>(
          std::ranges::count(plan.picks, kind, [](const RegisterSplit& s) { return s.mode->kind(); }));
    };
    const uint64_t recomputed = count(SplitMode::Kind::Remat), slots = count(SplitMode::Kind::Shared);
    context_.count("ranges-split", plan.picks.size());
    context_.count("copied", count(SplitMode::Kind::Copy));
    context_.count("rematerialized", recomputed);
    context_.count("demoted", slots);
    if (plan.shared != nullptr) context_.count("shared-bytes", plan.sharedBytes());
    if (recomputed + slots != 0) tellExpected(plan, recomputed, slots);
  }

  void tellExpected(const SplitPlan& plan, uint64_t recomputed, uint64_t slots) {
    context_.analyses.invalidate();
    const uint32_t after = context_.analyses.fatPointRegisters();
    context_.count("registers-expected-before", goal_.estimate.fatPoint);
    context_.count("registers-expected-after", after);
    context_.note("expected-registers",
                  fmt::format("{} before, {} after (estimates); {} values recomputed, {} in {} bytes of .shared",
                              goal_.estimate.fatPoint, after, recomputed, slots, plan.sharedBytes()));
  }

  Function& f_;
  PassContext& context_;
  const SplitGoal goal_;
};

}  // namespace

bool splitHighPressure(Function& f, PassContext& context) {
  if (!context.hasUsableGraph()) return false;
  return PressureSplitter(f, context).run();
}

}  // namespace ptxopt
