#include "ptxas/find_version.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "ptxas/assemble.h"
#include "ptxas/find.h"

namespace ptxopt::ptxas {

bool isPtxasVersion(std::string_view word) {
  if (word.find_first_not_of("0123456789.") != std::string_view::npos) return false;
  const auto dots = std::ranges::count(word, '.');
  return (dots == 1 || dots == 2) && !word.starts_with('.') && !word.ends_with('.') &&
         word.find("..") == std::string_view::npos;
}

std::string ptxasOfVersion(const std::string& version, std::string& error) {
  PtxasSearch search;
  search.all = true;
  search.own.push_back({fmt::format("/usr/local/cuda-{}/bin/ptxas", version), "/usr/local"});
  PtxasCandidates candidates = ptxasCandidates(search);
  addPython(candidates);
  std::vector<std::string> found;
  for (const PtxasCandidate& candidate : candidates.all) {
    const std::string is = versionOfPtxas(candidate.path);
    if (is == "V" + version || is.starts_with("V" + version + ".")) return candidate.path;
    if (!is.empty()) found.push_back(fmt::format("{} ({})", is.substr(1), candidate.path));
  }
  error = fmt::format("there is no ptxas {}; {}", version,
                      found.empty() ? "there is none at all" : fmt::format("found: {}", fmt::join(found, ", ")));
  return {};
}

}  // namespace ptxopt::ptxas
