#include "cut/closure.h"

#include "support/graph.h"

namespace ptxopt::cut {
namespace {

// By the functions that each leads to.
template <typename Successors>
BitVector reached(const BitVector& roots, Successors successors) {
  std::vector<uint32_t> numbers;
  roots.forEach([&](std::size_t f) { numbers.push_back(static_cast<uint32_t>(f)); });
  BitVector all(roots.size());
  for (const uint32_t f : ptxopt::reachedFrom(numbers, roots.size(), successors)) all.set(f);
  return all;
}

}  // namespace

CallGraph::CallGraph(const std::vector<FunctionOutcome>& functions) : functions_(functions) {
  for (uint32_t i = 0; i < functions.size(); ++i) byName_.emplace(functions[i].name, i);
}

uint32_t CallGraph::indexOf(std::string_view name) const {
  const auto it = byName_.find(name);
  return it == byName_.end() ? kNone : it->second;
}

std::vector<uint32_t> CallGraph::closure(uint32_t function) const {
  if (functions_[function].mentions.empty()) return {function};
  return ptxopt::reachedFrom({function}, functions_.size(), mentioned());
}

BitVector CallGraph::reachedFrom(const BitVector& roots) const { return reached(roots, mentioned()); }

BitVector CallGraph::whoReach(const BitVector& any) const {
  std::vector<std::vector<uint32_t>> mentionedBy(functions_.size());
  for (uint32_t f = 0; f < functions_.size(); ++f)
    for (const uint32_t to : functions_[f].mentions) mentionedBy[to].push_back(f);
  return reached(any, [&](uint32_t f) -> const std::vector<uint32_t>& { return mentionedBy[f]; });
}

std::size_t CallGraph::kernelsThatReach(uint32_t function) const {
  BitVector isIt(functions_.size());
  isIt.set(function);
  std::size_t kernels = 0;
  whoReach(isIt).forEach([&](std::size_t f) { kernels += functions_[f].isKernel ? 1 : 0; });
  return kernels;
}

}  // namespace ptxopt::cut
