// What kind of program a file is, as far as the emulation cares: how it comes to the CUDA runtime.
#pragma once

#include <string>
#include <vector>

namespace ptxopt::emulate {

struct ProgramFile {
  bool isElf = false;
  bool hasKernels = false;             // a fat binary lies in it
  std::vector<std::string> libraries;  // that the dynamic linker loads for it

  // The runtime is a part of the program itself, where nothing can be put in its place.
  bool isStatic() const;
};

// What cannot be read is not ELF.
ProgramFile readProgramFile(const std::string& path);

// Where a shell would find the program; empty where it would not.
std::string findProgram(const std::string& name);

}  // namespace ptxopt::emulate
