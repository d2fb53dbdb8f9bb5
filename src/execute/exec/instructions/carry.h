// Binders for the forms of add, sub and mad that write the carry flag: see carry.cpp.
#pragma once

#include "exec/binder.h"

namespace ptxopt::exec {

void bindAddWithCarryOut(Binder& b);
void bindSubWithCarryOut(Binder& b);
void bindMadWithCarryOut(Binder& b);

}  // namespace ptxopt::exec
