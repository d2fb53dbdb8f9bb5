// Bodies of one kernel: whether two are the same, and putting one after the other.
#pragma once

#include "ir/module.h"

namespace ptxopt {

// Whether both have the same instructions but for the names of registers and labels, and `.loc`.
bool hasSameBody(const Function& a, const Function& b);

// Puts the instructions of a copy of the kernel, worked on since, at the end of the kernel, after a label that it
// makes. The copy has registers and labels of its own; variables that both have are one, as shared memory must be. What
// stands in scopes is declared again in them. Each way through the kernel before must end in it, which a `ret` sees to.
LabelId appendBody(const Module& module, Function& kernel, const KernelVersion& version);

}  // namespace ptxopt
