// --profile-use FILE: what launches of kernels were seen to have (docs/profile.md).
#pragma once

#include <string>

#include "ptxopt/ptxopt.h"

namespace CLI {
class App;
}

namespace ptxopt::tool {

struct ProfileLine {
  std::string path, text;  // the text after read(); empty without the option

  void addTo(CLI::App& app, const std::string& group);
  // False with the reason in `error`: also for what is not a profile.
  bool read(std::string& error);
  void giveTo(Options& options) const;
};

}  // namespace ptxopt::tool
