#include "ptxas/machine_code.h"

#include <algorithm>
#include <cmath>

#include "sass/decode.h"
#include "timing/kernel_time.h"

namespace ptxopt::ptxas {

MachineCodeCounts countMachineCode(std::string_view text, uint32_t architecture,
                                   std::span<const sass::IndirectBranch> branches) {
  const std::vector<sass::Instruction> code = sass::Decoder(architecture).decode(text);
  MachineCodeCounts counts;
  counts.instructions = static_cast<uint32_t>(sass::countWithoutPadding(code));
  const sass::ControlFlow flow(code, branches);
  for (const sass::Loop& loop : flow.loops()) {
    if (!loop.isInnermost) continue;
    counts.inner += loop.instructions;
    ++counts.innerLoops;
  }
  return counts;
}

ModelledTime timeMachineCode(std::string_view text, uint32_t architecture,
                             std::span<const sass::IndirectBranch> branches, const FunctionMeasures& kernel,
                             const target::Machine& machine, bool isLaunchKnown) {
  using namespace timing;
  const auto rounded = [](double cycles) { return std::round(cycles * 100) / 100; };
  const TimedCode code(text, architecture, branches);
  const FunctionTime time = estimate(code, machine,
                                     {.warps = kernel.warps,
                                      .threads = kernel.threads,
                                      .isLaunchKnown = isLaunchKnown,
                                      .roundsOf = {},
                                      .countOf = {}});
  ModelledTime result;
  result.model = digestOf(machine);
  const auto roundedWork = [&](const Work& w) {
    return Work{rounded(w.written),   rounded(w.read),         rounded(w.computed),
                rounded(w.exchanged), rounded(w.instructions), w.steps};
  };
  result.work = roundedWork(time.whole.work);
  const auto cyclesOf = [&](const ScenarioTime& s) { return rounded(s.cycles); };
  std::ranges::transform(time.whole.scenarios, result.whole.begin(), cyclesOf);
  std::ranges::transform(time.whole.alone, result.alone.begin(), cyclesOf);
  for (const RegionTime& r : time.regions) {
    if (r.region.loop == Region::kNone) continue;
    std::ranges::transform(r.alone, result.loopsAlone.emplace_back().begin(), cyclesOf);
    if (!code.flow.loops()[r.region.loop].isInnermost) continue;
    ModelledTime::Loop& loop = result.inner.emplace_back();
    std::ranges::transform(r.scenarios, loop.cycles.begin(), cyclesOf);
    loop.rounds = rounded(r.region.rounds);
    loop.work = roundedWork(r.work);
  }
  return result;
}

}  // namespace ptxopt::ptxas
