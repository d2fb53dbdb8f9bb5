// Whether a launch keeps to what the user says of the kernel's launches (ir/kernel_facts.h).
#pragma once

#include <string>
#include <vector>

#include "exec/machine.h"
#include "exec/program.h"

namespace ptxopt::exec {

// The first fact that does not hold, in words; empty: all do.
std::string brokenFact(const Program& program, const LaunchConfig& config);

// While it lives, a write of memory that a parameter leads to is a fault where the facts say that nothing writes there, and how
// many bytes it has. Costs nothing without such facts.
class ReadonlyWatch {
 public:
  ReadonlyWatch(Machine& machine, const Program& program, const LaunchConfig& config);
  ~ReadonlyWatch();
  ReadonlyWatch(const ReadonlyWatch&) = delete;
  ReadonlyWatch& operator=(const ReadonlyWatch&) = delete;

 private:
  using Watch = decltype(Allocation::watch);
  struct Watched {
    Allocation* allocation;
    bool wasWatched;
    Watch watch;  // as it was
  };
  std::vector<Watched> watched_;
};

}  // namespace ptxopt::exec
