// What the passes that remove dead instructions share.
#pragma once

#include <string_view>
#include <vector>

#include "passes/pass.h"

namespace ptxopt {

class DeadInstructions {
 public:
  DeadInstructions(const Module& module, Function& function) : module_(module), f_(function) {}

  // Walks a block backward from `live`, which stands at its end, and notes what is not needed. Moves the point to
  // the start of the block. Nothing is erased yet: blocks and analyses speak of the list as it is.
  void collect(const Block& block, LivePoint& live);

  struct Erased {
    std::size_t instructions = 0;
    bool namedLabel = false;  // one of them took the address of a label, whose block may now be unreachable
  };
  // Erases what was noted; with a load the pragma that describes it.
  Erased erase();

 private:
  InstrId boundPragma(InstrId id) const;

  const Module& module_;
  Function& f_;
  std::vector<InstrId> dead_;
};

}  // namespace ptxopt
