// What a ptxas takes: versions of PTX and architectures; and what a PTX text needs.
//
// ptxas says both where it is asked: `--help` lists the values of --gpu-name, and a text of a version that does not
// exist is refused with the newest that does. That is two runs of some 20 ms, and one for its release, whose answers are kept in the cache for as
// long as the program stays the same file. A program that does not answer as ptxas does is not known, and is
// never passed over for that.
#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <vector>

#include "ptxas/cache.h"
#include "ptxas/known_bad.h"

namespace ptxopt::ptxas {

struct PtxVersion {
  unsigned major = 0, minor = 0;
  auto operator<=>(const PtxVersion&) const = default;
  bool isKnown() const { return major != 0; }
};
std::string versionText(const PtxVersion& version);  // "8.8"

struct PtxNeed {
  PtxVersion version;        // not known: any will do
  std::string architecture;  // "sm_90a"; empty: any will do
  // The text itself, as ptxas may be known to make wrong code for it; empty: that is not asked. It outlives this.
  std::string_view text = {};
};

struct PtxasAbilities {
  PtxVersion newest;
  std::vector<std::string> architectures;  // that there is machine code for: "sm_75", the oldest first
  Release release;                         // as `--version` says; not known where it does not
  bool isKnown() const { return newest.isKnown(); }
};

// What a text says of itself in `.version`, which comes before any other directive.
PtxVersion versionNeededBy(std::string_view ptx);

PtxasAbilities abilitiesOf(const std::string& program, Cache* cache);
// Why the program does not take that: "takes PTX up to 9.0"; empty where it does, or is not known.
std::string whyNot(const PtxasAbilities& abilities, const PtxNeed& need);

// What `--help` of ptxas and its answer to a version that does not exist say.
std::vector<std::string> architecturesListed(std::string_view help);
PtxVersion newestVersionSaid(std::string_view message);

}  // namespace ptxopt::ptxas
