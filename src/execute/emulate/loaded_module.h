// A module of the program: the PTX of one fat binary, read when something of it is first used, and what ptxopt makes of it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "emulate/memory.h"
#include "emulate/settings.h"
#include "exec/machine.h"
#include "ir/module.h"

namespace ptxopt::emulate {

// A version of it, ready to run.
struct LoadedVersion {
  std::string fileName, text;
  std::unique_ptr<Module> module;
  std::unique_ptr<exec::Machine> machine;
};

struct LoadedModule {
  unsigned number = 0;
  LoadedVersion plain;
  std::unique_ptr<LoadedVersion> optimized;  // where it was asked for, and changed anything
  // Whether optimizing it was asked for and failed.
  bool couldNotOptimize = false, couldNotKeep = false;

  // What runs where nothing is compared.
  LoadedVersion& running() { return optimized != nullptr ? *optimized : plain; }
};

// Loads a PTX text. Throws Failure(InvalidPtx). What is wrong with optimizing it is said on standard error, and the text
// runs as it is.
std::unique_ptr<LoadedModule> loadModule(std::string text, unsigned number, Memory& memory,
                                         const Settings& settings);

// Prepared for people: FILE:LINE:COLUMN: error, the line, a caret, the kernel and the thread.
std::string describe(const exec::ExecError& error, const LoadedVersion& version);

}  // namespace ptxopt::emulate
