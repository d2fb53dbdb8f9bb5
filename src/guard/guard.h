// Optimizing without making a kernel worse.
//
// Each function is compared before and after: by what ptxas makes of both texts (compare.h: spills, then resident
// warps, then machine instructions), or by the estimates of registers. Of one that got worse, the original text is
// kept, with the device functions that it calls, since ptxas may put their code into it. Where a kept function is
// called by others too, those are compared again, until nothing is worse; in the end there is the input itself.
// Cost: ptxas for the text before and after, and again for each round in which others share what was kept; answers
// come from the cache where they are known. Nothing that passes left unchanged is asked about.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptxas/assemble.h"
#include "ptxas/compare.h"
#include "ptxopt/ptxopt.h"

namespace ptxopt {

enum class GuardMode : uint8_t { Off, Estimate, Ptxas };
std::string_view name(GuardMode mode);  // "off", "estimate", "ptxas"

struct GuardOptions {
  GuardMode mode = GuardMode::Off;
  PtxasSettings ptxas;
  std::string architecture;  // that ptxas compiles for; empty: Options::architecture, or the text's
};

// A function whose original text was kept.
struct KeptFunction {
  std::string name;
  std::string reason;  // "spills", "warps" or "sass" got worse; "called-by" one that did; "refused": by ptxas
  std::string detail;  // "176 -> 180", or the name of the caller
};

struct GuardReport {
  GuardMode mode = GuardMode::Off;
  bool asked = false;        // whether there was anything to compare
  std::string architecture;  // compared for
  std::vector<KeptFunction> kept;
  std::string trouble;     // why nothing could be compared: the text is as optimized, or the input if `refused`
  bool refused = false;    // ptxas takes the input but not the optimized text: a bug of ours
  Measures before, after;  // of the input and of the output, if ptxas was asked
};

struct GuardedResult {
  Result result;
  GuardReport guard;
};

// Like optimize(), which it calls as often as it must. Result::reportJson has the report of a guard
// that is not off.
GuardedResult optimizeGuarded(std::string_view text, const Options& options, const GuardOptions& guard);

// The functions that got worse, in the order of `before`.
struct WorseFunction {
  std::string name;
  Comparison by;         // unless it is missing
  bool missing = false;  // a kernel that is only in `before`
};
std::vector<WorseFunction> worseFunctions(const Measures& before, const Measures& after);

}  // namespace ptxopt
