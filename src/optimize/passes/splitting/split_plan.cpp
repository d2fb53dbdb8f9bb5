// Candidates are taken in descending order of what they relieve, until no point is above the step's units; one that
// relieves no high point is passed over. The plan that allows most blocks wins.
#include "passes/splitting/split_plan.h"

#include <algorithm>

#include "passes/splitting/copy_mode.h"
#include "passes/splitting/remat_mode.h"

namespace ptxopt {
namespace {

// The mode that splits `s`; if none does, the last one's reason counts.
SplitMode* chooseMode(const SplitPlan& plan, const RegisterSplit& s, const HighPoints& high,
                      std::string_view& why) {
  for (const auto& mode : plan.modes)
    if (why = mode->whyNot(s, high); why.empty()) return mode.get();
  return nullptr;
}

}  // namespace

SplitPlan SplitPlanner::best() const {
  SplitPlan best = make(goal_.registers.front());
  if (!modes_.shared) return best;
  for (std::size_t k = 1; k < goal_.registers.size(); ++k)
    if (SplitPlan plan = make(goal_.registers[k]); plan.blocks > best.blocks) best = std::move(plan);
  return best;
}

bool SplitPlanner::allowsMoreBlocks(const SplitPlan& plan) const {
  return plan.blocks > occupancy(*goal_.machine, goal_.block).blocks;
}

SplitPlan SplitPlanner::make(uint32_t step) const {
  SplitPlan plan;
  const HighPoints high(goal_, step, source_.points, source_.depth);
  addModes(plan, high.most());
  RangeMax units(goal_.units);
  PickedRegisters picked{.isSplit = std::vector<bool>(source_.f.registers.size()),
                         .isOperand = std::vector<bool>(source_.f.registers.size())};
  for (RegisterSplit& s : candidates(plan, high)) {
    if (units.most() <= high.most()) break;
    if (picked.isOperand[s.reg.value]) {
      plan.missed.add("operand-of-recomputed");
      continue;
    }
    if (!s.mode->mayPick(s, picked, plan.missed) || !relieve(s, high.most(), units)) continue;
    picked.isSplit[s.reg.value] = true;
    s.mode->pick(s, picked);
    plan.picks.push_back(std::move(s));
  }
  const auto most = static_cast<uint32_t>(std::max<int64_t>(units.most(), 0));
  expect(plan, step + (most > high.most() ? most - high.most() : 0));
  return plan;
}

void SplitPlanner::addModes(SplitPlan& plan, uint32_t mostUnits) const {
  if (modes_.remat) plan.modes.push_back(std::make_unique<RematMode>(source_));
  if (modes_.shared) {
    auto shared = std::make_unique<SharedMode>(source_, goal_.needs, mostUnits);
    plan.shared = shared.get();
    plan.modes.push_back(std::move(shared));
  } else {
    plan.modes.push_back(std::make_unique<CopyMode>(source_));
  }
}

std::vector<RegisterSplit> SplitPlanner::candidates(SplitPlan& plan, const HighPoints& high) const {
  std::vector<RegisterSplit> all;
  for (const AllocatedValue& v : goal_.allocated.values) {
    std::optional<RegisterSplit> s = finder_.find(v.reg, high, plan.missed);
    if (!s) continue;
    std::string_view why;
    s->mode = chooseMode(plan, *s, high, why);
    if (s->mode != nullptr)
      all.push_back(std::move(*s));
    else
      plan.missed.add(why);
  }
  std::ranges::stable_sort(all, std::ranges::greater(), &RegisterSplit::relieved);
  return all;
}

// Takes the units of `s` from the points that it leaves. False, and nothing done, when none of them is still high.
bool SplitPlanner::relieve(const RegisterSplit& s, uint32_t most, RangeMax& units) const {
  const auto forEachLeft = [&](const auto& visit) {
    auto h = s.held.begin();
    for (const Segment& g : source_.intervals[s.reg].segments()) {
      std::size_t at = source_.firstOf(g);
      const std::size_t end = source_.endOf(g);
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

void SplitPlanner::expect(SplitPlan& plan, uint32_t registers) const {
  plan.registers = registers;
  target::BlockNeeds block = goal_.block;
  block.registersPerThread = registers;
  if (plan.shared != nullptr) block.sharedBytes = plan.shared->slots().allBytes();
  plan.blocks = occupancy(*goal_.machine, block).blocks;
}

}  // namespace ptxopt
