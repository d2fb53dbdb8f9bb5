// Writes the version of a loop for which checks hold: the checks before the loop, and a copy of it without redundant accesses.
//
//     branch to `old` unless the checks hold
//     what the first iteration reads without a source, and what does not vary, to registers
//   fast:
//     the iteration; loads are copies of registers, stores that go are left out
//     what the next iteration takes from this one, to registers
//     @p bra fast
//     what goes is stored
//     bra done
//   old: the loop as it was
//   done:
// Without checks the copy stands where the old loop stood, and has its label.
// Invariants: all that the loop computes is in the registers that it was in. What is new has registers of its own.
#pragma once

#include <map>

#include "passes/loops/versioning/redundant_accesses.h"
#include "passes/util/expander.h"

namespace ptxopt {

class FastLoop {
 public:
  // The checks, and what is known before the loop; then `copy`. All loops of a function get the former first: the expander
  // knows the function as it was.
  FastLoop(Function& f, const Module& module, const Block& block, BlockId entry, const LoopAccesses& accesses,
           const RedundantAccesses& redundant);

  void prepare(Expander& expander, ScevExpressions& e, const RunTimeChecks& checks);
  void copy(bool keepsOld);

 private:
  void check(Expander& expander, ScevExpressions& e, const RunTimeCheck& c);
  void iteration(InstrId first, InstrId at);
  RegId kept(std::size_t access);
  RegId makeLike(std::size_t access);
  void put(SynthOpcode opcode, std::initializer_list<Operand> operands);

  Function& f_;
  const Module& module_;
  const Block block_;
  const BlockId entry_;
  const LoopAccesses& accesses_;
  const RedundantAccesses& redundant_;
  const InstrId place_;                               // the label, which only the old loop keeps
  std::map<std::size_t, RegId> kept_;                 // by source: a copy of its value
  std::map<std::size_t, RegId> fromIterationBefore_;  // by load
  std::map<std::size_t, std::vector<Operand>> last_;  // by store that is made after the loop: its operands
};

}  // namespace ptxopt
