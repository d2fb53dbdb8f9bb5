#include "report/trip_counts.h"

#include <algorithm>

namespace ptxopt::report {
namespace {

// Of the code that tests at the end, or after the header's test.
double roundsOf(dump::FunctionView& f, LoopId l) {
  ScalarEvolution& evolution = f.analyses.scalarEvolution();
  const TripCount& trip = evolution.tripCount(l);
  if (!trip.exact.valid() || !evolution.expressions().isConstant(trip.exact)) return 0;
  const auto backedges = static_cast<double>(evolution.expressions()[trip.exact].constant);
  const Loops& loops = f.analyses.loops();
  const std::vector<BlockId> latches = loops.latches(f.analyses.cfg(), l);
  const auto exits = loops.exits(f.analyses.cfg(), l);
  const BlockId header = loops[l].header;
  const bool testsFirst =
      std::ranges::find(latches, header) == latches.end() && exits.size() == 1 && exits[0].from == header;
  return testsFirst ? backedges : backedges + 1;
}

// In the mean over launches; 0: not seen.
double seenRoundsOf(dump::FunctionView& f, LoopId l) {
  if (f.module.profiles.empty()) return 0;
  const Cfg& cfg = f.analyses.cfg();
  const Block& header = cfg[f.analyses.loops()[l].header];
  for (InstrId id = header.first; f.function[id].kind == InstrKind::Label; id = f.function[id].next) {
    for (const LoopCount& seen : f.module.profiles[f.function.index].loops)
      if (seen.header.value == f.function[id].payload && seen.entries != 0)
        return static_cast<double>(seen.iterations) / static_cast<double>(seen.entries);
    if (id == header.last) break;
  }
  return 0;
}

}  // namespace

void addLoopsOf(dump::FunctionView& f, timing::PtxLoops& result) {
  if (!f.usable()) return;
  const Loops& loops = f.analyses.loops();
  const auto first = static_cast<uint32_t>(result.rounds.size());
  for (uint32_t l = 0; l < loops.size(); ++l) {
    const double known = roundsOf(f, LoopId(l));
    result.rounds.push_back(known != 0 ? known : seenRoundsOf(f, LoopId(l)));
    result.isSeen.push_back(known == 0);
  }
  for (uint32_t b = 0; b < f.analyses.cfg().size(); ++b) {
    const LoopId l = loops.of(BlockId(b));
    const uint32_t loop = l.valid() ? first + l.value : timing::PtxLoops::kNone;
    for (const InstrId id : f.analyses.slotIndexes().instructions(BlockId(b))) {
      const auto line = static_cast<uint32_t>(f.line(id));
      if (line == 0) continue;
      const auto [at, isNew] = result.loopOfLine.try_emplace(line, loop);
      if (!isNew && at->second != loop) at->second = timing::PtxLoops::kNone;
    }
  }
}

timing::PtxLoops loopsOf(const Module& module, std::string_view architecture) {
  timing::PtxLoops loops;
  const dump::ModuleView view(module, architecture);
  for (const Function& f : module.functions) {
    if (!f.hasBody) continue;
    dump::FunctionView function(view, f);
    addLoopsOf(function, loops);
  }
  return loops;
}

}  // namespace ptxopt::report
