// Instructions that mean one thing by the PTX ISA and another to some ptxas, so that what a kernel does on a GPU may differ from
// what the interpreter does, which follows the ISA.
//
// - a store narrower than its register, of what may be a floating-point number (ir/stored_numbers.h);
// - bfe and bfi of 64 bits with a position or length that is a literal above 255: the ISA takes its lowest byte, ptxas all
//   of it. One in a register is not looked for.
// Cost: linear in the kernel and in the functions that it names, directly or not.
#pragma once

#include <string>
#include <vector>

#include "ir/module.h"

namespace ptxopt::verify {

// A line for the first of each kind in the kernel and in each of these functions.
std::vector<std::string> ptxasDependences(const Module& module, const Function& kernel);

}  // namespace ptxopt::verify
