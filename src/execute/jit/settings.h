// How the library works, as the environment says it (protocol.h). Read once. A value that makes no sense counts as not set: the
// program's own streams are not for us.
#pragma once

#include <string>

namespace ptxopt::jit {

// Which launches run both versions, and what that may cost.
struct Compare {
  unsigned long launches = 0;  // the first of each kernel, and then each whose number is a power of two; 0: none
  unsigned long mib = 512;     // of memory that the program has from the driver
  double seconds = 10;         // for the device, or another thread, to be done
};

struct Settings {
  std::string tool;  // ptxopt; empty: there is none, and nothing is optimized
  std::string log;   // a file that gets a line for each module
  double budget = 0;
  bool isVerbose = false;
  Compare compare;

  static const Settings& get();
};

}  // namespace ptxopt::jit
