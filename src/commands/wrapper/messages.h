// Making the messages of ptxas about optimized PTX read as those about the PTX that was given.
//
// ptxas names its input in two ways: `ptxas FILE, line N; warning : ...` of what it finds when it reads the text,
// and the bare name. The first kind has lines of the optimized text; asked for a virtual architecture, ptxas reads
// the original, says all that it has to say of it, and makes no code: those lines take the place of these. That
// needs a second, short run, only when there is such a line. Where ptxas refuses that, the lines keep their
// numbers.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ptxopt::wrapper {

struct RenamedInput {
  std::string optimized;  // the temporary file that ptxas got
  std::string copied;     // the one that it gets for the original
  std::string original;   // as the user calls it
};

// `text`: what was written to one stream. `readOriginal`: what ptxas writes to that stream when it only reads the
// original; nothing where that failed.
std::string asOfOriginal(std::string_view text, const std::vector<RenamedInput>& inputs,
                         const std::function<std::string()>& readOriginal);

// The names of temporary files become those of the user.
std::string withNames(std::string text, const std::vector<RenamedInput>& inputs);

}  // namespace ptxopt::wrapper
