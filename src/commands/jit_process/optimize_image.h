// What a program hands to the driver, optimized: a PTX text, or the PTX of a fat binary that the driver would compile.
//
// The result is kept in the user's cache by all that it depends on, also that there was none. Where it takes longer
// than the program waits, that is kept meanwhile: the next run, whose wait would be as long, does not wait, and what is
// made here is there for the one after. A text is optimized for the device, unless its own target is one that only this
// device has (sm_90a).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wrapper/optimize_input.h"

namespace ptxopt::jit_process {

struct ImageRequest {
  bool isFatBinary = false;
  std::vector<unsigned> devices;  // the architectures that may run it; none: not known
  bool isLinked = false;          // an input of the linker
  unsigned mostRegisters = 0;     // 0: not said
  bool isCompared = false;        // kernels that change are to be there as they were, too
  std::string differs;            // no image: what was said of one whose launches differed
  double budget = 0;              // how many seconds are waited for the result
};

struct ImageAnswer {
  bool isOptimized = false;
  std::string image;  // of isOptimized
  unsigned kernels = 0, changed = 0;
  bool isFromCache = false;
  std::string
      ofAnyBlock;  // kernels that changed and say nothing of the threads of their blocks, with blanks between them
  std::string originals;  // of isCompared: what there is of them (protocol.h)
  std::string why;        // not optimized, or what was kept, in a line
};

// What the cache knows.
struct KnownAnswer {
  std::string key;
  std::optional<ImageAnswer> answer;
  bool isLate = false;  // an earlier run waited as long as this one would, in vain
};
// `settings`: all else that the result depends on.
KnownAnswer findAnswer(std::string_view image, const ImageRequest& request, const wrapper::WrapperOptions& options,
                       const std::string& settings);

// What stands for an image where it is said that launches of what was made of it differ.
std::string keysOf(std::string_view image, ImageRequest request, const wrapper::WrapperOptions& options,
                   const std::string& settings);
// They do, of this kernel: the image is used as it is from now on.
void noteDifference(const std::string& keys, std::string_view kernel);

// Makes the result, and keeps it under that key.
ImageAnswer optimizeImage(std::string_view image, const ImageRequest& request,
                          const wrapper::WrapperOptions& options, const std::string& key);

}  // namespace ptxopt::jit_process
