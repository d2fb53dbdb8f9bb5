#include "passes/loops/unrolling.h"

#include <algorithm>

namespace ptxopt {
namespace {
constexpr std::size_t kMostInstructions = 64;  // of what it is likely to unroll
constexpr std::size_t kMostPossible = 256;
constexpr uint64_t kMostConstantRounds = 128;  // such a loop may be unrolled whole, however large it is
}  // namespace

Unrolling expectedUnrolling(const Function& f, PassContext& context, LoopId loop) {
  const Loops& loops = context.analyses.loops();
  const Cfg& cfg = context.analyses.cfg();
  const TripCount& trip = context.analyses.scalarEvolution().tripCount(loop);
  const ScevExpressions& e = context.analyses.scalarEvolution().expressions();
  const bool isWhole =
      trip.exact.valid() && e.isConstant(trip.exact) && e[trip.exact].constant < kMostConstantRounds;
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
  const std::vector<BlockId> latches = loops.latches(cfg, loop);
  if (latches.size() != 1) return Unrolling::Unlikely;
  const Instruction& branch = f[cfg[latches[0]].last];
  if (!branch.isInstruction() || !branch.is(Instruction::Guarded)) return Unrolling::Unlikely;
  // ptxas takes a count for granted that could wrap, or step over its limit.
  if (!trip.exact.valid() && trip.unknown != "may-wrap" && trip.unknown != "step-may-not-meet-limit")
    return Unrolling::Unlikely;
  return hasBarrier || instructions > kMostInstructions ? Unrolling::Possible : Unrolling::Likely;
}

}  // namespace ptxopt
