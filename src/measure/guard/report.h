// What the guard found, for the JSON report and for people.
#pragma once

#include <string>

#include "guard/guard.h"

namespace ptxopt::guard {

// Adds the member `guard` to the object that is the report.
void addGuardReport(std::string& reportJson, const GuardReport& guard);
// Which functions were kept since there were no figures, in words; empty when there are none.
std::string unjudgedFunctions(const GuardReport& guard);
// A line for what could not be compared, and for each known fault of the ptxas asked; empty when there is nothing to say.
std::string guardWarnings(const GuardReport& guard, std::string_view fileName);
// A line for which ptxas was asked, and why that one; empty when none was.
std::string ptxasAsked(const GuardReport& guard, std::string_view fileName);
// A line for each function that was kept as it was, or without some passes.
std::string keptFunctions(const GuardReport& guard, std::string_view fileName);

}  // namespace ptxopt::guard
