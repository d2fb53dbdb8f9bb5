// A diagnosis examines every ptxas in the order in which they are tried, then nvcc, then the clients; the log of calls
// gives each client its last call. A call by CMake also counts as one by nvcc, and the reverse.
#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "doctor/clients.h"
#include "doctor/diagnosis.h"
#include "ptxas/assemble.h"
#include "ptxas/find.h"
#include "support/environment.h"
#include "support/process.h"
#include "wrapper/nvcc.h"

namespace ptxopt::doctor {
namespace {

// Which clients' calls are those of this one: CMake calls nvcc.
bool isCallOf(const ClientInfo& client, const wrapper::CallRecord& record) {
  return record.client == client.name || (client.name == "cmake" && record.client == "nvcc") ||
         (client.name == "nvcc" && record.client == "cmake");
}

std::vector<ProgramInfo> examinePtxas(std::vector<std::string>& problems) {
  ptxas::PtxasCandidates candidates = ptxas::ptxasCandidates({});
  ptxas::addPython(candidates);
  const std::string first = candidates.all.empty() ? std::string() : candidates.all.front().path;
  for (const std::string& wrong : candidates.wrong) problems.push_back(ptxas::insteadOf(wrong, first));
  std::vector<ProgramInfo> programs;
  for (const ptxas::PtxasCandidate& candidate : candidates.all) {
    ProgramInfo& program = programs.emplace_back();
    program.path = candidate.path;
    program.origin = candidate.origin;
    program.version = ptxas::versionOfPtxas(candidate.path);
    program.abilities = ptxas::abilitiesOf(candidate.path, &ptxas::Cache::user());
    program.knownBad = ptxas::knownBadOf(ptxas::releaseOf(program.version));
    if (!program.abilities.isKnown())
      problems.push_back(fmt::format("{} ({}) does not answer as ptxas does", program.path, program.origin));
  }
  if (programs.empty())
    problems.emplace_back(candidates.isExplicit
                              ? "the variable says that there is no ptxas: nothing is compared, and "
                                "nothing can be assembled"
                              : "there is no ptxas: set PTXOPT_PTXAS, CUDA_HOME or PATH");
  return programs;
}

std::vector<ProgramInfo> examineNvcc(std::vector<std::string>& problems) {
  std::vector<std::string> wrong;
  const std::string nvcc = wrapper::findNvcc(wrong);
  if (const std::string named = environmentValue("PTXOPT_NVCC"); !named.empty())
    if (std::string why = ptxas::whyNoProgram("PTXOPT_NVCC", named); !why.empty())
      problems.push_back(std::move(why));
  if (nvcc.empty()) return {};
  ProgramInfo program;
  program.path = nvcc;
  program.version = ptxas::versionOfPtxas(nvcc);  // their results are alike
  ProcessOptions options;
  options.timeoutSeconds = 60;
  std::istringstream listed(runProcess({nvcc, "--list-gpu-code"}, options).out);
  for (std::string word; listed >> word;)
    if (word.starts_with("sm_")) program.abilities.architectures.push_back(word);
  return {program};
}

}  // namespace

Diagnosis diagnose(const std::string& self, const std::string& client) {
  Diagnosis diagnosis;
  diagnosis.log = environmentValue("PTXOPT_LOG");
  diagnosis.ptxas = examinePtxas(diagnosis.problems);
  diagnosis.nvcc = examineNvcc(diagnosis.problems);
  const std::vector<wrapper::CallRecord> calls =
      diagnosis.log.empty() ? std::vector<wrapper::CallRecord>() : wrapper::readLog(diagnosis.log);
  for (ClientInfo& found : findClients(self)) {
    if (!client.empty() && found.name != client) continue;
    for (const wrapper::CallRecord& call : calls)
      if (isCallOf(found, call)) found.lastCall = call;
    if (!client.empty() && found.found.empty()) found.problems.push_back(found.title + " is not found");
    if (!client.empty() && found.callsUs == CallsUs::No && found.problems.empty())
      found.problems.push_back(fmt::format("{} would not call ptxopt", found.title));
    for (const std::string& problem : found.problems)
      diagnosis.problems.push_back(fmt::format("{}: {}", found.name, problem));
    diagnosis.clients.push_back(std::move(found));
  }
  return diagnosis;
}

}  // namespace ptxopt::doctor
