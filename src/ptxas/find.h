// Where the real ptxas is.
//
// ptxas is no part of ptxopt and need not be there: who needs it says so when it is not.
#pragma once

#include <string>
#include <vector>

namespace ptxopt {

// `given` if that is not empty (it is not looked at), else $PTXOPT_PTXAS or $PTXAS, else that of $CUDA_HOME or
// $CUDA_PATH, else the first in PATH, else that of /usr/local/cuda. Empty when there is none.
// Never a program of ours, by whatever name or link it is found; `$PTXOPT_PTXAS=none` says that there is none.
// `passedOver` gets a line for each variable that names no program, with its value, what is wrong with it, and what
// is taken instead. One that names a program of ours is right: whoever sets it wants us to be called.
std::string findPtxas(const std::string& given = {}, std::vector<std::string>* passedOver = nullptr);

// Of a variable that names a program: what is wrong, "PTXAS is '/a': there is no such file"; empty where nothing is.
// A name without a slash is looked for in PATH.
std::string whyNoProgram(const char* variable, const std::string& value);
// The same of one that names the folder of a toolkit, of which bin/NAME is wanted.
std::string whyNoToolkit(const char* variable, const std::string& folder, const char* name);

// Whether the file is this program, or ptxopt or ptxopt-ptxas elsewhere.
bool isThisProgram(const std::string& path);

}  // namespace ptxopt
