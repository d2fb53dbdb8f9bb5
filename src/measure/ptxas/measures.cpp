#include "ptxas/measures.h"

#include <algorithm>

#include "target/occupancy.h"

namespace ptxopt::ptxas {

const FunctionMeasures* Measures::find(std::string_view name) const {
  const auto at = std::lower_bound(functions.begin(), functions.end(), name,
                                   [](const FunctionMeasures& f, std::string_view n) { return f.name < n; });
  return at == functions.end() || at->name != name ? nullptr : &*at;
}

void setWarps(FunctionMeasures& kernel, std::string_view target) {
  const target::Limits* const a = target::Target(target).limits();
  kernel.warps = 0;
  if (a == nullptr || !kernel.isKernel) return;
  const uint32_t threads = kernel.threads == 0 ? kThreadsWhenUnknown : kernel.threads;
  kernel.warps = occupancy(*a, {kernel.registers, threads, kernel.shared, kernel.barriers}).warps;
}

}  // namespace ptxopt::ptxas
