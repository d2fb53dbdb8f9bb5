// Whether what scalar evolution says of a kernel holds in a run of it: an observer of the interpreter.
//
// For each thread it keeps the iteration that runs of each loop and what each value of a register was last. Whenever an
// instruction has written an integer register, and whenever control comes to a block where values meet, the value's
// expression is computed from its leaves and the iterations and compared with the register; likewise each register that
// is read, with what `read` says of the reader. Ranges must contain what is there, recurrences that are said not to
// wrap must be whole numbers, and the backedges taken must be as many as `exact` says and not more than `most`.
// Where a leaf was not seen yet nothing is compared.
// Cost: the run's instructions times the nodes of the expressions of what they read and write.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "dump/view.h"
#include "exec/observer.h"

namespace ptxopt::testing {

class EvolutionReplay final : public exec::Observer {
 public:
  // The function's analyses, made once for several runs.
  explicit EvolutionReplay(dump::FunctionView& view);

  void op(exec::Warp& warp, const exec::Routine& routine, const exec::Op& op, exec::Mask mask,
          exec::Mask active) override;
  void after(exec::Warp& warp, const exec::Routine& routine, const exec::Op& op, exec::Mask active) override;
  // Between two launches.
  void restart() { threads_.clear(); }

  struct Counts {
    uint64_t values = 0;       // compared, plain ones left out
    uint64_t recurrences = 0;  // of these, with a recurrence inside
    uint64_t ranges = 0;       // of expressions, not full
    uint64_t whole = 0;        // proofs that nothing wraps
    uint64_t exact = 0, most = 0;
    uint64_t unseen = 0;  // not compared: a leaf was not seen
  };
  Counts counts;
  std::vector<std::string> wrong;  // the first few
  uint64_t wrongs = 0;

 private:
  struct Phi {
    RegId reg;
    ValueId value;
  };
  struct Thread {
    std::vector<uint64_t> iterations;  // by LoopId
    std::vector<uint64_t> values;      // by key
    std::vector<bool> isKnown;
    InstrId last;
  };
  using WarpKey = std::array<uint32_t, 4>;

  uint32_t keyOf(RegId r, ValueId v) const { return numbers_(r, v); }
  std::vector<Thread>& threadsOf(exec::Warp& warp);
  void arrive(exec::Warp& warp, const exec::Routine& routine, unsigned lane, Thread& t, InstrId id);
  void enter(exec::Warp& warp, const exec::Routine& routine, unsigned lane, Thread& t, BlockId from, BlockId to);
  bool findWay(BlockId from, BlockId to, std::vector<BlockId>& way) const;
  std::optional<uint64_t> contents(exec::Warp& warp, const exec::Routine& routine, RegId r, unsigned lane) const;
  void settle(Thread& t, RegId r, ValueId v, uint64_t bits);
  void noteWrites(exec::Warp& warp, const exec::Routine& routine, InstrId id, exec::Mask lanes);
  void compare(const Thread& t, RegId r, ExprId e, uint64_t bits, const std::string& where);
  void compareValue(const Thread& t, RegId r, ValueId v, uint64_t bits, const std::string& where);
  std::optional<uint64_t> evaluate(const Thread& t, ExprId e) const;
  bool hasRecurrence(ExprId e) const;
  void checkWhole(const Thread& t, ExprId e, const std::string& where);
  void fail(std::string text);
  std::string text(ExprId e) const;

  dump::FunctionView& view_;
  const Function& f_;
  const Cfg& cfg_;
  const Loops& loops_;
  const SlotIndexes& slots_;
  const LiveIntervals& intervals_;
  const ValueNumbers& numbers_;
  ScalarEvolution& evolution_;
  std::vector<uint32_t> position_;      // by InstrId, in the order of the text
  std::vector<std::vector<Phi>> phis_;  // by block
  std::unordered_map<uint64_t, std::optional<NoWrapProof>> proofs_;
  std::map<WarpKey, std::vector<Thread>> threads_;
};

}  // namespace ptxopt::testing
