// A module to PTX text.
#pragma once

#include <string>
#include <vector>

#include "ir/module.h"

namespace ptxopt::text {

// Where a function stands in the text that was printed: from its first modifier, from its opening brace, and to after the
// closing one. One without a body is all before it.
struct FunctionPlace {
  std::size_t begin = 0, body = 0, end = 0;
};

struct PrintOptions {
  // Print everything from the IR, one instruction a line, instead of keeping the source's text where nothing
  // changed.
  bool reprint = false;
  // Gets the place of each function, by Module::functions.
  std::vector<FunctionPlace>* places = nullptr;
  // Threads that print the bodies of a large module; 0: one a core.
  unsigned jobs = 1;
};

// Without `reprint`: functions that no pass changed, and everything between functions, come out byte for byte; in a
// changed function instructions that did not change keep their text, and comments stay where they are.
std::string print(const Module& module, const PrintOptions& options = {});

// A function with a body as `--reprint` has it.
std::string printFunction(const Module& module, const Function& function);

// One instruction as `--reprint` has it, without indentation or line end.
std::string printInstruction(const Module& module, const Function& function, const Instruction& instruction);

}  // namespace ptxopt::text
