// Candidates are asked in order whether they take all texts, and what they say is cached. One with a known fault for a
// text is remembered and taken only if no other is without one.
#include "ptxas/choose.h"
#include "support/log.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace ptxopt::ptxas {
namespace {

bool isNothing(const PtxNeed& need) { return !need.version.isKnown() && need.architecture.empty(); }

std::string whyNotAll(const PtxasAbilities& abilities, std::span<const PtxNeed> needs) {
  for (const PtxNeed& need : needs)
    if (std::string why = whyNot(abilities, need); !why.empty()) return why;
  return {};
}

PtxasChoice chooseAmong(PtxasCandidates candidates, std::span<const PtxNeed> needs, Cache* cache) {
  PtxasChoice choice;
  if (candidates.all.empty()) return choice;
  const auto take = [&](const PtxasCandidate& candidate, std::vector<KnownBadHit> knownBad) {
    choice.path = candidate.path;
    choice.origin = candidate.origin;
    choice.knownBad = std::move(knownBad);
    if (!choice.knownBad.empty()) choice.release = abilitiesOf(candidate.path, cache).release;
  };
  const auto knownBadFor = [&](const PtxasCandidate& candidate) {
    const bool mayBe = std::ranges::any_of(
        needs, [](const PtxNeed& need) { return mayHaveTrigger(need.text, need.version, need.architecture); });
    return mayBe ? knownBadOf(abilitiesOf(candidate.path, cache).release, needs) : std::vector<KnownBadHit>();
  };
  const PtxasCandidate first = candidates.all.front();
  if (candidates.isExplicit || std::ranges::all_of(needs, isNothing)) {
    take(first, knownBadFor(first));
    return choice;
  }
  if (candidates.all.size() == 1) addPython(candidates);
  if (candidates.all.size() == 1) {
    take(first, knownBadFor(first));
    return choice;
  }
  std::optional<PtxasCandidate> faulty;  // the first that takes all
  std::vector<KnownBadHit> faults;
  for (std::size_t i = 0; i < candidates.all.size(); ++i) {
    const PtxasCandidate candidate = candidates.all[i];
    const std::string why = whyNotAll(abilitiesOf(candidate.path, cache), needs);
    if (!why.empty()) {
      choice.passedOver.push_back(fmt::format("{} {}", candidate.path, why));
    } else if (std::vector<KnownBadHit> knownBad = knownBadFor(candidate); knownBad.empty()) {
      if (faulty)
        choice.passedOver.push_back(
            fmt::format("{} makes wrong code of it ({})", faulty->path, faults.front().row->name));
      take(candidate, {});
      return choice;
    } else if (!faulty) {
      faulty = candidate;
      faults = std::move(knownBad);
    }
    if (i + 1 == candidates.all.size()) addPython(candidates);
  }
  if (faulty) {
    take(*faulty, std::move(faults));
    return choice;
  }
  take(first, knownBadFor(first));
  choice.origin += needs.size() == 1 ? "; none takes the file" : "; none takes all files";
  choice.takesAll = false;
  return choice;
}

}  // namespace

std::string PtxasChoice::why() const {
  std::string out = origin;
  for (const std::string& other : passedOver) out += "; " + other;
  return out;
}

std::vector<KnownBadHit> knownBadOf(const Release& release, std::span<const PtxNeed> needs) {
  std::vector<KnownBadHit> all;
  for (const PtxNeed& need : needs)
    for (KnownBadHit& hit : triggersIn(need.text, release, need.architecture))
      if (std::ranges::find(all, hit.row, &KnownBadHit::row) == all.end()) all.push_back(std::move(hit));
  return all;
}

PtxasChoice choosePtxas(PtxasCandidates candidates, const PtxNeed& need, Cache* cache) {
  return choosePtxas(std::move(candidates), std::span(&need, 1), cache);
}

PtxasChoice choosePtxas(PtxasCandidates candidates, std::span<const PtxNeed> needs, Cache* cache) {
  PtxasChoice choice = chooseAmong(std::move(candidates), needs, cache);
  log::debug(log::kPtxas, [&] {
    if (choice.path.empty()) return std::string("there is no ptxas");
    return fmt::format("{} is called ({}){}{}", choice.path, choice.origin,
                       choice.passedOver.empty() ? "" : "; passed over: ", fmt::join(choice.passedOver, "; "));
  });
  return choice;
}

}  // namespace ptxopt::ptxas
