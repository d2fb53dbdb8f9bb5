// Where the real ptxas is.
//
// ptxas is no part of ptxopt and need not be there: who needs it says so when it is not.
#pragma once

#include <string>

namespace ptxopt {

// `given` if that is not empty (it is not looked at), else $PTXOPT_PTXAS or $PTXAS, else that of $CUDA_HOME or
// $CUDA_PATH, else the first in PATH, else that of /usr/local/cuda. Empty when there is none.
// Never a program of ours, by whatever name or link it is found; `$PTXOPT_PTXAS=none` says that there is none.
std::string findPtxas(const std::string& given = {});

// Whether the file is this program, or ptxopt or ptxopt-ptxas elsewhere.
bool isThisProgram(const std::string& path);

}  // namespace ptxopt
