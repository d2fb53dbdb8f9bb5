// Programs that the guard asks count as called only while it asks them.
#include "wrapper/real_ptxas.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "ptxas/find.h"
#include "support/environment.h"
#include "wrapper/called_programs.h"

namespace ptxopt::wrapper {
namespace {

constexpr CalledPrograms kCalled("PTXOPT_AS_CALLED");

std::string findAnother() {
  std::vector<std::string> candidates;
  for (const char* home : {"CUDA_HOME", "CUDA_PATH"})
    if (const std::string folder = environmentValue(home); !folder.empty())
      candidates.push_back(folder + "/bin/ptxas");
  for (std::string& file : filesInPath("ptxas")) candidates.push_back(std::move(file));
  candidates.emplace_back("/usr/local/cuda/bin/ptxas");
  for (const std::string& candidate : candidates) {
    if (::access(candidate.c_str(), X_OK) == 0 && !ptxas::isThisProgram(candidate) && !kCalled.has(candidate))
      return candidate;
  }
  return {};
}

}  // namespace

bool isCalledByOurselves() { return !kCalled.value().empty(); }

ptxas::PtxasCandidates realPtxas(const std::string& given, const std::string& givenBy, const std::string& calledAs,
                                 const Client& client) {
  // A user who says that there is none to ask still needs one to compile.
  for (const char* variable : {"PTXOPT_PTXAS", "PTXAS"})
    if (environmentValue(variable) == "none") ::unsetenv(variable);
  if (isCalledByOurselves()) {
    ptxas::PtxasCandidates next;
    next.isExplicit = true;
    if (std::string program = findAnother(); !program.empty())
      next.all.push_back({std::move(program), "the next one"});
    return next;
  }
  ptxas::PtxasSearch search;
  search.given = given;
  search.givenBy = givenBy;
  search.name = client.ptxas;
  if (calledAs.find('/') != std::string::npos && !ptxasMeantBy(calledAs).empty())
    search.own.push_back({calledAs + ".real", "beside the link"});
  search.own.insert(search.own.end(), client.own.begin(), client.own.end());
  return ptxas::ptxasCandidates(search);
}

WhileAsking::WhileAsking(const ptxas::PtxasCandidates& candidates) : before_(kCalled.value()) {
  for (const ptxas::PtxasCandidate& candidate : candidates.all) noteCalled(candidate.path);
}

WhileAsking::~WhileAsking() { kCalled.set(before_); }

void noteCalled(const std::string& ptxas) { kCalled.note(ptxas); }

}  // namespace ptxopt::wrapper
