// Sections of lanes: what some lanes compute while the others of their warp jump over it.
//
// What:       a section is a single block that a guarded branch jumps over, before a block with shuffles:
//                 @p bra L;  ...loads, arithmetic...  L: bar.warp.sync -1;  shfl.sync.idx of each result
//             This file says where sections are, and in which of them all lanes could run the block.
// Conditions: a section only computes and loads. What it writes was not written before in lanes that jump, so
//             those may hold anything after it. If it loads, then
//             - it loads memory as launched, proven to be global, or constant memory, or a parameter;
//             - all lanes read one value at addresses that some lane reads anyway (broadcast_values.h proves that
//               they have one address);
//             - the threads meet at a barrier before anything may be written, so that a lane that comes late does
//               not read what others write afterwards.
// Barriers:   of the block: a thread of the block surely runs the section, if the threads with an index of 0 do and
//                           no thread passes it by in another way. The branch goes.
//             of the warp:  a warp in which no lane runs the section must not begin to, for others do not wait for
//                           it. The branch stays, and is taken where all lanes would take it (vote.sync). All
//                           lanes are there, because the only branches before it are those of such blocks.
// Cost:       linear in instructions, and in dominators for each section that loads.
// Declines:   side-effects (not only arithmetic and weak loads), may-have-changed (what is loaded), unknown-space
//             (of a load that names none), keeps-old-value, not-always-run, no-barrier, first-thread-unknown.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "analysis/addresses/launch_memory.h"
#include "passes/manager/pass.h"
#include "passes/util/missed_remarks.h"

namespace ptxopt {

// `body` is what the branch at the end of `head` jumps over, to `join`.
struct LaneSection {
  BlockId head, body, join;
  InstrId branch;
  bool votes = false;  // the branch stays, for warps without a lane that runs the section
  // What the branch asks: a value of a register, and which one of it runs the body.
  std::pair<RegId, ValueId> guard;
  bool runsIf = false;
};

class LaneSections {
 public:
  LaneSections(const Function& f, PassContext& context, const LaunchMemory& memory);

  // Those that all lanes could run, by their own instructions and the way to them. Counts why others are not.
  std::vector<LaneSection> find(MissedRemarks& missed) const;

 private:
  enum class Barrier : uint8_t { None, Warp, Block };

  const OpcodeForm& form(InstrId id) const { return module_.form(f_[id]); }
  std::optional<LaneSection> triangleAt(BlockId head) const;
  bool hasShuffles(BlockId b) const;
  std::string_view whyNot(LaneSection& s) const;
  std::string_view whyNotComputed(const LaneSection& s, bool& loads, bool& needsBarrier) const;
  bool keepsOld(RegId r, const LaneSection& s) const;
  bool isOneWarp() const;
  Barrier barrierIn(BlockId b) const;
  InstrId definition(RegId r, InstrId id) const;
  bool isOfFirstThread(InstrId branch) const;
  bool isThreadIndex(const Operand& o, InstrId reader) const;
  bool isAlwaysRun(BlockId b) const;
  bool mayStop(BlockId b) const;

  const Function& f_;
  PassContext& context_;
  const Module& module_;
  const Cfg& cfg_;
  const SlotIndexes& slots_;
  const LiveIntervals& intervals_;
  const LaunchMemory& memory_;
  std::vector<LaneSection> triangles_;  // all blocks that a branch jumps over
};

}  // namespace ptxopt
