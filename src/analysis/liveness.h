// Which registers are live at the start of each block.
//
// Two strengths. `Plain`: a register is live where some path reads it before writing it in full. `Needed`: the
// same, but a read counts only when the instruction that reads has an effect or a needed result itself; so a
// counter that feeds nothing but itself is dead, and what it alone reads is dead too. `Needed` is the least fixed
// point of
//     in(i) = out(i)                        if i may be removed and none of its results is in out(i)
//           = reads(i) | (out(i) - writes(i))  otherwise
// where writes(i) are the full definitions (Def) and reads(i) the uses and mods.
// (Horwitz, Demers and Teitelbaum, "An efficient general iterative algorithm for dataflow analysis", 1987, call
// such variables truly live.)
//
// Only registers that some block reads before it writes them, here called global, have bits; the many that live and
// die in one block cost nothing. The solver sweeps dirty blocks in post-order and walks their instructions
// backward. Cost: instructions times the depth of loops, and blocks times global registers / 8 bytes. Declines
// (`solved()` is false) when the bits would take more than `mostBytes`.
#pragma once

#include <vector>

#include "analysis/cfg.h"
#include "support/bit_vector.h"

namespace ptxopt {

// Whether an instruction has no effect but its register results, so that it may go when these are dead. Not so
// where ptxas would tell the difference: see leavesTrace in liveness.cpp.
bool isRemovable(const Module& module, const Function& function, const Instruction& instruction);

class Liveness {
 public:
  enum class Strength { Plain, Needed };

  Liveness(const Module& module, const Function& function, const Cfg& cfg, Strength strength,
           std::size_t mostBytes);

  bool solved() const { return solved_; }
  std::size_t globals() const { return globals_.size(); }
  // The register of a bit.
  RegId globalRegister(std::size_t bit) const { return globals_[bit]; }
  const BitVector& liveIn(BlockId block) const { return liveIn_[block.value]; }

  // The live registers while walking a block backward: start at the end, then call `before` for each instruction
  // from the last to the first.
  class Walk {
   public:
    explicit Walk(const Liveness& liveness);
    void startAtEnd(BlockId block);
    // Whether a result of `i` is live behind it.
    bool writesLive(const Instruction& i) const;
    // Moves the point from behind `i` to before it, taking `i` as needed.
    void before(const Instruction& i);
    bool isLive(RegId reg) const { return live_.test(liveness_.index_[reg.value]); }

   private:
    friend class Liveness;
    const Liveness& liveness_;
    BitVector live_;  // by Liveness::index_; the registers of one block are all dead again at its start
  };

 private:
  void findGlobals();
  void solve();

  const Module& module_;
  const Function& f_;
  const Cfg& cfg_;
  Strength strength_;
  bool solved_ = false;
  std::size_t indices_ = 0;
  std::vector<RegId> globals_;
  std::vector<uint32_t> index_;  // by RegId: its bit; for registers of one block a number behind all bits
  std::vector<BitVector> liveIn_;
};

}  // namespace ptxopt
