#include "ptxas/choose.h"

#include <fmt/format.h>

namespace ptxopt {

std::string PtxasChoice::why() const {
  std::string out = origin;
  for (const std::string& other : passedOver) out += "; " + other;
  return out;
}

PtxasChoice choosePtxas(PtxasCandidates candidates, const PtxNeed& need, Cache* cache) {
  PtxasChoice choice;
  if (candidates.all.empty()) return choice;
  const PtxasCandidate first = candidates.all.front();
  choice.path = first.path;
  choice.origin = first.origin;
  if (candidates.isExplicit || (!need.version.isKnown() && need.architecture.empty())) return choice;
  if (candidates.all.size() == 1) addPython(candidates);
  if (candidates.all.size() == 1) return choice;
  for (std::size_t i = 0; i < candidates.all.size(); ++i) {
    const PtxasCandidate candidate = candidates.all[i];
    const std::string why = whyNot(abilitiesOf(candidate.path, cache), need);
    if (why.empty()) {
      choice.path = candidate.path;
      choice.origin = candidate.origin;
      return choice;
    }
    choice.passedOver.push_back(fmt::format("{} {}", candidate.path, why));
    if (i + 1 == candidates.all.size()) addPython(candidates);
  }
  choice.origin += "; none takes the file";
  return choice;
}

}  // namespace ptxopt
