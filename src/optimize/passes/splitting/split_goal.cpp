#include "passes/splitting/split_goal.h"

#include <algorithm>

namespace ptxopt {

uint32_t SplitGoal::mostUnits(uint32_t step) const {
  const uint32_t above = block.registersPerThread - std::min(step, block.registersPerThread);
  return std::max(estimate.mostAllocated, above + 1) - above;
}

SplitGoal findSplitGoal(const Function& f, PassContext& context, uint32_t wanted) {
  const Module& module = context.module;
  SplitGoal goal;
  goal.machine = context.target().limits();
  if (!f.isEntry)
    goal.why = "no-kernel";
  else if (goal.machine == nullptr)
    goal.why = "unknown-architecture";
  if (!goal.why.empty()) return goal;

  goal.needs = kernelNeeds(module, f, &context.moduleAnalyses.get<ModuleCalledNeeds>());
  const RegisterPressure& pressure = context.analyses.registerPressure();
  goal.estimate = estimateRegisters(module, f, pressure);
  goal.block = goal.needs.block(goal.estimate.fatPoint);
  if (wanted != 0) {
    if (wanted < goal.block.registersPerThread) goal.registers = {wanted};
  } else {
    const uint32_t now = occupancy(*goal.machine, goal.block).blocks;
    for (const target::OccupancyStep& step : occupancySteps(*goal.machine, goal.block))
      if (step.blocks > now) goal.registers.push_back(step.mostRegisters);
    std::ranges::reverse(goal.registers);
  }
  if (goal.registers.empty()) {
    goal.why = "full-occupancy";
    return goal;
  }
  goal.allocated = allocatedValues(module, f, pressure);
  goal.units = allocatedUnits(goal.allocated, pressure.points().size());
  return goal;
}

}  // namespace ptxopt
