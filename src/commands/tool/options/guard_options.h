// The options of the guard, for every command that optimizes.
#pragma once

#include <string>
#include <vector>

#include "guard/guard.h"

namespace CLI {
class App;
}

namespace ptxopt::tool {

struct GuardLine {
  std::string mode;  // empty: $PTXOPT_GUARD, otherwise, and for "auto", as the level and the machine have it
  std::string rule;  // empty: $PTXOPT_GUARD_RULE, otherwise time
  unsigned tries = guard::kUsualTries;
  std::string ptxas;
  double timeoutSeconds = 600;
};

void addGuardOptions(CLI::App& app, GuardLine& line);

// What the line means: where nobody says, ptxas is asked from -O2 on if there is one, and not where passes are
// named. False with a message when a guard is asked for that cannot be had. `passedOver`
// gets a line for each variable that names no program, with what is taken instead.
bool resolveGuard(const GuardLine& line, const Options& options, guard::GuardOptions& guard, std::string& error,
                  std::vector<std::string>* passedOver = nullptr);

}  // namespace ptxopt::tool
