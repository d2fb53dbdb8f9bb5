// Which lanes come to an op for the first time, and which only look again whether they may go on.
//
// An op at which lanes wait is executed again and again, and its observers hear of it each time. A lane that is at
// the op that it was at last has not moved: only branches lead back to where one was.
#pragma once

#include <array>
#include <bit>
#include <unordered_map>

#include "exec/warp.h"

namespace ptxopt::exec {

class FirstArrivalFilter {
 public:
  // The lanes of `mask` for which this is not a second look. To be called for every op.
  Mask arriving(const Warp& warp, const Op& op, Mask mask) {
    if (&warp != warp_) {
      warp_ = &warp;
      last_ = &lasts_[&warp];
    }
    const bool mayWait = op.kind == OpKind::Plain || op.kind == OpKind::Collective;
    Mask fresh = 0;
    for (Mask m = mask; m != 0; m &= m - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(m));
      const Op*& last = (*last_)[lane];
      if (!mayWait || last != &op) fresh |= Mask{1} << lane;
      // A thread that ends leaves no trace for the one of a later block.
      last = op.kind == OpKind::Exit ? nullptr : &op;
    }
    return fresh;
  }

 private:
  std::unordered_map<const Warp*, std::array<const Op*, kLanes>> lasts_;
  const Warp* warp_ = nullptr;
  std::array<const Op*, kLanes>* last_ = nullptr;
};

// Not for ops that stand for no instruction of their own: those that prepare the next one, and the end of a function
// without `ret`.
inline bool standsForInstruction(const Module& module, const Routine& routine, const Op& op) {
  if (op.prepares) return false;
  const Instruction& i = routine.function->instructions[op.instruction];
  if (!i.isInstruction()) return false;
  return (op.kind != OpKind::Exit && op.kind != OpKind::Return) || module.form(i).is(effect::Return | effect::Exit);
}

}  // namespace ptxopt::exec
