// Where the functions of a PTX text are: names, lines and bytes, without parsing it.
//
// Comments and strings are passed over. What is not PTX gives some answer, or none. Linear.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ptxopt::ptxas {

struct FunctionPlace {
  std::string name;
  bool isKernel = false;
  uint32_t firstLine = 0, lastLine = 0;  // from 1
  std::string text;                      // from its directive to its last brace, without comments
};

// For functions with a body, in their order.
std::vector<FunctionPlace> functionPlaces(std::string_view ptx);

// Whether an opcode that begins with this word stands in it: "wgmma" for "wgmma.fence.sync.aligned".
bool mentions(const FunctionPlace& function, std::string_view word);

}  // namespace ptxopt::ptxas
