// What the parameters and results of functions hold as addresses, over all functions of a module.
//
// Kernels:    their parameters are pointers to global memory, or numbers, if `paramsAreGlobal` says so or `.ptr
//             .global` stands there; not of a kernel that the module mentions as a value, since device code may
//             launch it.
// Functions:  a parameter is what all calls of the module pass, provided that no other calls can be: the
//             function is neither .visible nor .weak, .extern or .common, nothing takes its address (an operand
//             other than the callee of a call, a list of targets, an initialiser, an alias). A result is what
//             the function's own stores into it put there, unless it is .weak.
// Algorithm:  all start as None; functions that call or are called with such values are looked at
//             (address_spaces.h) until nothing rises. Only modules with such functions pay for that.
// Declines:   beyond kMostInstructions in such functions, or kMostIterations, all parameters and results of
//             functions are Unknown.
// Cost:       linear in the operands of the module; plus AddressSpaces of those functions for each iteration,
//             mostly two.
#pragma once

#include <vector>

#include "ir/address_state.h"
#include "ir/module.h"

namespace ptxopt {

// Facts about one function: what its parameters and results hold, in their order. A kernel has parameters only.
struct AddressFacts {
  std::vector<AddressState> parameters, returns;
};

// Facts about all functions, by Function::index.
struct ModuleAddressFacts {
  std::vector<AddressFacts> functions;
  // The module makes generic addresses of constant memory: by `generic(c)` in an initializer, or by cvta.const.
  bool pointsToConstants = false;
};

// For the module before passes change any function. What holds then holds after passes, too, since they keep what
// functions do.
ModuleAddressFacts makeAddressFacts(const Module& module, bool paramsAreGlobal);

}  // namespace ptxopt
