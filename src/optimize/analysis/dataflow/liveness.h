// Which registers are live at the start of each block, one set for each register file.
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
// Only global registers (register_numbers.h) count. Three solvers find the result; `solverFor` in liveness.cpp chooses
// one:
//   walking      The bypass: sweeps that walk the instructions of each block. There are no sets to make. For functions
//                of one block or of up to kFewInstructions, and where the caller asks for it.
//   sets         For each file, in(b) = gen(b) | (out(b) - kill(b)) until nothing changes, with one fused step a block.
//                gen, what the block reads before it writes it, and kill, what it writes in full, come with the
//                numbers of registers. gen is where in begins, so it takes no sets of its own. For `Needed` a block is
//                walked until each of its results is read in it or live at its end, so that all its instructions are
//                needed. What more is live after it then changes neither set, and it takes the step.
//   sparse       Runs of blocks for each register instead of bits (live_runs.h, sparse_liveness.h), where bits would
//                take more than kDenseBytes an instruction.
// The first two visit the blocks in post-order, skipping those with no news from a successor. Cost: blocks times global
// registers / 8 bytes (twice that with sets), times the depth of loops; instructions, by walking times that depth.
// Sparse costs what the result costs.
// Declines (`solved()` is false) when the result would take more than `mostBytes`, or finding it too many visits of
// blocks (sparse_liveness.cpp).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analysis/dataflow/cfg.h"
#include "analysis/dataflow/live_runs.h"
#include "analysis/dataflow/register_numbers.h"
#include "support/bit_rows.h"

namespace ptxopt {

// Whether an instruction has no effect but its register results, so that it may go when these are dead. Not so
// where ptxas would tell the difference: see leavesTrace in liveness.cpp.
bool isRemovable(const Module& module, const Function& function, const Instruction& instruction);

class Liveness {
 public:
  enum class Strength { Plain, Needed };
  static constexpr std::size_t kFewInstructions = 15;
  static constexpr std::size_t kDenseBytes = 16;
  enum class Form { BySize, Dense, Sparse };
  enum class Solver : uint8_t { Walking, Sets, Sparse };

  struct Limits {
    std::size_t mostBytes = SIZE_MAX;
    bool walkOnly = false;  // what is dense is solved by walking, whatever its size
    Form form = Form::BySize;
  };

  // `plain`, when there is one, is a solution of strength `Plain` for the same function: what is sparse and
  // `Needed` begins there.
  Liveness(const Module& module, const Function& function, const Cfg& cfg, const RegisterFiles& files,
           Strength strength, Limits limits, const Liveness* plain = nullptr)
      : Liveness(module, function, cfg, std::make_shared<const RegisterNumbers>(function, cfg, files), strength,
                 limits, plain) {}
  Liveness(const Module& module, const Function& function, const Cfg& cfg,
           std::shared_ptr<const RegisterNumbers> numbers, Strength strength, Limits limits,
           const Liveness* plain = nullptr);

  bool solved() const { return solved_; }
  bool isSparse() const { return solver_ == Solver::Sparse; }
  Solver solver() const { return solver_; }
  // How often the solver went over the blocks until nothing changed; of what is sparse over those of 64 registers, summed up.
  std::size_t sweeps() const { return sweeps_; }
  // "by sets, 2 sweeps", "by walking, 1 sweep"
  std::string howSolved() const;
  // Whether at most `most` registers are live at the starts of blocks, all blocks together. Linear in `most`.
  bool hasAtMost(std::size_t most) const;
  // For strength `Needed`: whether an instruction of the block may be needed by nothing. Said of instructions that
  // isRemovable() vouches for.
  bool mayHaveUnneeded(BlockId block) const { return unneeded_.empty() || unneeded_[block.value] != 0; }
  // Calls `visit(reg)` for what is live at the start of a block, in no particular order.
  template <typename Visit>
  void forEachLiveIn(BlockId block, Visit visit) const {
    if (isSparse()) {
      runs_.forEach(block, [&](uint32_t number) { visit(numbers_->registerOf(number)); });
      return;
    }
    for (const RegisterFile file : kRegisterFiles)
      rows(file).forEach(block.value, [&](std::size_t bit) { visit((*numbers_)[file].registers[bit]); });
  }

  // The live registers while walking a block backward: start at the end, then call `before` for each instruction
  // from the last to the first; with strength `Needed`, for those that are needed.
  class Walk : public LivePoint {
   public:
    explicit Walk(const Liveness& liveness);
    void startAtEnd(BlockId block);

   private:
    const Liveness& liveness_;
  };

  // Whether two solutions of one function say the same, in whatever form, and whatever files registers are in.
  friend bool operator==(const Liveness& a, const Liveness& b);

 private:
  BitRows& rows(RegisterFile file) { return liveIn_[static_cast<std::size_t>(file)]; }
  const BitRows& rows(RegisterFile file) const { return liveIn_[static_cast<std::size_t>(file)]; }
  class DenseSolver;

  Solver solverFor(const Limits& limits) const;
  std::size_t denseBytes() const { return std::size_t{numbers_->firstLocal()} / 8 * cfg_.size(); }
  bool solveSparse(const Module& module, Strength strength, std::size_t mostBytes, const Liveness* plain);

  const Function& f_;
  const Cfg& cfg_;
  std::shared_ptr<const RegisterNumbers> numbers_;
  bool solved_ = false;
  Solver solver_ = Solver::Walking;
  std::size_t sweeps_ = 0;
  std::array<BitRows, kRegisterFiles.size()> liveIn_;  // by block, when dense
  LiveRuns runs_;                                      // when sparse
  std::vector<uint8_t> unneeded_;  // by block, when dense and `Needed`: it has such instructions
};

}  // namespace ptxopt
