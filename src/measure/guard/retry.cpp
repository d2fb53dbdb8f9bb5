// A table of levers, ordered by what helped kernels of the corpus, makes the attempts: passes skipped, passes declined
// in one loop, knobs. The loop that lost most is found by modelled cycles, and a text that was seen is not tried again.
#include "guard/retry.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "cut/cut.h"
#include "ptxas/cache.h"

namespace ptxopt::guard {
namespace {

// By how many of the refused kernels of tests/codegen/loops are better than the input without the pass. The others follow in
// the order of the pipeline.
constexpr std::array<std::string_view, 8> kLikeliest{
    "lsr", "slsr", "wide-multiply", "loop-forms", "local-cse", "schedule-loads", "divide", "licm-slow-ops"};

// What is tried, in the order that makes most of these kernels better, and then takes fewest cycles, with three tries.
struct Lever {
  enum class Kind : uint8_t { Skip, Decline, Registers, Knob } kind;
  std::array<std::size_t, 2> suspects{};  // of a Skip, which may be the same; of a Decline the first
  std::string_view pass = {}, knob = {};  // of Registers and Knob
  int64_t value = 0;                      // of Registers: how many fewer than the input has
};
constexpr Lever skip(std::size_t first, std::size_t second) { return {Lever::Kind::Skip, {first, second}}; }
constexpr Lever knob(std::string_view pass, std::string_view name, int64_t value) {
  return {Lever::Kind::Knob, {}, pass, name, value};
}
constexpr std::array kLevers{Lever{Lever::Kind::Registers, {}, "lsr", "lsr-rp-limit", 4},
                             skip(0, 0),
                             Lever{Lever::Kind::Decline, {0, 0}},
                             skip(0, 1),
                             knob("loop-forms", "form-carry-steps", 2),
                             knob("loop-forms", "form-shifted-products", 0),
                             knob("lsr", "do-lsr-64-bit", 0),
                             skip(1, 1),
                             skip(0, 2),
                             skip(1, 2),
                             skip(2, 2),
                             skip(0, 3),
                             skip(3, 3)};

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

bool canDecline(std::string_view pass) {
  const std::vector<PassDescription> all = describePasses();
  return std::ranges::any_of(all, [&](const PassDescription& p) { return p.name == pass && p.declines; });
}

// The attempt that a lever makes; none where it is not for this function.
std::optional<FunctionOptions> attemptBy(const Lever& lever, const std::vector<std::string>& suspects,
                                         const KnobValues& given, const Clues& clues) {
  const auto [first, second] = lever.suspects;
  switch (lever.kind) {
    case Lever::Kind::Skip: {
      // Without all of them there is the input.
      const std::size_t size = first == second ? 1 : 2;
      if (second >= suspects.size() || size == suspects.size()) return std::nullopt;
      FunctionOptions without{{suspects[first]}, {}, {}};
      if (size == 2) without.skip.push_back(suspects[second]);
      return without;
    }
    case Lever::Kind::Decline:
      if (clues.loop.empty() || first >= suspects.size() || !canDecline(suspects[first])) return std::nullopt;
      return FunctionOptions{{}, {}, {suspects[first] + "@" + clues.loop}};
    default: {
      const bool isRegisters = lever.kind == Lever::Kind::Registers;
      if (std::ranges::find(suspects, lever.pass) == suspects.end() || given.contains(std::string(lever.knob)) ||
          (isRegisters && clues.registers <= lever.value))
        return std::nullopt;
      return FunctionOptions{
          {}, {{std::string(lever.knob), isRegisters ? clues.registers - lever.value : lever.value}}, {}};
    }
  }
}

}  // namespace

std::optional<std::size_t> worstLoop(const ptxas::FunctionMeasures& before, const ptxas::FunctionMeasures& after) {
  if (!before.time || !after.time || before.time->model != after.time->model) return std::nullopt;
  const auto &was = before.time->inner, &is = after.time->inner;
  if (was.size() < 2 || was.size() != is.size()) return std::nullopt;
  const auto loss = [&](std::size_t l) {
    double most = is[l].iterations * is[l].cycles[0] - was[l].iterations * was[l].cycles[0];
    for (std::size_t s = 1; s < was[l].cycles.size(); ++s)
      most = std::max(most, is[l].iterations * is[l].cycles[s] - was[l].iterations * was[l].cycles[s]);
    return most;
  };
  std::size_t worst = 0;
  for (std::size_t l = 1; l < was.size(); ++l)
    if (loss(l) > loss(worst)) worst = l;
  return worst;
}

std::vector<FunctionOptions> attemptsOf(const std::vector<std::string>& passes, const KnobValues& given,
                                        const Clues& clues) {
  const std::vector<std::string> suspects = likeliestFirst(passes);
  std::vector<FunctionOptions> attempts;
  for (const Lever& lever : kLevers)
    if (auto attempt = attemptBy(lever, suspects, given, clues)) attempts.push_back(std::move(*attempt));
  return attempts;
}

namespace {

// The labels of the loops that lost most. The text is read once, where one can be given for some function.
class LoopLabels {
 public:
  LoopLabels(std::string_view text, const std::vector<WorseFunction>& worse, const ptxas::Measures& before,
             const ptxas::Measures& after) {
    std::vector<std::string> names;
    for (const WorseFunction& w : worse) {
      const ptxas::FunctionMeasures *const was = before.find(w.name), *const is = after.find(w.name);
      const auto loop = was != nullptr && is != nullptr ? worstLoop(*was, *is) : std::nullopt;
      if (!loop) continue;
      worst_[w.name] = {*loop, was->time->inner.size()};
      names.push_back(w.name);
    }
    if (!names.empty()) labels_ = innermostLoops(text, names);
  }

  // Empty where ptxas made other loops than the text has.
  std::string worstOf(const std::string& name) const {
    const auto labels = labels_.find(name);
    if (labels == labels_.end() || labels->second.size() != worst_.at(name).second) return {};
    return labels->second[worst_.at(name).first];
  }

 private:
  std::map<std::string, std::pair<std::size_t, std::size_t>> worst_;  // and how many there are
  std::map<std::string, std::vector<std::string>> labels_;
};

}  // namespace

std::vector<Retry> retriesOf(std::string_view text, const std::vector<WorseFunction>& worse,
                             const std::vector<FunctionOutcome>& outcomes, const cut::CallGraph& graph,
                             const KnobValues& given, const ptxas::Measures& before, const ptxas::Measures& after) {
  const LoopLabels labels(text, worse, before, after);
  BitVector isMentioned(outcomes.size()), isTaken(outcomes.size());
  for (const FunctionOutcome& f : outcomes)
    for (const uint32_t to : f.mentions) isMentioned.set(to);
  std::vector<Retry> retries;
  for (const WorseFunction& w : worse) {
    const uint32_t root = graph.indexOf(w.name);
    if (root == cut::CallGraph::kNone || w.missing) continue;
    Retry retry{.root = root};
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
    const ptxas::FunctionMeasures* const input = before.find(w.name);
    retry.attempts = attemptsOf(passes, given, {input == nullptr ? 0 : input->registers, labels.worstOf(w.name)});
    isTaken |= changed;
    retries.push_back(std::move(retry));
  }
  return retries;
}

bool isNew(Retry& retry, const std::vector<FunctionOutcome>& outcomes, std::string_view text,
           const cut::CallGraph& places) {
  text = cut::withoutMark(text);
  std::string all;
  for (const uint32_t f : retry.functions)
    if (const uint32_t at = places.indexOf(outcomes[f].name); at != cut::CallGraph::kNone)
      all += text.substr(places[at].begin, places[at].end - places[at].begin);
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
      // The code of functions that are not kernels may be part of others', or gone.
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
