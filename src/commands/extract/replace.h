// Modules of a built file, replaced by others.
//
// The fat binary of a replaced module is written anew, with the module compressed as it was. Where it takes more than its
// place, the module is compressed, then its neighbours too. A bare fat binary may grow; of any other file the bytes after the
// fat binary stay where they are, as addresses and offsets lead there, so that it has to fit; what is left over is zeros.
// Declines: a module without the kernels of the old one, or for another architecture.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "container/built_file.h"

namespace ptxopt::extract {

struct Replacement {
  std::size_t module = 0;  // its place in the list
  std::string text;
  std::string file;  // where that comes from, for messages
};

// The file with these modules, by place.
container::OrBroken<std::string> replaced(std::string_view bytes, const std::vector<container::Module>& modules,
                                          const std::vector<Replacement>& replacements);

}  // namespace ptxopt::extract
