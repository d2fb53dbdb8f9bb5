#include "passes/splitting/loop_ways.h"

#include <algorithm>

#include "passes/util/insertion_places.h"

namespace ptxopt {
namespace {

bool isRoot(const Cfg& cfg, BlockId b) { return std::ranges::find(cfg.roots(), b) != cfg.roots().end(); }

bool leadsOnlyTo(const Cfg& cfg, BlockId from, BlockId to) {
  return std::ranges::all_of(cfg.successors(from), [&](BlockId s) { return s == to; });
}

std::string_view findIn(const Function& f, PassContext& context, LoopId l, LoopWays& ways) {
  const Cfg& cfg = context.analyses.cfg();
  const Loops& loops = context.analyses.loops();
  const BlockId header = loops[l].header;
  if (loops[l].irreducible) return "irreducible";
  if (isRoot(cfg, header)) return "no-preheader";
  for (const BlockId p : cfg.predecessors(header)) {
    if (loops.contains(l, p)) continue;
    InstrId place;
    if (leadsOnlyTo(cfg, p, header))
      place = placeAtEnd(context.module, f, cfg[p]);
    else if (!placeBetween(context.module, f, cfg, p, header, place))
      return "no-preheader";
    ways.in.push_back(place);
  }
  return {};
}

void findOut(const Function& f, PassContext& context, LoopId l, LoopWays& ways) {
  const Cfg& cfg = context.analyses.cfg();
  const Loops& loops = context.analyses.loops();
  std::vector<BlockId> done;
  for (const Loops::Exit& e : loops.exits(cfg, l)) {
    // One that leaves the function needs nothing.
    if (!e.to.valid() || std::ranges::find(done, e.to) != done.end()) continue;
    done.push_back(e.to);
    const bool isAlone = !isRoot(cfg, e.to) && std::ranges::all_of(cfg.predecessors(e.to),
                                                                   [&](BlockId p) { return loops.contains(l, p); });
    ways.out.push_back(
        {e.to, placeAtStart(context.module, f, cfg[e.to]), context.analyses.slotIndexes().start(e.to), isAlone});
  }
}

}  // namespace

LoopWays findLoopWays(const Function& f, PassContext& context, LoopId l) {
  LoopWays ways;
  ways.why = findIn(f, context, l, ways);
  findOut(f, context, l, ways);
  return ways;
}

}  // namespace ptxopt
