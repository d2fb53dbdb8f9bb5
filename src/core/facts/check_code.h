// Code that checks facts on a device.
#pragma once

#include <string>

#include "ir/module.h"

namespace ptxopt::facts {

// The module's text with code at the beginning of each kernel that has facts: a thread for which one does not hold calls
// __assertfail, so that the launch ends as one with a false assert() does, and the fact is printed with the thread, the block
// and the kernel. Comments say no facts any more: who reads them could take the checks for true. Without facts the text as it
// is. Throws std::invalid_argument where addresses have 32 bits, or the module means something else by __assertfail.
std::string withFactChecks(const Module& module);

}  // namespace ptxopt::facts
