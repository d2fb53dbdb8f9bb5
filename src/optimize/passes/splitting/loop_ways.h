// The ways into and out of a loop, and the places on them where a value can be moved.
//
// Ways in:   the end of a block that leads nowhere else, or a new block between two that follow each other in the
//            text.
// Ways out:  the start of a block. One that leaves the function needs nothing.
// Cost:      linear in the edges of the loop.
// Declines:  irreducible, no-preheader (a way in has no place).
#pragma once

#include <string_view>
#include <vector>

#include "passes/manager/pass.h"

namespace ptxopt {

struct LoopWays {
  struct Out {
    BlockId to;
    InstrId place;
    SlotIndex start;  // a register is needed if it is live here
    bool isAlone;     // only the loop leads here
  };
  std::string_view why;     // there are none
  std::vector<InstrId> in;  // places
  std::vector<Out> out;
};

LoopWays findLoopWays(const Function& f, PassContext& context, LoopId l);

}  // namespace ptxopt
