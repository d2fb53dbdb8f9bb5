// One module's side of a trial: a launch in its machine, on the trial's inputs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "exec/machine.h"
#include "verify/input.h"

namespace ptxopt::verify {

struct Run {
  std::optional<exec::ExecError> fault;
  std::string printed;
  std::unique_ptr<TrialMemory> memory;
};

struct Checking {
  bool races = false, globalRaces = false, uninitialised = false, divisions = false;
};

// What memory holds that a launch gives and nobody has written: of odd trials something else than zeros.
inline constexpr std::byte kUnwritten{0xA5};

struct RunOptions {
  Checking checks;
  std::optional<std::pair<std::size_t, int64_t>> watch;  // a byte whose last writer is wanted: field and offset
  exec::Observer* observer = nullptr;
  std::optional<std::byte> unwritten;  // what lies where nothing was written, instead of what the trial says
  const TrialMemory* known = nullptr;  // of another run of this trial
};

// The machine is reset first; what the run wrote stays until the Run goes.
Run runTrial(exec::Machine& machine, const std::string& kernel, const KernelUse& use, const Trial& trial,
             uint64_t stepLimit, const RunOptions& options = {});

// A fault in words, with its place.
std::string describe(const Module& m, const exec::ExecError& e);

}  // namespace ptxopt::verify
