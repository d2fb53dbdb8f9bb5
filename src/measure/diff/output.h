// A comparison for programs: JSON as in schemas/diff.schema.json, and JUnit's XML.
#pragma once

#include <string>
#include <string_view>

#include "diff/diff.h"

namespace ptxopt::diff {

// All functions, also those that did not change.
std::string writeJson(const Result& result);
// A suite for each architecture with a case for each function; what could not be compared is an error in a suite of
// its own, so that no report without cases passes.
std::string writeJunit(const Result& result);

// "regs 20 -> 24, spills 0 -> 64, notes none -> C7508": what differs; empty where nothing does.
std::string differences(const Row& row);
// "C7508", "none"; "?" where they are not known.
std::string notesOf(const ptxas::FunctionMeasures& f);
// "other code (constants)", of a row whose code differs.
std::string codeText(const Row& row);
// "spills 0 -> 64 (more than 0)", "new note: C7508 (setmaxnreg is ignored)".
std::string text(const Regression& regression);
// "regs 168 (limit attention*:regs<=128)".
std::string text(const Breach& breach);
// "after: a.ptx for sm_80: MESSAGE".
std::string text(const Problem& problem);

}  // namespace ptxopt::diff
