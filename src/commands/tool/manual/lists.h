// Tables for a person to read: what there is, and what was done.
#pragma once

#include <string>

#include "ptxopt/ptxopt.h"

namespace ptxopt::tool {

std::string listPasses();
// The steps of the highest level, in order.
std::string listPipeline();
std::string listKnobs(bool isForTests);
std::string listOpcodes();
std::string statistics(const Result& result);
// Times of the whole program, and of runs of ptxas, which are processes of their own.
struct TimesOfAll {
  double cpuSeconds = 0, wallSeconds = 0;
  double guardCpuSeconds = 0, guardWallSeconds = 0;
  unsigned ptxasRuns = 0;
  double ptxasCpuSeconds = 0, ptxasWallSeconds = 0;
};
std::string timeReport(const Result& result, const TimesOfAll& times);

}  // namespace ptxopt::tool
