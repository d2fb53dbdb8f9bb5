// What the initializers of variables name: functions and constant variables whose addresses memory holds at the launch.
// Cost: linear in the text of initializers.
#pragma once

#include <string_view>
#include <unordered_set>
#include <vector>

#include "ir/module.h"

namespace ptxopt {

// As indexes of Module::functions, in the order of the text; one that is named twice is there twice.
std::vector<uint32_t> functionsInInitializers(const Module& module);
// The names of variables whose initializers name anything: their memory may hold addresses at the launch.
std::unordered_set<std::string_view> variablesWithAddresses(const Module& module);
// Whether one may have the generic address of a constant variable: `generic(c)`.
bool initializersPointToConstants(const Module& module);

}  // namespace ptxopt
