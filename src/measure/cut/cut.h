// A text without the code of kernels that nobody asks about: ptxas takes as long as what is left.
//
// Nothing mentions such a kernel, and ptxas compiles each function by itself: the figures of the others are the same
// (tests/cli/guard/cut.py shows it). An empty kernel would take it 0.15 ms: of a file of some kernels that is a
// part that counts of what a try costs.
// Declines: a module that takes the address of a function. ptxas then compiles others otherwise as well: where the kernel
// that reads a table of functions is gone, those in it are no longer called through pointers. Nor are kernels left out that
// reach a function of another file: for their sake ptxas takes the whole as relocatable code, and compiles the others so too.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cut/closure.h"
#include "ptxopt/ptxopt.h"
#include "support/bit_vector.h"

namespace ptxopt::cut {

// Kernels that may be left out, by function. Linear in all mentions, as the next one.
BitVector cuttableKernels(const std::vector<FunctionOutcome>& functions);
// Those of them that did not change and reach nothing that did.
BitVector unaffectedKernels(const std::vector<FunctionOutcome>& functions);

// How much of the text they are, in bytes.
uint64_t bytesOf(const std::vector<FunctionOutcome>& functions, const BitVector& which);

// `text`, where these functions have their places, without some.
std::string cutText(std::string_view text, const std::vector<FunctionOutcome>& functions, const BitVector& which);

// Why no function can stand alone; empty where each can.
std::string whyWhole(std::string_view text, const std::vector<FunctionOutcome>& functions);
// The function with all that it reaches, and all variables. kNone: the variables alone.
std::string alone(std::string_view text, const std::vector<FunctionOutcome>& functions, const CallGraph& calls,
                  uint32_t function);

// A kernel that calls nothing, with another name at its end, so that it may stand beside itself. Empty where its name is not
// found.
std::string renamedKernel(std::string_view text, const FunctionOutcome& kernel, std::string_view name);

// Places of functions are those of the text without it.
std::string_view withoutMark(std::string_view text);

}  // namespace ptxopt::cut
