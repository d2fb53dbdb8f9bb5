// What a kernel reads of its parameters, and the values that a launch gives to that.
//
// A part is what loads of parameter space read at once, by name and constant offset; of two that begin at one byte the
// wider. What is read through an address of a parameter is not part.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "profile/profile.h"

namespace ptxopt::profiling {

struct ReadPart {
  uint32_t parameter = 0, offset = 0, bytes = 0;
  uint32_t place = 0;  // in a launch's parameters, bytes
  bool isSigned = false;
  bool mayBeAddress = false;
};

std::vector<ReadPart> readParts(const Module& module, const Function& kernel);

// Whether memory of the program lies at an address.
using IsMemory = std::function<bool(uint64_t)>;
std::vector<ParameterPart> valuesOf(const std::vector<ReadPart>& parts, std::span<const std::byte> parameters,
                                    const IsMemory& isMemory);

// A kernel without launches: its name, digest and parameters.
profile::SeenKernel unseenKernel(const Module& module, const Function& kernel);

}  // namespace ptxopt::profiling
