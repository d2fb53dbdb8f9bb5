// A module to PTX text.
#pragma once

#include <string>
#include <vector>

#include "ir/module.h"

namespace ptxopt::text {

struct PrintOptions {
  // Print everything from the IR, one instruction a line, instead of keeping the source's text where nothing
  // changed.
  bool reprint = false;
  // Gets the bytes that each function's text takes, by Module::functions.
  std::vector<std::size_t>* functionBytes = nullptr;
};

// Without `reprint`: functions that no pass changed, and everything between functions, come out byte for byte; in a
// changed function instructions that did not change keep their text, and comments stay where they are.
std::string print(const Module& module, const PrintOptions& options = {});

// A function with a body as `--reprint` has it.
std::string printFunction(const Module& module, const Function& function);

// One instruction as `--reprint` has it, without indentation or line end.
std::string printInstruction(const Module& module, const Function& function, const Instruction& instruction);

}  // namespace ptxopt::text
