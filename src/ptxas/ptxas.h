// Calling ptxas.
//
// ptxas is no part of ptxopt and need not be there: who asks it says so when it is not.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "ptxas/verbose.h"

namespace ptxopt {

// The program to call: `given` if that is not empty, else ptxas from PATH, else the one of $CUDA_HOME, $CUDA_PATH
// or /usr/local/cuda. Empty when there is none; a `given` one is not looked at.
std::string findPtxas(const std::string& given = {});

struct PtxasRun {
  std::map<std::string, PtxasCounts, std::less<>> counts;
  std::string version;  // "V13.0.88"
  std::string error;    // why there are none, in words
};

// Compiles the file for an architecture ("sm_90a") and throws the code away.
PtxasRun askPtxas(const std::string& program, const std::string& file, std::string_view architecture,
                  double timeoutSeconds);

}  // namespace ptxopt
