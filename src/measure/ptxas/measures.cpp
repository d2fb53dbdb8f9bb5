#include "ptxas/measures.h"

#include <algorithm>

#include "target/occupancy.h"

namespace ptxopt::ptxas {

const FunctionMeasures* Measures::find(std::string_view name) const {
  const auto at = std::lower_bound(functions.begin(), functions.end(), name,
                                   [](const FunctionMeasures& f, std::string_view n) { return f.name < n; });
  return at == functions.end() || at->name != name ? nullptr : &*at;
}

void setWarps(FunctionMeasures& kernel, std::string_view target, uint64_t blocks) {
  const target::Limits* const a = target::Target(target).limits();
  kernel.warps = 0;
  if (a == nullptr || !kernel.isKernel) return;
  const uint32_t threads = kernel.threads == 0 ? kThreadsWhenUnknown : kernel.threads;
  const target::Occupancy most = occupancy(*a, {kernel.registers, threads, kernel.shared, kernel.barriers});
  kernel.warps = most.warps;
  if (blocks == 0 || a->multiprocessors == 0 || most.blocks == 0) return;
  const uint64_t ofSm = (blocks + a->multiprocessors - 1) / a->multiprocessors;
  if (ofSm < most.blocks) kernel.warps = most.warps / most.blocks * static_cast<uint32_t>(ofSm);
}

}  // namespace ptxopt::ptxas
