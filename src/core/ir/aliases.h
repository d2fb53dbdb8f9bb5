// Which function a call runs: `.alias other, one;` makes a call of `other`, and its address, those of `one`. ptxas wants
// both declared before, and `one` may be an alias in turn.
//
// A module has a symbol of kind Alias for both names of an alias, apart from those of their functions. Its index is the
// NameId of the function that the name stands for, or its own where it only has an alias.
// Cost: linear in the symbols; of aliases of aliases, in their depth.
#pragma once

#include <vector>

#include "ir/module.h"

namespace ptxopt {

// By the index of a function in Module::functions that of what a call of it runs.
std::vector<uint32_t> findCalledFunctions(const Module& module);

}  // namespace ptxopt
