// Files are compared by device and inode, so that a link to a program that was called already is not called again.
// Programs that the guard asks are noted only while it asks them.
#include "wrapper/real_ptxas.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "ptxas/find.h"
#include "support/environment.h"

namespace ptxopt::wrapper {
namespace {

constexpr const char* kCalled = "PTXOPT_AS_CALLED";

bool isSameFile(const std::string& a, const std::string& b) {
  struct stat first {
  }, second{};
  return ::stat(a.c_str(), &first) == 0 && ::stat(b.c_str(), &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

std::string findAnother(const std::vector<std::string>& called) {
  std::vector<std::string> candidates;
  for (const char* home : {"CUDA_HOME", "CUDA_PATH"})
    if (const std::string folder = environmentValue(home); !folder.empty())
      candidates.push_back(folder + "/bin/ptxas");
  for (std::string& file : filesInPath("ptxas")) candidates.push_back(std::move(file));
  candidates.emplace_back("/usr/local/cuda/bin/ptxas");
  for (const std::string& candidate : candidates) {
    if (::access(candidate.c_str(), X_OK) != 0 || ptxas::isThisProgram(candidate)) continue;
    if (std::none_of(called.begin(), called.end(), [&](const auto& c) { return isSameFile(c, candidate); }))
      return candidate;
  }
  return {};
}

}  // namespace

bool isCalledByOurselves() { return !environmentValue(kCalled).empty(); }

ptxas::PtxasCandidates realPtxas(const std::string& given, const std::string& givenBy, const std::string& calledAs,
                                 const Client& client) {
  // A user who says that there is none to ask still needs one to compile.
  for (const char* variable : {"PTXOPT_PTXAS", "PTXAS"})
    if (environmentValue(variable) == "none") ::unsetenv(variable);
  if (isCalledByOurselves()) {
    ptxas::PtxasCandidates next;
    next.isExplicit = true;
    if (std::string program = findAnother(partsOf(environmentValue(kCalled), ':')); !program.empty())
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

WhileAsking::WhileAsking(const ptxas::PtxasCandidates& candidates) : before_(environmentValue(kCalled)) {
  for (const ptxas::PtxasCandidate& candidate : candidates.all) noteCalled(candidate.path);
}

WhileAsking::~WhileAsking() {
  if (before_.empty())
    ::unsetenv(kCalled);
  else
    ::setenv(kCalled, before_.c_str(), 1);
}

void noteCalled(const std::string& ptxas) {
  std::string called = environmentValue(kCalled);
  if (!called.empty()) called += ':';
  called += ptxas;
  ::setenv(kCalled, called.c_str(), 1);
}

}  // namespace ptxopt::wrapper
