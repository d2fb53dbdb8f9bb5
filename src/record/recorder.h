// Recording launches while a program runs: into a folder, from which the record is made when the program has ended, however
// it ended.
//
// In the folder are the contents under their digests, a file a launch, and one with the modules. A launch is there once it
// was begun, and gets its results when it has ended; one that failed stays without.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "exec/heap.h"
#include "exec/machine.h"
#include "record/record.h"

namespace ptxopt::record {

// Which launches are wanted.
struct Selection {
  std::string folder;          // empty: none
  std::string kernel;          // only kernels of this name, mangled or not; empty: all
  uint64_t most = UINT64_MAX;  // only so many
  bool wants(std::string_view kernelName, uint64_t soFar) const;
};

class Recorder {
 public:
  explicit Recorder(Selection selection) : selection_(std::move(selection)) {}

  // Notes a launch that is about to run; false where it is not wanted.
  bool begin(const Module& module, std::string_view kernel, const exec::LaunchConfig& config,
             exec::Machine& machine);
  // Notes what it left.
  void end(exec::Machine& machine);

 private:
  std::string keep(std::string_view bytes);
  void write();

  Selection selection_;
  uint64_t launches_ = 0;
  RecordedLaunch now_;
  std::map<const Module*, uint64_t> modules_;
  std::vector<RecordedModule> known_;
};

// Makes the record of what is in the folder. Throws RecordError.
Record readFolder(const std::string& folder);
void packFolder(const std::string& folder, const std::string& path);

}  // namespace ptxopt::record
