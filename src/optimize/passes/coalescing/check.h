// Whether a function still computes what it did before coalescing. (Knob verify-coalescing; for any pass that takes
// copies out, puts copies in and renames registers, and does nothing else.)
//
// Translation validation after the manner of regalloc2's checker: both functions run in step, and a forward
// dataflow keeps which registers hold the same value. The lattice:
//   names   the registers of the function before, those of the function after, and constants
//   state   a partition of the names: those of one class hold the same value, whatever way control came. What is a
//           class of its own says nothing, so it is not written down, nor is what is not live
//   meet    two names are together when both states have them together
//   top     a block that control has not come to
// Also in a state: which classes are the parts of another (`mov.b64 d, {x, y}`).
// Steps: a move, on either side, puts its destination into the class of what it moves; a guarded one into that of
// sel(guard, source, old value), where equal terms are one class and sel(p, x, sel(p, _, x)) is x; so does a selp of
// registers. What a move writes matters where it is read: another one may stand in its place. Any other
// instruction must stand on both sides, alike but for its registers; each register that it reads must be in the
// class of the one that it read before, or that is an error; and what it writes is a new class of both sides. At
// the entry all registers but parameters are in one class: they hold nothing that a function may count on. So the
// check trusts what it shares with the passes: roles, the control-flow graph, and readCopy. It does not know what
// the passes know: SSA form, live ranges, roots, webs, names. Accepted: copies, constants, packing and unpacking
// gone or put in; reads moved; a constant instead of a copy; registers renamed. Registers of opcodes that are not
// in the table and of instructions that are asynchronous and convergent (wgmma) must keep their names. Cost: live
// registers of all blocks, times the depth of loops; logarithms.
#pragma once

#include <fmt/format.h>

#include <string>

#include "ir/verify.h"
#include "passes/manager/pass.h"

namespace ptxopt {

// An error in words that names the instruction, the operand and both registers; empty: there is none. `before` is a
// copy of the function, made before the pass; `after` has its instructions under the same ids.
std::string checkCoalescing(const Module& module, const Function& before, const Function& after);

// Runs a coalescing pass, `run() -> bool`, and with knob verify-coalescing the checks before and after it.
template <typename Run>
bool withCoalescingCheck(Function& f, PassContext& context, Run run) {
  if (context.knobs[Knob::VerifyCoalescing] == 0) return run();
  if (std::string error = verify(context.module, f); !error.empty()) {
    context.error = fmt::format("{}: before the pass: {}", context.module.text(f.name), error);
    return false;
  }
  const Function before = f;  // NOLINT(performance-unnecessary-copy-initialization): run() changes f
  const bool changed = run();
  std::string error = verify(context.module, f);
  if (error.empty()) error = checkCoalescing(context.module, before, f);
  if (!error.empty()) context.error = fmt::format("{}: {}", context.module.text(f.name), error);
  context.count("verified");
  return changed;
}

}  // namespace ptxopt
