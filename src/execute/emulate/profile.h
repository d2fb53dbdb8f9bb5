// What the launches of each kernel cost: how many instructions their threads executed, and in what time. For --profile.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "exec/observer.h"

namespace ptxopt::emulate {

class ThreadInstructions final : public exec::Observer {
 public:
  void op(exec::Warp& warp, const exec::Routine& routine, const exec::Op& op, exec::Mask mask,
          exec::Mask active) override;
  uint64_t warps = 0, threads = 0;  // executed by
};

// For this process: the sum of what its threads take. Others do not count.
double processorSeconds();

class Profile {
 public:
  void add(const std::string& kernel, const ThreadInstructions& instructions, double seconds);
  // A line for each kernel, the costliest first.
  std::string table() const;

 private:
  struct Row {
    uint64_t launches = 0, warps = 0, threads = 0;
    double seconds = 0;
  };
  std::map<std::string, Row> rows_;
};

}  // namespace ptxopt::emulate
