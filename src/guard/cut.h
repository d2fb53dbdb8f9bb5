// A text without the code of kernels that nobody asks about: ptxas takes as long as what is left.
//
// The body of such a kernel becomes `{ ret; }`. Its name, parameters and directives stay, so that all that mentions it
// is as it was, and ptxas compiles each function by itself: the figures of the others are the same
// (tests/cli/guard/cut.py shows it).
// Declines: a module that takes the address of a function. ptxas then compiles others otherwise as well: where the kernel
// that reads a table of functions is gone, those in it are no longer called through pointers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ptxopt/ptxopt.h"

namespace ptxopt {

// Kernels that did not change and reach nothing that did, by function; none where an address of a function is taken. Linear in all mentions.
std::vector<bool> unaffectedKernels(const std::vector<FunctionOutcome>& functions);

// How much of the input their bodies are, in bytes.
uint64_t bytesOf(const std::vector<FunctionOutcome>& functions, const std::vector<bool>& which);

// `text`, where these functions have their places, without the bodies of some.
std::string cutText(std::string_view text, const std::vector<FunctionOutcome>& functions,
                    const std::vector<bool>& which);

// Places of functions are those of the text without it.
std::string_view withoutMark(std::string_view text);

}  // namespace ptxopt
