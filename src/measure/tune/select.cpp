#include "tune/select.h"

namespace ptxopt::tune {
namespace {

// Smaller is better. Only functions that have figures in both count.
std::vector<int64_t> sums(const Outcome& input, const Outcome& way, std::span<const ptxas::Measure> order) {
  std::vector<int64_t> all;
  for (const ptxas::Measure m : order) {
    int64_t sum = 0;
    for (std::size_t i = 0; i < way.members.size(); ++i) {
      if (!input.members[i] || !way.members[i]) continue;
      sum += static_cast<int64_t>(ptxas::valueAfter(*input.members[i], *way.members[i], m).value_or(0));
    }
    all.push_back(ptxas::isMoreBetter(m) ? -sum : sum);
  }
  return all;
}

// Whether a function is worse than in the input.
bool findWorse(const Outcome& input, const Outcome& way, ptxas::GuardRule rule, VariantVerdict& verdict) {
  for (std::size_t i = 0; i < way.members.size(); ++i) {
    if (!input.members[i]) continue;
    verdict.member = i;
    verdict.missing = !way.members[i];
    if (verdict.missing) return true;
    verdict.by = compare(*input.members[i], *way.members[i], rule);
    if (verdict.by.sign > 0) return true;
  }
  return false;
}

}  // namespace

std::vector<VariantVerdict> choose(const std::vector<const Outcome*>& ways, ptxas::Objective objective) {
  const std::span<const ptxas::Measure> order = ptxas::orderOf(objective);
  std::vector<VariantVerdict> verdicts(ways.size());
  verdicts[0].why = VariantVerdict::Why::Chosen;
  const Outcome& input = *ways[0];
  std::size_t best = 0;
  std::vector<int64_t> bestSums = sums(input, input, order);
  for (std::size_t w = 1; w < ways.size(); ++w) {
    VariantVerdict& verdict = verdicts[w];
    if (ways[w]->state != Outcome::State::Measured || input.state != Outcome::State::Measured) continue;
    if (findWorse(input, *ways[w], ptxas::ruleFor(objective), verdict)) {
      verdict.why = VariantVerdict::Why::Worse;
      continue;
    }
    verdict.why = VariantVerdict::Why::NotBetter;
    std::vector<int64_t> now = sums(input, *ways[w], order);
    if (now >= bestSums) continue;
    verdicts[best].why = VariantVerdict::Why::NotBetter;
    verdict.why = VariantVerdict::Why::Chosen;
    best = w;
    bestSums = std::move(now);
  }
  return verdicts;
}

}  // namespace ptxopt::tune
