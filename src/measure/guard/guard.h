// Optimizing without making a kernel worse.
//
// Each function is compared before and after: by what ptxas makes of both texts (compare.h: spills, then modelled
// cycles, or as another rule says). For one that got worse, the original text is kept, with the device functions that
// it calls, since ptxas may put their code into it. Where a kept function is called by others too, those are compared
// again, until nothing is worse; in the end there is the input itself.
// Before that it is tried again, without passes that may be to blame, or with other knobs of them (retry.h), and what
// is better than the input is taken. Where a profile changes a kernel, what is made of it without the profile is judged
// first, and the profile's has to be better than that (with_profile.h).
// A function whose optimized text gets a fault of that ptxas that is known (known_bad.h), and whose original text does
// not, keeps the latter. An input that ptxas is known to make wrong code of is first put into a form that the fault
// does not hit, where one is known. What cannot be judged keeps its text as well: everything where ptxas has no result
// for the input or refuses the result, otherwise the functions whose code has no figures on one of the sides. A text
// with functions that no kernel reaches is assembled as relocatable code too, which is what gives these figures.
// Cost: ptxas for the text before and after, for the functions that are tried again, once a try, and for all again for
// each iteration in which others share what was kept; answers come from the cache where they are known. Nothing that passes
// left unchanged is asked about.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptxas/assemble.h"
#include "ptxas/compare.h"
#include "ptxas/find.h"
#include "ptxopt/ptxopt.h"

namespace ptxopt::guard {

enum class GuardMode : uint8_t { Off, Ptxas };
std::string_view name(GuardMode mode);  // "off", "ptxas"

// What is said of the mode that there was, and is no longer.
inline constexpr std::string_view kNoEstimate =
    "estimate not in {auto,ptxas,off}: estimates of registers found none of the kernels that got worse; auto and "
    "ptxas "
    "ask ptxas";

inline constexpr unsigned kMostTries = 8;
inline constexpr unsigned kUsualTries = 3;  // where a program is built once
inline constexpr unsigned kTriesOfJit = 1;  // where each compilation is waited for

struct GuardOptions {
  GuardMode mode = GuardMode::Off;
  ptxas::PtxasSettings ptxas;
  // Not empty: the one of these that takes the text is asked, instead of ptxas.program.
  ptxas::PtxasCandidates candidates;
  std::string architecture;  // that ptxas compiles for; empty: Options::architecture, or the text's
  bool isInsistent = false;  // asked for explicitly: without a verdict on the input it is to fail
  ptxas::GuardRule rule = ptxas::GuardRule::Time;  // what worse is
  unsigned tries = 0;                              // how often what got worse is tried again, at most kMostTries
  // The figures are of the very call that makes the code: what has no code there has none.
  bool isWholeCall = false;
};

inline constexpr std::string_view kNotJudged = "not-judged";

// A function whose original text was kept.
struct KeptFunction {
  std::string name;
  // "notes", "spills", "cycles", "warps" or "sass" got worse; "called-by" one that did; "missing": has no code any longer; "together":
  // with what got worse; "known-bad": ptxas makes wrong code of the optimized text; "refused": by ptxas; kNotJudged: there are no figures.
  std::string reason;
  std::string detail;  // "176 -> 180", or the name of the caller
};

// A function that got worse, and is better than its original text without some passes, or with other knobs.
struct RetriedFunction {
  std::string name;
  FunctionOptions with;
  std::string reason, detail;  // what is better: "cycles", "L1 388 -> 342"
  std::string refused;         // what was worse before: "cycles L1 388 -> 402"
};

// A kernel that has what is made of it without the profile (with_profile.h).
struct WithoutProfile {
  std::string name;
  std::string reason, detail;  // what is not better with it: "cycles", "L1 388 -> 390"
};

struct GuardReport {
  GuardMode mode = GuardMode::Off;
  bool asked = false;        // whether there was anything to compare
  std::string architecture;  // compared for
  std::string ptxas, why;    // asked, and why that one, where there was a choice
  std::vector<std::string>
      knownBad;  // of that one: what it is known to make wrong code of in the input, a line each
  // What of the input that ptxas would make wrong code of stands in the output, and in the text that is compared with, in another form
  // (ptxas/avoid_bad.h): likewise.
  std::vector<std::string> avoided;
  std::vector<KeptFunction> kept;
  std::vector<RetriedFunction> retried;
  std::vector<WithoutProfile> withoutProfile;
  std::string trouble;        // why nothing could be compared: all text is as it was
  bool refused = false;       // ptxas takes the input but not the optimized text: a bug of ours
  bool noVerdict = false;     // there are no figures of the input
  bool inputRefused = false;  // ... since ptxas refuses it
  bool noFolder = false;      // ... or of the output, as temporary files cannot be written
  // What ptxas made of the very text that is the output, where it was to be kept and that text was assembled.
  std::optional<ptxas::PtxasOutput> output;
  ptxas::Measures before, after;  // of the input and of the output, if ptxas was asked
  // All that came after optimizing once, if Options::times: the CPU time is of this process, without ptxas.
  double wallSeconds = 0, cpuSeconds = 0;
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
  ptxas::Comparison by;  // unless it is missing
  bool missing = false;  // a kernel that is only in `before`
};
std::vector<WorseFunction> worseFunctions(const ptxas::Measures& before, const ptxas::Measures& after,
                                          ptxas::GuardRule rule = ptxas::GuardRule::Time);

}  // namespace ptxopt::guard
