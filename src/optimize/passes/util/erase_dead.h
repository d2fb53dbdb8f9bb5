// What the passes that remove dead instructions share.
#pragma once

#include <string_view>
#include <vector>

#include "passes/manager/pass.h"

namespace ptxopt {

class DeadInstructions {
 public:
  DeadInstructions(const Module& module, Function& function)
      : module_(module), f_(function), isDead_(function.instructions.size()) {}

  // Walks a block backward from `live`, which stands at its end, and notes what is not needed; whether there is
  // more than was noted before. Moves the point to the start of the block. Nothing is erased yet: blocks and
  // analyses speak of the list as it is.
  bool collect(const Block& block, LivePoint& live);
  bool has(InstrId id) const { return isDead_[id.value]; }

  struct Erased {
    std::size_t instructions = 0;
    bool namedLabel = false;  // one of them took the address of a label, whose block may now be unreachable
  };
  // Erases what was noted; with a load the pragma that describes it.
  Erased erase();

 private:
  const Module& module_;
  Function& f_;
  std::vector<InstrId> dead_;
  std::vector<bool> isDead_;  // by InstrId
};

}  // namespace ptxopt
