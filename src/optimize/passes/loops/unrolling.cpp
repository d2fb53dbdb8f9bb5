// The estimate looks at pragmas and barriers first, then at a constant trip count, and then at the number of
// instructions and the kind of exit test.
#include "passes/loops/unrolling.h"

#include <algorithm>

namespace ptxopt {
namespace {
constexpr std::size_t kMostUnrolledInstructions = 64;  // of what it is likely to unroll
constexpr std::size_t kMostPossible = 256;
constexpr uint64_t kMostConstantIterations = 128;  // such a loop may be unrolled whole, however large it is
bool isGuarded(const Function& f, const Cfg& cfg, BlockId b) {
  const Instruction& last = f[cfg[b].last];
  return last.isInstruction() && last.is(Instruction::Guarded);
}

// Whether the latch is a branch alone after a guarded branch out of the loop, and ptxas makes one guarded branch of the two. It does not
// where the block that the loop leaves to stands directly after the latch, unless the loop around this one ends so, too.
bool endsByPair(const Function& f, const Cfg& cfg, const Loops& loops, LoopId loop) {
  for (; loop.valid(); loop = loops[loop].parent) {
    const std::vector<BlockId> latches = loops.latches(cfg, loop);
    if (latches.size() != 1 || isGuarded(f, cfg, latches[0])) return false;
    const BlockId latch = latches[0];
    for (InstrId id = cfg[latch].first; id != cfg[latch].last; id = f[id].next)
      if (f[id].isInstruction()) return false;
    const auto before = cfg.predecessors(latch);
    if (before.size() != 1 || loops.of(before[0]) != loop || !isGuarded(f, cfg, before[0])) return false;
    const auto left =
        std::ranges::find_if(cfg.successors(before[0]), [&](BlockId to) { return !loops.contains(loop, to); });
    if (left == cfg.successors(before[0]).end()) return false;
    if (*left != BlockId(latch.value + 1)) return true;
  }
  return false;
}

// Whether the loop has one latch, and goes back under a guard there.
bool endsByTest(const Function& f, const Cfg& cfg, const Loops& loops, LoopId loop) {
  const std::vector<BlockId> latches = loops.latches(cfg, loop);
  return latches.size() == 1 && (isGuarded(f, cfg, latches[0]) || endsByPair(f, cfg, loops, loop));
}

}  // namespace

Unrolling expectedUnrolling(const Function& f, PassContext& context, LoopId loop) {
  const Loops& loops = context.analyses.loops();
  const Cfg& cfg = context.analyses.cfg();
  const TripCount& trip = context.analyses.scalarEvolution().tripCount(loop);
  const ScevExpressions& e = context.analyses.scalarEvolution().expressions();
  const bool isWhole =
      trip.exact.valid() && e.isConstant(trip.exact) && e[trip.exact].constant < kMostConstantIterations;
  std::size_t instructions = 0;
  bool hasBarrier = false;
  for (const BlockId b : loops.blocks(loop)) {
    for (InstrId id = cfg[b].first; id.valid(); id = id == cfg[b].last ? InstrId() : f[id].next) {
      const Instruction& i = f[id];
      if (i.kind == InstrKind::Pragma &&
          context.module.text(NameId(i.payload)).find("nounroll") != std::string_view::npos)
        return Unrolling::Unlikely;
      if (!i.isInstruction()) continue;
      ++instructions;
      const OpcodeForm& form = context.module.form(i);
      hasBarrier |= form.is(effect::Convergent);
      if (!isWhole && form.is(effect::Call | effect::Unknown | effect::IndirectBranch)) return Unrolling::Unlikely;
    }
  }
  if (isWhole) return Unrolling::Likely;
  if (instructions > kMostPossible) return Unrolling::Unlikely;
  if (!endsByTest(f, cfg, loops, loop)) return Unrolling::Unlikely;
  // ptxas takes a count for granted that could wrap, or step over its limit.
  if (!trip.exact.valid() && trip.unknown != "may-wrap" && trip.unknown != "step-may-not-meet-limit")
    return Unrolling::Unlikely;
  return hasBarrier || instructions > kMostUnrolledInstructions ? Unrolling::Possible : Unrolling::Likely;
}

}  // namespace ptxopt
