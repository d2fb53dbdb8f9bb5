// A PTX text cut at its functions, so that each can be taken from another text of the same module.
//
// What stands between functions, prototypes included, is the same in every text that passes make of a module; only
// the text of functions with a body differs. A directive is put before the opening brace, where ptxas takes
// it after any others.
// Why a kernel may not get a limit of its registers:
//   has-limit      it has .maxnreg already: somebody chose
//   calls          it calls functions whose registers are not its own: ptxas and nvlink hold these to the limit
//                  too, by spills that do not show in the kernel
//   setmaxnreg     it moves registers between its warps and counts on how many there are
//   not-a-kernel   a device function has the registers of its callers
// Cost: parsing.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/function.h"

namespace ptxopt::tune {

struct FunctionPiece {
  std::string name;
  bool isKernel = false;
  SourceRange source;           // in the text, from the first modifier to the closing brace
  uint32_t brace = 0;           // where the body opens
  std::string_view whyNoLimit;  // empty: it may get one
};

struct Pieces {
  std::string_view text;                 // without a byte order mark; must outlive this
  std::string_view mark;                 // that, or empty
  std::string architecture;              // of .target
  bool isDebug = false;                  // nothing may be changed
  bool kernelsNamed = false;             // sections, variables or aliases may name kernels: none can be left out
  std::vector<FunctionPiece> functions;  // with a body, in order

  std::string_view textOf(const FunctionPiece& piece) const {
    return text.substr(piece.source.begin, piece.source.end - piece.source.begin);
  }
};

// Nothing when the text is not PTX.
std::optional<Pieces> cut(std::string_view text);

// A function's text with `.maxnreg limit`. `brace`: where its body opens in it.
std::string withLimit(std::string_view function, std::size_t brace, uint32_t limit);

// `into` with these texts for its functions, one for each.
std::string compose(const Pieces& into, std::span<const std::string_view> functions);

}  // namespace ptxopt::tune
