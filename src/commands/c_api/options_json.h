// The options of ptxopt_optimize(), from JSON (ptxopt_c.h lists the members).
#pragma once

#include <string>
#include <string_view>

#include "guard/guard.h"
#include "ptxopt/ptxopt.h"

namespace ptxopt::c_api {

struct CallOptions {
  Options options;
  guard::GuardOptions guard;
  bool stripsDebug = false;  // first
  bool isVerbose = false;    // ptxas's options have -v
  std::string notOptimized;  // not empty: ptxas's options ask for code as it was written; the text is left as it is
};

// Empty when the text makes sense; else what is wrong with it, or with the ptxas that it asks for.
std::string readOptions(std::string_view json, CallOptions& to);

}  // namespace ptxopt::c_api
