// The two programs as functions, for main() and for the shared library.
#pragma once

#include <cstdio>
#include <new>

#include "ptxopt/ptxopt.h"
#include "support/descriptor.h"
#include "support/log.h"
#include "support/process.h"
#include "tool/terminal/messages.h"
#include "tool/terminal/terminal.h"

namespace ptxopt::tool {

int runTool(int argc, char** argv);    // ptxopt
int runDropIn(int argc, char** argv);  // ptxopt-ptxas, without what only ptxopt needs

// What either does: nothing thrown ends a program without a message, no output is lost without one, and what it started ends
// with it.
inline int runGuarded(int (*program)(int, char**), int argc, char** argv) {
  holdStandardStreams();
  endProgramsWithThisProcess();
  log::setStandardError(log::levelOfEnvironment(), log::Format::Text, hasColours(stderr));
  try {
    const int exitCode = program(argc, argv);
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return exitCode;
    const int code = fail(Status::Usage, "cannot write to standard output");
    return exitCode != 0 ? exitCode : code;
  } catch (const std::bad_alloc&) {
    return fail(Status::Usage, "out of memory");
  } catch (const std::exception& e) {
    return fail(Status::Internal, e.what());
  }
}

}  // namespace ptxopt::tool
