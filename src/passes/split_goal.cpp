#include "passes/split_goal.h"

#include <algorithm>

namespace ptxopt {

uint32_t SplitGoal::mostUnits(uint32_t step) const {
  const uint32_t above = block.registersPerThread - std::min(step, block.registersPerThread);
  return std::max(estimate.mostKept, above + 1) - above;
}

SplitGoal findSplitGoal(const Module& module, const Function& f, const RegisterPressure& pressure, uint32_t wanted,
                        std::string_view target) {
  SplitGoal goal;
  goal.machine = architecture(target);
  if (!f.isEntry)
    goal.why = "no-kernel";
  else if (goal.machine == nullptr)
    goal.why = "unknown-architecture";
  if (!goal.why.empty()) return goal;

  goal.needs = kernelNeeds(module, f);
  goal.estimate = estimateRegisters(module, f, pressure);
  goal.block = {goal.estimate.fatPoint, goal.needs.threads.value_or(SplitGoal::kUsualThreads),
                goal.needs.sharedBytes, goal.needs.barriers};
  if (wanted != 0) {
    if (wanted < goal.block.registersPerThread) goal.registers = {wanted};
  } else {
    const uint32_t now = occupancy(*goal.machine, goal.block).blocks;
    for (const OccupancyStep& step : occupancySteps(*goal.machine, goal.block))
      if (step.blocks > now) goal.registers.push_back(step.mostRegisters);
    std::ranges::reverse(goal.registers);
  }
  if (goal.registers.empty()) {
    goal.why = "full-occupancy";
    return goal;
  }
  goal.kept = keptValues(module, f, pressure);
  goal.units = keptUnits(goal.kept, pressure.points().size());
  return goal;
}

RegisterPressure makePressure(const Module& module, const Function& f, Analyses& analyses) {
  return {module, f, analyses.cfg(), analyses.slotIndexes(), analyses.liveIntervals(), analyses.registerFiles()};
}

}  // namespace ptxopt
