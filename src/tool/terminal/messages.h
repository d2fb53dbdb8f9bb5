// What the tool says on its streams.
#pragma once

#include <cstdio>
#include <string_view>

#include "ptxopt/ptxopt.h"

namespace ptxopt::tool {

// On standard error no line is a command to the service that runs a job (`::error file=...::`), whatever names of files and
// text of theirs it has.
void print(std::FILE* file, std::string_view text);
// To standard error, of the form `PLACE: error: ...`: coloured on a terminal.
void printMessage(std::string_view text);
// Says `ptxopt: error: MESSAGE` and returns the exit code of `status`.
int fail(Status status, std::string_view message);

}  // namespace ptxopt::tool
