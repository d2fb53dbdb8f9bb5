#include "passes/util/erase_dead.h"

#include "ir/pragmas.h"

namespace ptxopt {

bool DeadInstructions::collect(const Block& block, LivePoint& live) {
  const std::size_t before = dead_.size();
  for (InstrId id = block.last; id.valid(); id = id == block.first ? InstrId() : f_[id].previous) {
    if (isDead_[id.value]) continue;
    if (live.writesLive(f_[id]) || !isRemovable(module_, f_, f_[id])) {
      live.before(f_[id]);
    } else {
      dead_.push_back(id);
      isDead_[id.value] = true;
    }
  }
  return dead_.size() != before;
}

DeadInstructions::Erased DeadInstructions::erase() {
  Erased erased{.instructions = dead_.size()};
  for (const InstrId id : dead_) {
    for (const Operand& o : f_.operandsOf(f_[id])) erased.namedLabel |= o.kind == OperandKind::Label;
    eraseWithPragma(module_, f_, id);
  }
  dead_.clear();
  return erased;
}

}  // namespace ptxopt
