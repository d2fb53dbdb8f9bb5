// Counts come from the decoded code and its loops; times come from the model, with the kernel's warps and threads.
// Cycles are rounded to hundredths, so that equal code has equal figures in JSON.
#include "ptxas/machine_code.h"

#include <algorithm>
#include <cmath>

#include "sass/decode.h"
#include "timing/kernel_time.h"
#include "timing/launch_versions.h"

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

namespace {

double rounded(double cycles) { return std::round(cycles * 100) / 100; }

timing::Work roundedWork(const timing::Work& w) {
  return {rounded(w.written),   rounded(w.read),         rounded(w.computed),
          rounded(w.exchanged), rounded(w.instructions), w.steps};
}

// `body`: what control comes to; empty: all.
ModelledTime modelledTime(const timing::TimedCode& code, const timing::FunctionTime& time,
                          const std::vector<bool>& body) {
  using namespace timing;
  ModelledTime result;
  result.work = roundedWork(time.whole.work);
  const auto cyclesOf = [&](const ScenarioTime& s) { return rounded(s.cycles); };
  std::ranges::transform(time.whole.scenarios, result.whole.begin(), cyclesOf);
  std::ranges::transform(time.whole.alone, result.alone.begin(), cyclesOf);
  for (const RegionTime& r : time.regions) {
    if (r.region.loop == Region::kNone) continue;
    const sass::Loop& loopOfCode = code.flow.loops()[r.region.loop];
    if (!body.empty() && !body[loopOfCode.header]) continue;
    std::ranges::transform(r.alone, result.loopsAlone.emplace_back().begin(), cyclesOf);
    if (!loopOfCode.isInnermost) continue;
    ModelledTime::Loop& loop = result.inner.emplace_back();
    std::ranges::transform(r.scenarios, loop.cycles.begin(), cyclesOf);
    loop.iterations = rounded(r.region.iterations);
    loop.work = roundedWork(r.work);
  }
  return result;
}

}  // namespace

ModelledTime timeMachineCode(std::string_view text, uint32_t architecture,
                             std::span<const sass::IndirectBranch> branches, const FunctionMeasures& kernel,
                             const target::Machine& machine, bool isLaunchKnown) {
  const timing::TimedCode code(text, architecture, branches);
  const auto timed = [&](const timing::CountOf& countOf) {
    return timing::estimate(code, machine,
                            {.warps = kernel.warps,
                             .threads = kernel.threads,
                             .isLaunchKnown = isLaunchKnown,
                             .iterationsOf = {},
                             .countOf = countOf});
  };
  ModelledTime result = modelledTime(code, timed({}), {});
  result.model = timing::digestOf(machine);
  if (!kernel.isKernel) return result;
  if (const auto versions = timing::launchVersionsOf(code))
    for (std::size_t v = 0; v < 2; ++v) {
      result.versions.push_back(modelledTime(code, timed(versions->only(v)), versions->isInBody[v]));
      result.versions.back().model = result.model;
    }
  return result;
}

}  // namespace ptxopt::ptxas
