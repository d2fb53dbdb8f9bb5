#include "passes/loops/unrolling.h"

#include <algorithm>

namespace ptxopt {
namespace {
constexpr std::size_t kMostInstructions = 64, kMostPossible = 256;
constexpr uint64_t kMostConstantRounds = 128;  // such a loop may be unrolled whole, however large it is
}  // namespace

bool mayUnroll(const Function& f, PassContext& context, LoopId loop, Unrolling unrolling) {
  const bool isCautious = unrolling == Unrolling::Possible;
  uint32_t stops = effect::Call | effect::Unknown | effect::IndirectBranch;
  if (!isCautious) stops |= effect::Convergent;
  const Loops& loops = context.analyses.loops();
  const Cfg& cfg = context.analyses.cfg();
  const ExprId trips = context.analyses.scalarEvolution().tripCount(loop).exact;
  const ScevExpressions& e = context.analyses.scalarEvolution().expressions();
  const bool isWhole = trips.valid() && e.isConstant(trips) && e[trips].constant < kMostConstantRounds;
  std::size_t instructions = 0;
  for (const BlockId b : loops.blocks(loop)) {
    for (InstrId id = cfg[b].first; id.valid(); id = id == cfg[b].last ? InstrId() : f[id].next) {
      const Instruction& i = f[id];
      if (i.kind == InstrKind::Pragma &&
          context.module.text(NameId(i.payload)).find("nounroll") != std::string_view::npos)
        return false;
      if (!i.isInstruction()) continue;
      ++instructions;
      const OpcodeForm& form = context.module.form(i);
      if (!isWhole && form.is(stops)) return false;
    }
  }
  if (isWhole) return true;
  if (instructions > (isCautious ? kMostPossible : kMostInstructions)) return false;
  const std::vector<BlockId> latches = loops.latches(cfg, loop);
  if (latches.size() != 1) return false;
  const Instruction& branch = f[cfg[latches[0]].last];
  if (!branch.isInstruction() || !branch.is(Instruction::Guarded)) return false;
  // ptxas takes a count for granted that could wrap, or step over its limit.
  const TripCount& trip = context.analyses.scalarEvolution().tripCount(loop);
  return trip.exact.valid() || trip.unknown == "may-wrap" || trip.unknown == "step-may-not-meet-limit";
}

}  // namespace ptxopt
