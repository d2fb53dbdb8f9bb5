// nvcc with the drop-in ptxas instead of ptxas.
//
// nvcc's own plan (--dryrun) says whether it is going to call ptxas at all. If so, the same nvcc is called in a
// toolkit in which ptxas is us (nvcc_toolkit.h), after its plan there was found to be the same but for the folders:
// all that nvcc does, with its temporary names, threads, streams and exit code, stays its own. Where the plan is
// another, or there is none, plain nvcc is called; the first with a warning. Not optimized: link-time optimization
// (-dlto), whose code never is PTX before the linker, with a remark; PTX that is embedded or asked for (-ptx),
// which is nvcc's own; debug code and -O0 of ptxas, by the drop-in ptxas.
#pragma once

#include <string>
#include <vector>

namespace ptxopt::wrapper {

// The nvcc to call: $PTXOPT_NVCC, otherwise the first in PATH, as without us, otherwise that of $CUDA_HOME, of
// $CUDA_PATH, of /usr/local/cuda. Empty: there is none. Never this program, nor a script that called it. `passedOver`
// gets what is wrong with a variable of a toolkit that was looked at.
std::string findNvcc(std::vector<std::string>& passedOver);
bool isNvcc(const std::string& argument);

// Does not return unless nvcc cannot be started: then the reason. `dropIn`: the drop-in ptxas, which may be this
// program.
std::string runNvcc(const std::string& program, const std::vector<std::string>& arguments,
                    const std::string& dropIn);

}  // namespace ptxopt::wrapper
