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
std::string timeReport(const Result& result, double totalSeconds);

}  // namespace ptxopt::tool
