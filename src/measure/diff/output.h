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

// "registers 20 -> 24, spills 0 -> 64": what differs; empty where nothing does.
std::string differences(const Row& row);
// "spills 0 -> 64 (more than 0)".
std::string text(const Regression& regression);
// "after: a.ptx for sm_80: MESSAGE".
std::string text(const Problem& problem);

}  // namespace ptxopt::diff
