#include "guard/retry.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "guard/cut.h"
#include "ptxas/cache.h"

namespace ptxopt::guard {
namespace {

// By how many of the refused kernels of tests/codegen/loops are better than the input without the pass. The others follow in
// the order of the pipeline.
constexpr std::array<std::string_view, 8> kLikeliest{
    "lsr", "slsr", "wide-multiply", "loop-forms", "local-cse", "schedule-loads", "divide", "licm-slow-ops"};

// Of the suspects, those that are left out at a time: by how many kernels become better for the first time.
constexpr std::array<std::array<std::size_t, 2>, 8> kOrder{
    {{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}, {0, 3}, {3, 3}}};

// What a pass does otherwise, for functions that are not much without it.
struct Lever {
  std::string_view pass, knob;
  int64_t value;
};
constexpr std::array<Lever, 3> kLevers{{{"loop-forms", "form-carry-steps", 2},
                                        {"lsr", "do-lsr-64-bit", 0},
                                        {"loop-forms", "form-shifted-products", 0}}};

std::vector<std::string> likeliestFirst(const std::vector<std::string>& passes) {
  std::vector<std::string> found;
  const auto has = [](const auto& list, std::string_view name) {
    return std::ranges::find(list, name) != list.end();
  };
  for (const std::string_view pass : kLikeliest)
    if (has(passes, pass)) found.emplace_back(pass);
  for (const std::string& pass : passes)
    if (!has(found, pass)) found.push_back(pass);
  return found;
}

}  // namespace

std::vector<FunctionOptions> attemptsOf(const std::vector<std::string>& passes, const KnobValues& given,
                                        std::size_t most) {
  const std::vector<std::string> suspects = likeliestFirst(passes);
  std::vector<FunctionOptions> attempts;
  for (const auto [first, second] : kOrder) {
    // Without all of them there is the input.
    const std::size_t size = first == second ? 1 : 2;
    if (second >= suspects.size() || size == suspects.size()) continue;
    attempts.push_back({{suspects[first]}, {}});
    if (size == 2) attempts.back().skip.push_back(suspects[second]);
  }
  for (const Lever& lever : kLevers)
    if (std::ranges::find(passes, lever.pass) != passes.end() && !given.contains(std::string(lever.knob)))
      attempts.push_back({{}, {{std::string(lever.knob), lever.value}}});
  attempts.resize(std::min(attempts.size(), most));
  return attempts;
}

std::vector<Retry> retriesOf(const std::vector<WorseFunction>& worse, const std::vector<FunctionOutcome>& outcomes,
                             const CallGraph& graph, const KnobValues& given, std::size_t most) {
  BitVector isMentioned(outcomes.size()), isTaken(outcomes.size());
  for (const FunctionOutcome& f : outcomes)
    for (const uint32_t to : f.mentions) isMentioned.set(to);
  std::vector<Retry> retries;
  for (const WorseFunction& w : worse) {
    const uint32_t root = graph.indexOf(w.name);
    if (root == CallGraph::kNone || w.missing) continue;
    Retry retry{root, {}, {}, {}};
    BitVector reached(outcomes.size()), changed(outcomes.size());
    std::vector<std::string> passes;
    for (const uint32_t f : graph.closure(root)) {
      reached.set(f);
      if (!outcomes[f].changed) continue;
      changed.set(f);
      retry.functions.push_back(f);
      for (const std::string& pass : outcomes[f].passes)
        if (std::ranges::find(passes, pass) == passes.end()) passes.push_back(pass);
    }
    const auto isInAnother = [&](uint32_t f) { return isTaken.test(f); };
    if (retry.functions.empty() || std::ranges::any_of(retry.functions, isInAnother)) continue;
    const bool isAlone = outcomes[root].mentions.empty() && !isMentioned.test(root);
    if (!isAlone && !graph.whoReach(changed).isSubsetOf(reached)) continue;
    retry.attempts = attemptsOf(passes, given, most);
    isTaken |= changed;
    retries.push_back(std::move(retry));
  }
  return retries;
}

bool isNew(Retry& retry, const std::vector<FunctionOutcome>& outcomes, std::string_view text,
           const std::vector<FunctionOutcome>& functions) {
  text = withoutMark(text);
  const CallGraph graph(functions);
  std::string all;
  for (const uint32_t f : retry.functions)
    if (const uint32_t at = graph.indexOf(outcomes[f].name); at != CallGraph::kNone)
      all += text.substr(functions[at].begin, functions[at].end - functions[at].begin);
  std::string digest = ptxas::Cache::key(all);
  if (std::ranges::find(retry.seen, digest) != retry.seen.end()) return false;
  retry.seen.push_back(std::move(digest));
  return true;
}

std::optional<ptxas::Comparison> gainOf(const std::vector<uint32_t>& closure, uint32_t root,
                                        const std::vector<FunctionOutcome>& outcomes, const ptxas::Measures& before,
                                        const ptxas::Measures& after, ptxas::GuardRule rule) {
  std::optional<ptxas::Comparison> gain;
  for (const uint32_t f : closure) {
    const ptxas::FunctionMeasures* const was = before.find(outcomes[f].name);
    const ptxas::FunctionMeasures* const is = after.find(outcomes[f].name);
    if (was == nullptr || is == nullptr) {
      // The code of functions that are no kernels may be part of others', or gone.
      if (f == root || outcomes[f].isKernel) return std::nullopt;
      continue;
    }
    if (!was->code.empty() && was->code == is->code) continue;
    const bool haveSpills = value(*was, ptxas::Measure::Spills) && value(*is, ptxas::Measure::Spills);
    if (outcomes[f].isKernel && !haveSpills) return std::nullopt;
    ptxas::Comparison by = compare(*was, *is, rule);
    if (by.sign > 0) return std::nullopt;
    if (f == root && by.sign < 0) gain = std::move(by);
  }
  return gain;
}

bool isPreferred(const ptxas::FunctionMeasures& input, const ptxas::FunctionMeasures& best,
                 const ptxas::FunctionMeasures& now) {
  const auto a = scenariosForWorkOf(input, best), b = scenariosForWorkOf(input, now);
  if (a && b && *a != *b) return *b < *a;
  return now.instructions < best.instructions;
}

}  // namespace ptxopt::guard
