// The checks of a module, one file each.
#pragma once

#include "check/check.h"

namespace ptxopt::check {

using Findings = std::vector<Finding>;

// Opcodes, their types, and their operands.
void checkInstructions(const Module& module, Findings& findings);
// What each thing in the text needs, next to .version and .target.
Needs checkNeeds(const Module& module, Findings& findings);
// Control and data flow.
void checkFlow(const Module& module, Findings& findings);
// Releases of ptxas that are at fault (ptxas/known_bad.h): each row once.
void checkKnownBad(const Module& module, Findings& findings);

}  // namespace ptxopt::check
