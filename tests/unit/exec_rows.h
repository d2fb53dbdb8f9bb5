// Which rows of opcodes.def the unit tests have executed: what zz_exec_rows_test.cpp, the last of them, looks at.
#pragma once

#include <vector>

#include "exec/block.h"
#include "exec/observer.h"
#include "exec/program.h"
#include "exec/warp.h"

namespace ptxopt::exec {

class ExecutedRows : public Observer {
 public:
  void op(Warp& warp, const Routine& routine, const Op& op, Mask, Mask active) override {
    if (active == 0) return;
    const Function& f = *routine.function;
    const Instruction& i = f.instructions[op.instruction];
    if (!i.isInstruction()) return;
    const OpcodeRow* row = warp.block().program().module().form(i).row;
    if (row != nullptr) seen_[static_cast<std::size_t>(row - opcodeTable().data())] = true;
  }
  bool has(const OpcodeRow& row) const { return seen_[static_cast<std::size_t>(&row - opcodeTable().data())]; }

 private:
  std::vector<bool> seen_ = std::vector<bool>(opcodeTable().size());
};

// The one that all tests of one process share; launches with one job may name it as their observer.
inline ExecutedRows& executedRows() {
  static ExecutedRows rows;
  return rows;
}

}  // namespace ptxopt::exec
