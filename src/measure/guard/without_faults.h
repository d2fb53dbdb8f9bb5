// The input of the guard without what the ptxas that is to assemble it would make wrong code of (ptxas/avoid_bad.h).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "guard/guard.h"

namespace ptxopt::guard {

struct WithoutFaults {
  std::string text;
  std::vector<std::string> lines;  // what that ptxas is known to make of the text as given, a warning each
};
// None where nothing is to be done.
std::optional<WithoutFaults> withoutFaults(std::string_view text, const Options& options,
                                           const GuardOptions& guard);

}  // namespace ptxopt::guard
