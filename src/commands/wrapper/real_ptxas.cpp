#include "wrapper/real_ptxas.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "ptxas/find.h"

namespace ptxopt {
namespace {

constexpr const char* kCalled = "PTXOPT_AS_CALLED";

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const std::string_view part = list.substr(0, list.find(':'));
    list.remove_prefix(std::min(list.size(), part.size() + 1));
    if (!part.empty()) parts.emplace_back(part);
  }
  return parts;
}

bool isSameFile(const std::string& a, const std::string& b) {
  struct stat first {
  }, second{};
  return ::stat(a.c_str(), &first) == 0 && ::stat(b.c_str(), &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

std::string findAnother(const std::vector<std::string>& called) {
  std::vector<std::string> candidates;
  for (const char* home : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* folder = std::getenv(home); folder != nullptr && *folder != '\0')
      candidates.push_back(std::string(folder) + "/bin/ptxas");
  if (const char* path = std::getenv("PATH"))
    for (const std::string& folder : split(path)) candidates.push_back(folder + "/ptxas");
  candidates.emplace_back("/usr/local/cuda/bin/ptxas");
  for (const std::string& candidate : candidates) {
    if (::access(candidate.c_str(), X_OK) != 0 || isThisProgram(candidate)) continue;
    if (std::none_of(called.begin(), called.end(), [&](const auto& c) { return isSameFile(c, candidate); }))
      return candidate;
  }
  return {};
}

}  // namespace

bool isCalledByOurselves() {
  const char* const list = std::getenv(kCalled);
  return list != nullptr && *list != '\0';
}

PtxasCandidates realPtxas(const std::string& given, const std::string& givenBy, const std::string& calledAs,
                          const Client& client) {
  // Whoever says that there is none to ask still needs one to compile.
  for (const char* variable : {"PTXOPT_PTXAS", "PTXAS"})
    if (const char* value = std::getenv(variable); value != nullptr && std::string_view(value) == "none")
      ::unsetenv(variable);
  if (isCalledByOurselves()) {
    PtxasCandidates next;
    next.isExplicit = true;
    if (std::string program = findAnother(split(std::getenv(kCalled))); !program.empty())
      next.all.push_back({std::move(program), "the next one"});
    return next;
  }
  PtxasSearch search;
  search.given = given;
  search.givenBy = givenBy;
  search.name = client.ptxas;
  if (calledAs.find('/') != std::string::npos && !ptxasMeantBy(calledAs).empty())
    search.own.push_back({calledAs + ".real", "beside the link"});
  search.own.insert(search.own.end(), client.own.begin(), client.own.end());
  return ptxasCandidates(search);
}

WhileAsking::WhileAsking(const PtxasCandidates& candidates)
    : before_(isCalledByOurselves() ? std::getenv(kCalled) : "") {
  for (const PtxasCandidate& candidate : candidates.all) noteCalled(candidate.path);
}

WhileAsking::~WhileAsking() {
  if (before_.empty())
    ::unsetenv(kCalled);
  else
    ::setenv(kCalled, before_.c_str(), 1);
}

void noteCalled(const std::string& ptxas) {
  std::string called = isCalledByOurselves() ? std::getenv(kCalled) : "";
  if (!called.empty()) called += ':';
  called += ptxas;
  ::setenv(kCalled, called.c_str(), 1);
}

}  // namespace ptxopt
