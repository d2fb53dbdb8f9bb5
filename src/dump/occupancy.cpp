#include "analysis/occupancy.h"

#include <fmt/format.h>

#include "analysis/register_estimate.h"
#include "dump/dumps.h"
#include "dump/kernel_needs.h"

namespace ptxopt {
namespace {

constexpr uint32_t kThreadsWhenUnknown = 256;

std::string limits(const Occupancy& o) {
  std::string out;
  for (std::size_t r = 0; r < kResources; ++r)
    if (o.isLimitedBy(static_cast<Resource>(r)))
      out += fmt::format("{}{}", out.empty() ? "" : " and ", name(static_cast<Resource>(r)));
  return out;
}

void appendSteps(std::string& out, const Architecture& a, const BlockNeeds& block) {
  const auto warpsWith = [&](uint32_t registers) {
    BlockNeeds other = block;
    other.registersPerThread = registers;
    return occupancy(a, other).warps;
  };
  const auto step = [&](std::optional<uint32_t> registers) {
    return registers ? fmt::format("{} registers, {} warps", *registers, warpsWith(*registers)) : "none";
  };
  out += fmt::format("  next step up: {}; next cliff: {}\n", step(nextStepUp(a, block)), step(nextCliff(a, block)));
  for (const OccupancyStep& s : occupancySteps(a, block))
    out += fmt::format("  {:>3}-{:<3} registers: {:>2} block{}, {:>2} warps{}\n", s.leastRegisters, s.mostRegisters,
                       s.blocks, s.blocks == 1 ? " " : "s", s.warps,
                       s.leastRegisters <= block.registersPerThread && block.registersPerThread <= s.mostRegisters
                           ? "  <- the estimate"
                           : "");
}

}  // namespace

void appendOccupancy(std::string& out, FunctionView& view) {
  if (!view.function.isEntry) return;
  const std::string& target = view.view.architecture;
  const Architecture* const a = architecture(target);
  if (a == nullptr) {
    out += fmt::format("{}: occupancy: nothing is known of {}\n", view.name(),
                       target.empty() ? "the architecture" : target);
    return;
  }
  const KernelNeeds needs = kernelNeeds(view.module, view.function);
  const RegisterEstimate estimate = estimateRegisters(view.module, view.function, view.pressure());
  const BlockNeeds block{estimate.fatPoint, needs.threads.value_or(kThreadsWhenUnknown), needs.sharedBytes, 0};
  out += fmt::format("{}: occupancy on sm_{}, {} threads a block ({}), {} bytes of static shared memory\n",
                     view.name(), a->number, block.threads,
                     !needs.threads          ? "the file does not say"
                     : needs.threadsAreExact ? ".reqntid"
                                             : ".maxntid",
                     block.sharedBytes);
  const Occupancy o = occupancy(*a, block);
  out += fmt::format("  {} registers (estimate): {} block{}, {} of {} warps, limited by {}\n",
                     block.registersPerThread, o.blocks, o.blocks == 1 ? "" : "s", o.warps, o.mostWarps, limits(o));
  appendSteps(out, *a, block);
}

}  // namespace ptxopt
