#include "guard/closure.h"

#include <algorithm>

namespace ptxopt {

CallGraph::CallGraph(const std::vector<FunctionOutcome>& functions) : functions_(functions) {
  for (uint32_t i = 0; i < functions.size(); ++i) byName_.emplace(functions[i].name, i);
}

uint32_t CallGraph::indexOf(std::string_view name) const {
  const auto it = byName_.find(name);
  return it == byName_.end() ? kNone : it->second;
}

std::vector<uint32_t> CallGraph::closure(uint32_t function) const {
  std::vector<uint32_t> all{function};
  if (functions_[function].mentions.empty()) return all;
  BitVector seen(functions_.size());
  seen.set(function);
  for (std::size_t next = 0; next < all.size(); ++next)
    for (const uint32_t to : functions_[all[next]].mentions)
      if (!seen.test(to)) {
        seen.set(to);
        all.push_back(to);
      }
  return all;
}

BitVector CallGraph::reachedFrom(const BitVector& roots) const {
  BitVector reached = roots;
  std::vector<uint32_t> open;
  roots.forEach([&](std::size_t f) { open.push_back(static_cast<uint32_t>(f)); });
  while (!open.empty()) {
    const uint32_t f = open.back();
    open.pop_back();
    for (const uint32_t to : functions_[f].mentions) {
      if (reached.test(to)) continue;
      reached.set(to);
      open.push_back(to);
    }
  }
  return reached;
}

bool CallGraph::reaches(uint32_t function, const BitVector& any) const {
  return std::ranges::any_of(closure(function), [&](uint32_t f) { return any.test(f); });
}

std::size_t CallGraph::kernelsThatReach(uint32_t function) const {
  BitVector isIt(functions_.size());
  isIt.set(function);
  std::size_t kernels = 0;
  for (uint32_t f = 0; f < functions_.size(); ++f) kernels += functions_[f].isKernel && reaches(f, isIt) ? 1 : 0;
  return kernels;
}

}  // namespace ptxopt
