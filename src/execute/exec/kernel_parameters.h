// What a kernel takes, and where: without decoding it.
#pragma once

#include <vector>

#include "exec/program.h"

namespace ptxopt::exec {

// In the order of the kernel, laid out as a launch passes them. Throws ExecError.
std::vector<KernelParameter> kernelParameters(const Module& module, const Function& kernel);

}  // namespace ptxopt::exec
