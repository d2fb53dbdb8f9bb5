// The guard is resolved after the optimizer's options: it is on by default for -O2 without --passes where a ptxas is
// found, and `ptxas` makes its absence an error.
#include "tool/options/guard_options.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "ptxas/find.h"
#include "support/log.h"
#include "tool/options/number_checks.h"

namespace ptxopt::tool {
namespace {

std::string checkNotEstimate(const std::string& mode) {
  return mode == "estimate" ? std::string(guard::kNoEstimate) : std::string();
}

}  // namespace

void addGuardOptions(CLI::App& app, GuardLine& line) {
  const char* const kGuard = "Never worse";
  app.add_option("--guard", line.mode,
                 "keep the original text of functions that get worse (--guard-rule). auto, the default with -O2: "
                 "judge by what ptxas makes of them, where there is a ptxas; ptxas: fail if nothing can be judged; "
                 "off: do not judge. A function that cannot be judged keeps its text")
      ->type_name("auto|ptxas|off")
      ->check(CLI::Validator(checkNotEstimate, ""))
      ->check(CLI::IsMember({"auto", "ptxas", "off"}))
      ->envname("PTXOPT_GUARD")
      ->take_last()
      ->group(kGuard);
  app.add_option("--guard-rule", line.rule,
                 "what counts as worse. time: spills, then modelled cycles, of any innermost loop or of the whole; "
                 "warps: spills, then resident warps, then machine instructions [time]")
      ->type_name("time|warps")
      ->check(CLI::IsMember({"time", "warps"}))
      ->envname("PTXOPT_GUARD_RULE")
      ->take_last()
      ->group(kGuard);
  app.add_option("--guard-tries", line.tries,
                 "how often a function that got worse is tried again, without passes that may be to blame, before "
                 "its text is kept")
      ->type_name("N")
      ->check(CLI::Range(0U, guard::kMostTries))
      ->envname("PTXOPT_GUARD_TRIES")
      ->capture_default_str()
      ->take_last()
      ->group(kGuard);
  app.add_option("--ptxas", line.ptxas, "the ptxas to use [$PTXOPT_PTXAS, $PTXAS, or the first one found]")
      ->type_name("PROGRAM")
      ->take_last()
      ->group(kGuard);
  app.add_option("--ptxas-timeout", line.timeoutSeconds, "give up on ptxas after SECONDS")
      ->type_name("SECONDS")
      ->check(positiveNumber())
      ->capture_default_str()
      ->group(kGuard);
}

bool resolveGuard(const GuardLine& line, const Options& options, guard::GuardOptions& guard, std::string& error,
                  std::vector<std::string>* passedOver) {
  guard.rule = ptxas::guardRuleNamed(line.rule).value_or(ptxas::GuardRule::Time);
  guard.tries = line.tries;
  guard.ptxas.timeoutSeconds = line.timeoutSeconds;
  guard.ptxas.cache = &ptxas::Cache::user();
  const bool wants = line.mode == "ptxas";
  const bool may = (line.mode.empty() || line.mode == "auto") && options.level >= 2 && !options.passes;
  if (!wants && !may) return true;
  ptxas::PtxasSearch search;
  search.given = line.ptxas;
  guard.candidates = ptxas::ptxasCandidates(search);
  guard.ptxas.program = guard.candidates.all.empty() ? std::string() : guard.candidates.all.front().path;
  if (passedOver != nullptr)
    for (const std::string& why : guard.candidates.wrong)
      passedOver->push_back(ptxas::insteadOf(why, guard.ptxas.program));
  if (!guard.ptxas.program.empty()) {
    guard.mode = guard::GuardMode::Ptxas;
    guard.isInsistent = wants;
  } else if (wants) {
    error = "--guard=ptxas: there is no ptxas; --ptxas names one";
    return false;
  } else {
    log::info(log::kGuard, "there is no ptxas: what changes is not compared");
  }
  return true;
}

}  // namespace ptxopt::tool
