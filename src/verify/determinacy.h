// Whether what a module leaves rests on its input alone.
//
// Where it does not, a difference says nothing. Three things can be in the way: quotients by zero, data races, and
// what nothing has written. The interpreter tells them when asked; that it comes to nothing shows when runs with
// other patterns in memory and registers that nobody wrote leave the same. Cost: a launch for each check and
// pattern.
#pragma once

#include <optional>
#include <string>

#include "verify/difference.h"
#include "verify/run.h"

namespace ptxopt::verify {

class Determinacy {
 public:
  static constexpr uint64_t kCheckedStepLimit = 4'000;  // checks cost, and what they find they mostly find soon

  // All must live as long as this.
  Determinacy(const Module& module, exec::Machine& machine, const std::string& kernel, const KernelUse& use)
      : module_(module), machine_(machine), kernel_(kernel), use_(use) {}

  // Where it divides integers by zero, if what it leaves where another differs rests on the results, or nothing.
  std::string dividesByZero(const Trial& trial, const Difference& d, uint64_t stepLimit) const;
  // Why what it leaves where another differs rests on races or on what nothing has written, or nothing.
  std::string undetermined(const Trial& trial, const Difference& d, uint64_t stepLimit) const;
  // Why its result as a whole is not determined, or nothing.
  std::string ownUndetermined(const Trial& trial, uint64_t stepLimit) const;

 private:
  Run run(const Trial& trial, uint64_t stepLimit, Checking checks, std::optional<std::byte> unwritten = {}) const;
  // Whether it leaves the same where the two differ, whatever lies in memory and registers that nothing has
  // written.
  bool isSteady(const Trial& trial, const Difference& d, uint64_t stepLimit) const;

  const Module& module_;
  exec::Machine& machine_;
  const std::string& kernel_;
  const KernelUse& use_;
};

}  // namespace ptxopt::verify
