// What the tool writes: results to standard output, all else through the logger (support/log.h).
#pragma once

#include <cstdio>
#include <string_view>

#include "ptxopt/ptxopt.h"

namespace ptxopt::tool {

void printResult(std::string_view text);
// Has the form `PLACE: error: ...`: whole lines.
void printError(std::string_view text);
// What an option asks for beside the result, and what is said at the end: whole lines.
void printAsked(std::string_view text);
// Says `ptxopt: error: MESSAGE` and returns the exit code of `status`.
int fail(Status status, std::string_view message);

}  // namespace ptxopt::tool
