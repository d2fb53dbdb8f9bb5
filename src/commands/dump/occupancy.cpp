#include <fmt/format.h>

#include "analysis/machine/kernel_needs.h"
#include "dump/dumps.h"

namespace ptxopt::dump {

void appendOccupancy(std::string& out, FunctionView& view) {
  if (!view.function.isEntry) return;
  const std::string& target = view.view.architecture;
  const target::Limits* const a = target::Target(target).limits();
  if (a == nullptr) {
    out += fmt::format("occupancy of {}: nothing is known of {}\n", view.name(),
                       target.empty() ? "the architecture" : target);
    return;
  }
  const RegisterEstimate& estimate = view.analyses.registerEstimate();
  out += fmt::format("{}: {}", view.name(), toString(estimate));
  if (!out.ends_with('\n')) out += '\n';
  out += dumpOccupancy(view.module, view.function, *a, estimate.fatPoint);
}

}  // namespace ptxopt::dump
