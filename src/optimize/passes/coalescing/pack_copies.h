// The copies that packing and unpacking make together.
//
//   mov.b64 d, {x, y};  ...  mov.b64 {a, b}, d;     a copies x, b copies y             (Unpack)
//   mov.b64 {a, b}, d;  ...  mov.b64 e, {a, b};     e copies d                         (Pack)
//
// Algorithm: the roots of values (copy_values.h) tell that what is unpacked is what was packed, also where it was
// copied in between; what is found so makes more values equal, so again until nothing is found.
// Only whole 32-bit lanes: of packed 16-bit halves ptxas makes other code than of the registers they came from (it
// picks halves by the instruction in one case and by a permutation in the other). Guarded packs and unpacks are
// none. Cost: linear in the function and the live ranges of the registers that copies, packs and unpacks mention,
// for each of at most kMostIterations iterations.
#pragma once

#include "passes/coalescing/coalescer.h"

namespace ptxopt {

struct PackCopies {
  std::vector<Copy> copies;      // those of one instruction stand together
  std::size_t halves = 0;        // packs and unpacks of 16-bit lanes, which are not optimized
  std::size_t acrossBlocks = 0;  // of what another block packed or unpacked, not optimized either
};

// `known` are the other copies of the function.
PackCopies findPackCopies(const Function& function, PassContext& context, std::span<const Copy> known);

}  // namespace ptxopt
