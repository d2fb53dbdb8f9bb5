// Launches of a record on the command line: which are meant, and how they are called.
#pragma once

#include <string>
#include <vector>

#include "record/record.h"

namespace CLI {
class App;
}

namespace ptxopt::tool {

struct LaunchList {
  std::string launches, kernel;  // "3,5-7"; mangled or not

  // Adds --launch and --kernel.
  void addTo(CLI::App& app);
  // By launch. Throws record::RecordError.
  std::vector<bool> chosen(const record::Record& record) const;
};

// "scale(float*)<<<(1,1,1), (32,1,1)>>>"
std::string launchTitle(const record::RecordedLaunch& launch);

}  // namespace ptxopt::tool
