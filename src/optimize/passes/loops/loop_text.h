// Loops that stand in one piece in the text, and copies of them.
//
// A pass that keeps a loop as it is for some inputs, and puts another one before it for the others, copies the text of
// the loop: all blocks from the header to the one latch. The copy uses the same registers, as PTX is not an SSA form,
// and either the one loop runs or the other. Each instruction is executed as often as before, so there is no
// instruction but these that may not be copied: calls, whatever is convergent (threads of a warp may go either way),
// indirect branches, what is not known, scopes, declarations, and other directives.
#pragma once

#include <functional>
#include <string_view>

#include "passes/manager/pass.h"
#include "passes/util/register_scopes.h"

namespace ptxopt {

class LoopText {
 public:
  LoopText(Function& f, const Module& module, const Cfg& cfg, const Loops& loops)
      : f_(f), module_(module), cfg_(cfg), loops_(loops), reaches_(module, f) {}

  // Empty where the loop may be copied to before its header; else irreducible, latches (several), layout (other blocks stand
  // between its own, or nothing after it), no-preheader, scope, effects, or size.
  std::string_view whyNot(LoopId l);
  // The last block of one that may be copied.
  BlockId latch(LoopId l) const { return loops_.latches(cfg_, l).front(); }
  // Puts a copy before `place`, its labels anew, and a branch to `done` after it where control falls out of the loop.
  // `replace(id)` says whether it has put something else there for instruction `id`.
  void copy(LoopId l, InstrId place, LabelId done, const std::function<bool(InstrId)>& replace);

 private:
  static constexpr std::size_t kMostInstructions = 256;
  std::string_view whyNotBlock(const Block& block, InstrId place, std::size_t& instructions);

  Function& f_;
  const Module& module_;
  const Cfg& cfg_;
  const Loops& loops_;
  RegisterReach reaches_;
};

}  // namespace ptxopt
