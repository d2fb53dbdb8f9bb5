// The two programs as functions, for main() and for the shared library.
#pragma once

#include <new>

#include "ptxopt/ptxopt.h"
#include "tool/terminal/messages.h"

namespace ptxopt::tool {

int runTool(int argc, char** argv);    // ptxopt
int runDropIn(int argc, char** argv);  // ptxopt-ptxas, without what only ptxopt needs

// What either does: nothing thrown ends a program without a message.
inline int runGuarded(int (*program)(int, char**), int argc, char** argv) {
  try {
    return program(argc, argv);
  } catch (const std::bad_alloc&) {
    return fail(Status::Usage, "out of memory");
  } catch (const std::exception& e) {
    return fail(Status::Internal, e.what());
  }
}

}  // namespace ptxopt::tool
