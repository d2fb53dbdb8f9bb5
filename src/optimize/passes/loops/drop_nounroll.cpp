// drop-nounroll: lets ptxas unroll loops that say that it must not.
//
// What:       `.pragma "nounroll"` goes. nvcc writes it where a program says `#pragma unroll 1`, and where it has unrolled a
//             loop itself, at the loop for the remaining iterations. ptxas knows better in some of these, and worse in
//             others: this is for `ptxopt tune`, which looks at what comes of it, and for nothing else.
// Algorithm:  each pragma of the function.
// Invariants: the pragma says nothing of what a function does. Other pragmas stay, and so does one with several strings.
// Cost:       linear.
#include "ir/pragmas.h"
#include "passes/manager/pass.h"

namespace ptxopt {

bool dropNounroll(Function& f, PassContext& context) {
  std::size_t dropped = 0;
  for (const InstrId id : f) {
    if (!isNounroll(context.module, f[id])) continue;
    f.erase(id);
    ++dropped;
  }
  context.count("dropped", dropped);
  return dropped != 0;
}

}  // namespace ptxopt
