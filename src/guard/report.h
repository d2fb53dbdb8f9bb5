// What the guard found, for the JSON report and for people.
#pragma once

#include <string>

#include "guard/guard.h"

namespace ptxopt {

// Adds the member `guard` to the object that is the report.
void addGuardReport(std::string& reportJson, const GuardReport& guard);
// A line for each function that was kept and for trouble; empty when there is nothing to say.
std::string guardMessages(const GuardReport& guard, std::string_view fileName);

}  // namespace ptxopt
