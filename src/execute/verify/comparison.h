// One kernel of two modules, launched on the same inputs.
//
// A launch of the first module on which it faults says nothing. What is spent is counted in instructions, not in
// time, so that verdicts do not depend on the computer.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "verify/coverage.h"
#include "verify/determinacy.h"
#include "verify/results.h"
#include "verify/verify.h"

namespace ptxopt::verify {

class Comparison {
 public:
  // All must live as long as this. The kernel is one of `a`.
  Comparison(const Module& a, const Module& b, const Function& kernel, const VerifyOptions& options);

  // Why there is nothing to compare, or nothing. To be called first.
  std::string prepare();

  const KernelUse& use() const { return use_; }
  const ShapeLimits& limits() const { return limits_; }
  const Determinacy& own() const { return *own_; }  // of the first module
  uint64_t work() const { return work_; }           // as VerifyOptions::work counts it

  struct Outcome {
    std::optional<Difference> difference;
    std::string dropped;  // why the trial says nothing; empty: it does
    std::string reason;   // the same in a word or two
    bool isTooLong = false, isUnsupported = false;
    bool isOfSecond = false;  // dropped: the first runs, the second has what the interpreter does not support
  };
  // Runs a trial on both. `observes`: notes what is executed, and what computes something else.
  Outcome compare(const Trial& trial, uint64_t stepLimit, bool observes);
  // A data race in the second where the first has none.
  std::optional<Difference> compareRaces(const Trial& trial);
  // Whether the first module ends soon and neither races nor reads what nothing has written.
  bool isDetermined(const Trial& trial);
  // The common blocks among `blocks` with which the first module fails at nothing and its result is determined, a
  // few: threads that share memory mostly rely on the size of the block. `trialOf` gives a trial for a block.
  std::vector<exec::Dim3> determinedBlocks(const std::vector<exec::Dim3>& blocks,
                                           const std::function<Trial(const exec::Dim3&, unsigned)>& trialOf);

  // The threads that wrote the byte that differs last, in both modules; none where that is not known.
  using Writers = std::pair<std::optional<TrialMemory::Writer>, std::optional<TrialMemory::Writer>>;
  std::optional<Writers> writersOf(const Trial& trial, const Difference& d, uint64_t stepLimit);

  const Coverage& coverage() const { return coverage_; }
  const std::set<std::size_t>& changed() const { return changed_; }  // KernelVerdict::changed

 private:
  void count(const exec::Machine& machine, const Trial& trial, unsigned cost = 1);
  void noteChanges(const Results& a, const Results& b);

  const Module& a_;
  const Module& b_;
  const Function& kernel_;
  const VerifyOptions& options_;
  const std::string name_;
  const ShapeLimits limits_;
  KernelUse use_;
  std::unique_ptr<exec::Machine> machineA_, machineB_;
  std::optional<Determinacy> own_;
  uint64_t work_ = 0;
  Coverage coverage_{a_};
  std::set<std::size_t> changed_;
};

}  // namespace ptxopt::verify
