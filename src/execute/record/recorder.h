// Recording launches in the interpreter while a program runs. A launch is there once it was begun, and gets its results when it
// has ended; one that failed stays without.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "exec/heap.h"
#include "exec/machine.h"
#include "record/folder.h"
#include "record/textures.h"

namespace ptxopt::record {

// A launch that is about to run, without its module and results. `keep` stores bytes and returns their digest; the texels of
// textures, which the result refers to, are added to `arrays`.
RecordedLaunch launchOf(std::string_view kernel, const exec::LaunchConfig& config, exec::Machine& machine,
                        const std::function<std::string(std::string_view bytes)>& keep, Arrays& arrays);

// Which launches are wanted.
struct Selection {
  std::string folder;          // empty: none
  std::string kernel;          // only kernels of this name, mangled or not; empty: all
  uint64_t most = UINT64_MAX;  // only that many
  bool wants(std::string_view kernelName, uint64_t soFar) const;
};

class Recorder {
 public:
  explicit Recorder(Selection selection) : selection_(std::move(selection)), folder_(selection_.folder) {}

  // Notes a launch that is about to run; false where it is not wanted.
  bool begin(const Module& module, std::string_view kernel, const exec::LaunchConfig& config,
             exec::Machine& machine);
  // Notes what it left.
  void end(exec::Machine& machine);

 private:
  Selection selection_;
  uint64_t launches_ = 0;
  RecordedLaunch now_;
  FolderWriter folder_;
  std::map<const Module*, uint64_t> modules_;
  Arrays arrays_;  // of the launch now
};

}  // namespace ptxopt::record
