// The sequences of copies in the blocks of a function, made as short as they can be.
//
// A run is a set of copies of one block that are connected by their registers, under one guard or none, such that
// nothing between its first and its last one writes a register of the run, reads one that it writes, or writes its
// guard; other runs, other instructions and `.loc` may stand between. Nothing else distinguishes the copies of a run
// from copies all at one place, so they are one parallel copy (parallel_copy.h). A run that comes out shorter is
// written into the first of its own instructions, the others go; what stays as it is keeps its place.
// Which registers hold the same at the start of a run is known from the copies of the block before it and, where
// the block begins, from the roots of the values that live there (copy_values.h).
// Keeps: the order of everything else; registers that the coalescer does not take (coalescer.h); runs that would
// not become shorter. Not in a run: copies that write or read their own guard, and copies across a scope brace or a
// declaration, after which names may mean something else. Cost: n log n in the operands.
#pragma once

#include <vector>

#include "passes/coalescing/coalescer.h"
#include "passes/coalescing/parallel_copy.h"

namespace ptxopt {

class CopyRuns {
 public:
  struct Options {
    bool usesRoots = true;
    // Whether guarded runs are written anew. ptxas does not see through guarded copies.
    bool takesGuarded = true;
  };
  struct Counts {
    std::size_t runs = 0;       // of two copies and more
    std::size_t shortened = 0;  // runs
    std::size_t removed = 0;    // copies
    std::size_t swaps = 0, rotations = 0;
  };

  // `coalescer` knows the copies of the function as it is now; it is out of date as soon as shorten() is true.
  CopyRuns(Function& f, PassContext& context, const Coalescer& coalescer, Options options);

  // Calls report(block, copies before, copies after) for each run that became shorter. Whether one did.
  template <typename Report>
  bool shorten(Report report) {
    for (uint32_t b = 0; b < cfg_.size(); ++b) {
      if (!cfg_[BlockId(b)].reachable) continue;
      shortened_.clear();
      scan(BlockId(b));
      for (const Shortened& s : shortened_) report(BlockId(b), s.before, s.after);
    }
    return counts_.shortened != 0;
  }
  const Counts& counts() const { return counts_; }

 private:
  using RunId = uint32_t;
  static constexpr uint32_t kNone = UINT32_MAX;

  struct Member {
    uint32_t place;
    const Copy* copy;
  };
  struct Run {
    std::vector<Member> copies;  // none: closed
    std::vector<RegId> registers;
    uint32_t start = 0, last = 0;
    RegId guard;  // invalid: none
    bool isNegated = false;
    RunId nextOfGuard = kNone;
    // Where something outside the run last wrote a register of it, and read one that it writes.
    uint32_t lastWrite = 0, lastRead = 0;
  };
  struct State {  // of a register, in the block at hand; places count from 1
    uint32_t block = kNone;
    RunId run = kNone;
    RunId firstGuarded = kNone;            // runs under this register, some of them closed
    bool isWritten = false;                // by its run
    uint32_t lastWrite = 0, lastRead = 0;  // by what is in no open run
    uint32_t held = 0;                     // the name of its value; in an open run, of the one before
    uint32_t local = 0;                    // its number in the run that is being closed
  };
  struct Shortened {
    std::size_t before, after;
  };

  State& state(RegId r);
  void scan(BlockId b);
  void visitOther(const Instruction& i);
  void visitCopy(const Copy& c);
  bool isGuardedBy(const Run& run, const Copy& c) const;
  void readByOther(RegId r);
  void writtenByOther(RegId r);
  void closeGuardedBy(RegId r);
  RunId openRun(const Copy& c);
  RunId joinRuns(RunId a, RunId b);
  void add(RegId r, bool isWritten, RunId id);
  void close(RunId id);
  void closeAll();
  void shortenOne(Run& run);
  void shortenMany(Run& run);
  bool isNeeded(RegId r, const Run& run) const;
  bool isKept(const Run& run) const { return run.guard.valid() && !options_.takesGuarded; }
  void rewrite(const Run& run, const std::vector<Move>& moves);

  Function& f_;
  const Module& module_;
  const Coalescer& coalescer_;
  const Cfg& cfg_;
  const SlotIndexes& slots_;
  Options options_;
  std::vector<const Copy*> copyAt_;  // by InstrId
  std::vector<bool> hasCopies_;      // by block
  std::vector<State> states_;        // by RegId
  std::vector<Run> runs_;            // of the block; those from runCount_ on are kept for their storage
  uint32_t runCount_ = 0;
  BlockId block_;
  uint32_t place_ = 0;
  uint32_t nextName_ = 0;
  std::vector<Shortened> shortened_;  // in the block
  Counts counts_;
};

}  // namespace ptxopt
