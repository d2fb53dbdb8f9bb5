// Each kernel gets a key from the texts of the functions that it reaches and from the tokens outside of functions.
// Figures found in the cache are merged into those of a run, sorted by name.
#include "guard/kernel_answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cut/closure.h"
#include "cut/cut.h"
#include "ptxas/measures_json.h"
#include "text/tokens.h"

namespace ptxopt::guard {
namespace {

// What stands outside of functions.
std::string textOutside(std::string_view text, const std::vector<FunctionOutcome>& functions) {
  std::string outside;
  std::size_t at = 0;
  for (const FunctionOutcome& f : functions) {
    outside += text::tokensOf(text.substr(at, f.begin - at));
    at = f.end;
  }
  outside += text::tokensOf(text.substr(at));
  return outside;
}

}  // namespace

KernelAnswers::KernelAnswers(std::string_view text, const std::vector<FunctionOutcome>& functions,
                             const BitVector& isLeftOut, std::string_view architecture,
                             const ptxas::PtxasSettings& settings)
    : functions_(functions),
      cache_(*settings.cache),
      keys_(functions.size()),
      reached_(functions.size()),
      isKnown_(functions.size()) {
  text = cut::withoutMark(text);
  std::string outside =
      ptxas::Cache::key(textOutside(text, functions)) + "\n" + ptxas::callOf(architecture, settings);
  std::set<std::string_view> elsewhere;
  for (const FunctionOutcome& f : functions) elsewhere.insert(f.elsewhere.begin(), f.elsewhere.end());
  for (const std::string_view name : elsewhere) outside += fmt::format("calls {}\n", name);
  const cut::CallGraph graph(functions);
  for (uint32_t f = 0; f < functions.size(); ++f) {
    if (!functions[f].isKernel || isLeftOut.test(f)) continue;
    reached_[f] = graph.closure(f);
    std::ranges::sort(reached_[f]);
    std::string all = "kernel " + functions[f].name + '\n' + outside;
    for (const uint32_t g : reached_[f])
      all += text.substr(functions[g].begin, functions[g].end - functions[g].begin);
    keys_[f] = ptxas::Cache::key(all);
    const auto kept = cache_.find(keys_[f]);
    if (auto figures = kept ? ptxas::measuresOfEntry(*kept) : std::nullopt) {
      std::ranges::move(figures->functions, std::back_inserter(found_));
      isKnown_.set(f);
    } else {
      ++missing_;  // or broken: it is written anew
    }
  }
  std::ranges::stable_sort(found_, {}, &ptxas::FunctionMeasures::name);
  const auto again = std::ranges::unique(found_, {}, &ptxas::FunctionMeasures::name);
  found_.erase(again.begin(), again.end());
}

ptxas::Measures KernelAnswers::figuresOf(uint32_t kernel, const ptxas::Measures& all) const {
  ptxas::Measures figures;
  figures.architecture = all.architecture;
  for (const uint32_t f : reached_[kernel])
    if (const ptxas::FunctionMeasures* const m = all.find(functions_[f].name)) figures.functions.push_back(*m);
  std::ranges::sort(figures.functions, {}, &ptxas::FunctionMeasures::name);
  return figures;
}

void KernelAnswers::keep(const ptxas::Measures& measures) const {
  for (uint32_t f = 0; f < functions_.size(); ++f)
    if (!keys_[f].empty() && !isKnown_.test(f) && measures.find(functions_[f].name) != nullptr)
      cache_.put(keys_[f], dumpJson(toJson(figuresOf(f, measures))));
}

void KernelAnswers::addTo(ptxas::Measures& measures) const {
  std::erase_if(measures.functions, [&](const ptxas::FunctionMeasures& m) {
    return std::ranges::binary_search(found_, m.name, {}, &ptxas::FunctionMeasures::name);
  });
  const auto others = static_cast<std::ptrdiff_t>(measures.functions.size());
  measures.functions.insert(measures.functions.end(), found_.begin(), found_.end());
  std::ranges::inplace_merge(measures.functions, measures.functions.begin() + others, {},
                             &ptxas::FunctionMeasures::name);
}

}  // namespace ptxopt::guard
