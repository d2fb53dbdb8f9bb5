// What `ptxopt doctor` finds: the ptxas and nvcc of this machine and what they take, the programs that may call ptxopt
// instead of these and whether they would, and what is not right.
//
// Nothing is changed. Programs are asked for their version and their lists alone; that a client is there, and what its
// settings are, is read from files and variables without starting it. What stands on a command line only, as with clang
// and nvcc, cannot be known beforehand: the log of calls shows it afterwards.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ptxas/abilities.h"
#include "wrapper/call_log.h"

namespace ptxopt::doctor {

struct ProgramInfo {
  std::string path, origin;
  std::string version;                           // "V13.0.88"; empty: it does not say
  ptxas::PtxasAbilities abilities;               // of an nvcc the architectures alone
  std::vector<const ptxas::KnownBad*> knownBad;  // of a ptxas
};

enum class CallsUs : uint8_t { Yes, No, PerCall };

struct ClientInfo {
  std::string name, title;
  std::string found;    // where; empty: it is not there
  std::string version;  // empty: not known
  CallsUs callsUs = CallsUs::PerCall;
  std::string toSet;  // what makes it call us
  std::vector<std::string> problems;
  std::optional<wrapper::CallRecord> lastCall;
};

struct Diagnosis {
  std::string config;    // the file that was read; empty: none. The caller knows
  std::string log;       // the file; empty: none is kept
  std::string cacheKey;  // for compiler caches. The caller knows
  std::vector<std::pair<std::string, std::string>>
      variables;  // of ptxopt that are set, and values. The caller knows
  std::vector<ProgramInfo> ptxas, nvcc;
  std::vector<ClientInfo> clients;
  std::vector<std::string> problems;  // with those of the clients asked for
};

// `self`: the path of this program. `client`: the name of the one of interest, which has to be there and to call us;
// empty: all, and none has to.
Diagnosis diagnose(const std::string& self, const std::string& client);

// The names that --client takes, in their order.
std::vector<std::string> clientNames();

// As lines for people, and as JSON.
std::string toText(const Diagnosis& diagnosis);
std::string toJson(const Diagnosis& diagnosis);

}  // namespace ptxopt::doctor
