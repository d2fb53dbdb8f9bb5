// Running a recorded launch again, in the interpreter: memory as it was, at the addresses where it was.
//
// Another text may take the place of the module's: an optimized one. What a launch leaves is compared with what was recorded,
// or with what another text leaves.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "exec/machine.h"
#include "ir/module.h"
#include "record/archive.h"

namespace ptxopt::record {

struct ReplayOptions {
  unsigned jobs = 1;  // sums of floating-point atomics depend on the order of blocks
  uint64_t stepLimit = UINT64_MAX;
  // Runs it instead of Machine::launch; then loops are counted.
  std::function<void(exec::Machine&, const std::string& kernel, exec::LaunchConfig&)> launch = {};
};

// What memory held when the launch had ended, in the order of RecordedLaunch::memory; and what was printed.
struct Replayed {
  std::vector<std::string> memory;
  std::string printed;
};

// Throws RecordError where it cannot be run, exec::ExecError where the kernel fails. `ptx`: a parsed text.
Replayed replay(const Archive& archive, const RecordedLaunch& launch, const Module& ptx,
                const ReplayOptions& options = {});

// Where two sides differ first: "byte 12 of 'device memory' of 4096 bytes at 0x...: 0x01 instead of 0x00; 8 bytes differ".
std::optional<std::string> firstDifference(const RecordedLaunch& launch, const std::vector<std::string>& expected,
                                           const std::vector<std::string>& got);
// What was recorded of its end, in the same order; none where it was not, since the launch failed.
std::optional<std::vector<std::string>> recordedResult(const Archive& archive, const RecordedLaunch& launch);

}  // namespace ptxopt::record
