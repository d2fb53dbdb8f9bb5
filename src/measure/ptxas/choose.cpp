#include "ptxas/choose.h"
#include "support/log.h"

#include <fmt/format.h>

#include <algorithm>
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
  const PtxasCandidate first = candidates.all.front();
  choice.path = first.path;
  choice.origin = first.origin;
  if (candidates.isExplicit || std::ranges::all_of(needs, isNothing)) return choice;
  if (candidates.all.size() == 1) addPython(candidates);
  if (candidates.all.size() == 1) return choice;
  for (std::size_t i = 0; i < candidates.all.size(); ++i) {
    const PtxasCandidate candidate = candidates.all[i];
    const std::string why = whyNotAll(abilitiesOf(candidate.path, cache), needs);
    if (why.empty()) {
      choice.path = candidate.path;
      choice.origin = candidate.origin;
      return choice;
    }
    choice.passedOver.push_back(fmt::format("{} {}", candidate.path, why));
    if (i + 1 == candidates.all.size()) addPython(candidates);
  }
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
