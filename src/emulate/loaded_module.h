// A module of the program: the PTX of one fat binary, read when something of it is first used, and what ptxopt makes of it.
#pragma once

#include <memory>
#include <span>
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
  bool couldNotOptimize = false;

  // What runs where nothing is compared.
  LoadedVersion& running() { return optimized != nullptr ? *optimized : plain; }
};

// The newest architecture that the container, or one that it was linked from, has PTX for; 0: for none.
unsigned newestPtx(const void* container, std::span<const void* const> linked);
// The PTX of a container for a device: the newest that it takes. Of relocatable code the PTX of the files that it was
// linked from, linked (link/link.h); files without PTX have no part in it. Throws Failure where there is none.
std::string ptxOf(const void* container, std::span<const void* const> linked, unsigned architecture);

// PTX texts as one. Throws Failure(InvalidPtx).
std::string linkedText(std::span<const std::string> texts);

// Loads a PTX text. Throws Failure(InvalidPtx). What is wrong with optimizing it is said on standard error, and the text
// runs as it is.
std::unique_ptr<LoadedModule> loadModule(std::string text, unsigned number, Memory& memory,
                                         const Settings& settings);

// Prepared for people: FILE:LINE:COLUMN: error, the line, a caret, the kernel and the thread.
std::string describe(const exec::ExecError& error, const LoadedVersion& version);

}  // namespace ptxopt::emulate
