// $PTXOPT_OPTIONS: the options of the drop-in ptxas, whose own arguments are those of ptxas.
#pragma once

#include "wrapper/optimize_input.h"

namespace ptxopt::tool {

// Split like a shell does. A mistake is noted in the result and not fatal.
wrapper::WrapperOptions readWrapperOptions();

// What the variable may hold, for the manual.
extern const char* const kWrapperOptionsHelp;

}  // namespace ptxopt::tool
