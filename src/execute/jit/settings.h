// How the library works, as the environment says it (protocol.h). Read once. A value that makes no sense counts as not set: the
// program's own streams are not for us.
#pragma once

#include <string>

namespace ptxopt::jit {

struct Settings {
  std::string tool;  // ptxopt; empty: there is none, and nothing is optimized
  std::string log;   // a file that gets a line for each module
  double budget = 0;
  bool isVerbose = false;

  static const Settings& get();
};

}  // namespace ptxopt::jit
