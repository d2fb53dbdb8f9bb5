// Functions whose addresses variables hold: those that an initializer names. Cost: linear in the text of initializers.
#pragma once

#include <vector>

#include "ir/module.h"

namespace ptxopt {

// As indexes of Module::functions, in the order of the text; one that is named twice is there twice.
std::vector<uint32_t> functionsInInitializers(const Module& module);

}  // namespace ptxopt
