// The device code of a built file as files: PTX and cubins.
//
// A module is one file, NAME.NUMBER.sm_XX.ptx or .cubin, where NAME is the file, or of an archive the member, and NUMBER its fat
// binary in the file, from 1: PTX and machine code of one source have one number. A kernel of PTX alone is the module without
// the functions that the kernel does not reach; variables stay.
// Declines: cutting a kernel out of machine code, and out of PTX that takes the address of a function, has an alias or debug
// sections; the module is then written whole, and says why. Cost: that of reading the modules, one at a time.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "container/built_file.h"

namespace ptxopt::extract {

// What a module has, once its contents were read.
struct Contents {
  std::string text;
  std::string architecture;          // "sm_90a"
  std::vector<std::string> kernels;  // as mangled, in the order of the file
  std::string error;                 // why there are no kernels, or no text
};
Contents readModule(const container::Module& module);

// What a module is called as a file, among those of the same built file. `taken` has the names before.
std::string fileNameOf(const container::Module& module, const std::string& architecture, std::string_view file,
                       std::vector<std::string>& taken);

// Whether people may call the kernel so: mangled, demangled, or without parameters.
bool isCalled(const std::string& kernel, const std::string& name);

struct Piece {
  std::string kernel;  // empty: the whole module
  std::string suffix;  // of the file's name, before the architecture: ".KERNEL"
  std::string text;
  std::string whole;  // why it has more than the kernel and what that reaches; empty: it has not
};
// The kernels each by itself. For machine code, the whole module.
std::vector<Piece> split(const container::Module& module, const Contents& contents,
                         const std::vector<std::string>& kernels);

}  // namespace ptxopt::extract
