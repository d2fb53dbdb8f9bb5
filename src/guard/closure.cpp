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
  std::vector<bool> seen(functions_.size());
  seen[function] = true;
  for (std::size_t next = 0; next < all.size(); ++next)
    for (const uint32_t to : functions_[all[next]].mentions)
      if (!seen[to]) {
        seen[to] = true;
        all.push_back(to);
      }
  return all;
}

std::vector<bool> CallGraph::reachedFrom(const std::vector<bool>& roots) const {
  std::vector<bool> reached = roots;
  std::vector<uint32_t> open;
  for (uint32_t f = 0; f < roots.size(); ++f)
    if (roots[f]) open.push_back(f);
  while (!open.empty()) {
    const uint32_t f = open.back();
    open.pop_back();
    for (const uint32_t to : functions_[f].mentions) {
      if (reached[to]) continue;
      reached[to] = true;
      open.push_back(to);
    }
  }
  return reached;
}

bool CallGraph::reaches(uint32_t function, const std::vector<bool>& any) const {
  return std::ranges::any_of(closure(function), [&](uint32_t f) { return any[f]; });
}

std::size_t CallGraph::kernelsThatReach(uint32_t function) const {
  std::vector<bool> isIt(functions_.size());
  isIt[function] = true;
  std::size_t kernels = 0;
  for (uint32_t f = 0; f < functions_.size(); ++f) kernels += functions_[f].isKernel && reaches(f, isIt) ? 1 : 0;
  return kernels;
}

}  // namespace ptxopt
