// What the passes did, collected for Result and for the JSON report.
#pragma once

#include <string>
#include <vector>

#include "passes/manager/pass.h"
#include "ptxopt/ptxopt.h"

namespace ptxopt {

struct FunctionReport {
  std::vector<PassReport> passes;
  uint64_t instructions = 0, instructionsAfter = 0;
  uint64_t names = 0, namesAfter = 0;  // registers that instructions mention
  uint64_t bytes = 0, bytesAfter = 0;  // of its text
  std::string dumps;
  std::string error;                  // a bug of ours
  double analysisSeconds = 0;         // CPU time in which analyses were made, if Options::times
  bool uninitialisedUnknown = false;  // looking for uninitialised registers would have taken too much memory
};

// Whether the passes neither did anything nor have anything to tell: such functions, possibly very
// many, need not keep their reports once these are added up.
bool isQuiet(const FunctionReport& report);
void addUp(const std::vector<PassReport>& passes, std::vector<PassSummary>& sums);

// Fills the sums, the dumps and the declines (as remarks) of `result`, whose sums are those of reports not kept.
// `reports` is by Module::functions.
void summarize(const Module& module, const Options& options, std::vector<FunctionReport>& reports, Result& result);

std::string reportJson(const Module& module, const Options& options, const std::vector<FunctionReport>& reports,
                       const Result& result);

}  // namespace ptxopt
