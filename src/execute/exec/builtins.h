// Functions that CUDA's runtime provides and PTX only declares: vprintf, malloc, free, __assertfail.
//
// Their handlers are run as plain ops whose data is the CallSite.
#pragma once

#include <string_view>

#include "exec/op.h"

namespace ptxopt::exec {

// nullptr when there is no such function.
Handler findBuiltin(std::string_view name);

}  // namespace ptxopt::exec
