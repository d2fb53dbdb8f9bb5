// Running a pipeline on a module.
//
// Functions are worked on at the same time, each through all the function passes that stand between two module passes; a
// module pass that has nothing to do in the module divides nothing. Reports come out in the order of the steps.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <vector>

#include "analysis/manager/module_analyses.h"
#include "api/decline_requests.h"
#include "api/report.h"
#include "ir/module.h"
#include "passes/manager/pipeline.h"
#include "ptxopt/ptxopt.h"

namespace ptxopt {

// What is to run, and how.
struct Plan {
  std::vector<Step> steps;
  Knobs knobs;
  std::map<std::string, Knobs> knobsIn;  // by function, of those that have their own
  DeclineRequests declines;
  std::string error;  // of the user, in words; empty: none
};

class PipelineRun {
 public:
  // All must live as long as this. `mayChange` says which functions passes may work on.
  PipelineRun(Module& module, const Plan& plan, const Options& options,
              std::function<bool(const Function&)> mayChange);

  // `before` and `after` are called for each function with a body, by the thread that works on it, before the first step and
  // after the last. `reports` is by Function::index; what goes wrong inside ptxopt is in FunctionReport::error.
  using Visit = std::function<void(Function&, Analyses&, FunctionReport&)>;
  void run(std::vector<FunctionReport>& reports, const Visit& before, const Visit& after);

 private:
  // What the steps of one function need to know of those before.
  struct Progress {
    std::size_t changes = 0;                        // passes that changed the function so far
    std::map<const PassInfo*, std::size_t> doneAt;  // of idempotent ones: `changes` after the last run
    bool changedCode = false;  // whether a step may have: none of those that only tidy, or say that they did not
  };

  // The steps up to the next module pass that has work.
  std::span<const Step> nextSegment(std::span<const Step> left) const;
  bool divides(const Step& step) const;
  void runSteps(std::span<const Step> steps, Function& f, Analyses& analyses, Progress& progress,
                FunctionReport& report) const;
  void runVersion(std::span<const Step> steps, std::size_t version, Progress& progress);
  // Whether the function is as it should be after the step.
  bool runStep(const Step& step, Function& f, Analyses& analyses, Progress& progress, FunctionReport& report) const;
  void runModulePass(const Step& step, std::vector<Progress>& progress, std::vector<FunctionReport>& reports);
  bool finish(const Step& step, const Function& f, std::string error, FunctionReport& report) const;
  std::string check(const Function& f, const Analyses& analyses) const;
  std::string checkFunction(const Function& f) const;
  void dump(std::string_view when, const Step& step, const Function& f, FunctionReport& report) const;
  const Knobs& knobsOf(const Function& f) const;
  // Whether the function's own options skip the step.
  bool isSkippedIn(const Step& step, const Function& f) const;
  static bool isDone(const Step& step, const Progress& progress);
  static void note(const Step& step, const PassReport& report, Progress& progress);
  bool keepsText(const Progress& progress) const;
  bool hasManyIterations(const Function& f) const;
  // For versions of kernels (Module::versions): they go through the function passes like functions, and what was done
  // in those that were joined is reported for their kernels.
  void reportVersions(std::vector<FunctionReport>& reports);

  Module& module_;
  const Plan& plan_;
  const Options& options_;
  const std::function<bool(const Function&)> mayChange_;
  ModuleAnalyses analyses_;
  std::vector<FunctionReport> versions_;  // reports, by Module::versions
  unsigned threads_;
};

}  // namespace ptxopt
