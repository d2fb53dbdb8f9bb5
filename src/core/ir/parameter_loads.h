// Loads of parameters.
#pragma once

#include <cstddef>
#include <optional>

#include "ir/module.h"

namespace ptxopt {

// The parameter that a load gives whole, by its place in Function::parameters, as a number of its own type's size;
// none for other instructions, parts, vectors, offsets, and where the name may mean something else.
std::optional<std::size_t> wholeParameter(const Module& module, const Function& f, const Instruction& load);

// The bytes of a kernel's parameter that a load gives; none as above, but for parts and offsets.
struct LoadedPart {
  std::size_t parameter = 0;
  uint32_t offset = 0, bytes = 0;
};
std::optional<LoadedPart> loadedPart(const Module& module, const Function& f, const Instruction& load);

}  // namespace ptxopt
