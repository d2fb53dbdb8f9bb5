// Launches of a record on the command line: which are meant, how they are called, and how much memory they may have.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "record/record.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace ptxopt::tool {

// --max-memory MIB, for record::Archive.
struct RecordMemory {
  uint64_t mib = 0;  // 0: what a record of its size may have

  CLI::Option* addTo(CLI::App& app);
  uint64_t bytes() const { return mib << 20; }
};

struct LaunchList {
  std::string launches, kernel;  // "3,5-7"; mangled or not
  RecordMemory memory;

  // Adds --launch, --kernel and --max-memory.
  void addTo(CLI::App& app);
  // By launch. Throws record::RecordError.
  std::vector<bool> chosen(const record::Record& record) const;
};

// "scale(float*)<<<(1,1,1), (32,1,1)>>>"
std::string launchTitle(const record::RecordedLaunch& launch);

}  // namespace ptxopt::tool
