// Whether what a module leaves rests on its input alone.
//
// Where it does not, a difference says nothing. Three things can be in the way: quotients by zero that come to
// something, data races in shared and global memory, and what nothing has written. The interpreter reports them when
// asked; that a read of the last comes to nothing shows when runs with other patterns in memory and registers that
// nobody wrote leave the same. Threads that store the same value in one place of global memory do not race: the
// order makes no difference. Cost: a launch for each check and pattern.
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

  // Where the result of an integer division by zero comes to an address, to memory or to a branch, or nothing.
  std::string dividesByZero(const Trial& trial, uint64_t stepLimit) const;
  struct Reason {
    std::string text;  // empty: none
    bool isRace = false;
  };
  // Why what it leaves where another differs rests on races or on what nothing has written.
  Reason undetermined(const Trial& trial, const Difference& d, uint64_t stepLimit) const;
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
