// The dot components of mma, wmma and wgmma, sorted by what they are.
//
// PTX orders them differently from instruction to instruction, and ptxas takes some of them in several places, so
// they are gathered first and checked by the caller. Components that mean nothing to the arithmetic (sync,
// aligned, the names of operations and state spaces) are kept as plain words.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "exec/matrix/fragment.h"
#include "exec/matrix/product.h"

namespace ptxopt::exec::matrix {

struct Components {
  unsigned m = 0, n = 0, k = 0;  // 0: there was no shape
  std::vector<Layout> layouts;   // in the order of the text
  std::vector<Element> types;
  std::vector<std::string_view> words;  // what is none of the others
  bool satfinite = false;
  bool popc = false;
  bool kindF8f6f4 = false;
  std::optional<BitOperation> bitOperation;
  std::optional<Rounding> rounding;

  bool has(std::string_view word) const;
};

// Nothing when one of them is given twice that may be given once.
std::optional<Components> sortComponents(std::span<const std::string_view> components);

}  // namespace ptxopt::exec::matrix
