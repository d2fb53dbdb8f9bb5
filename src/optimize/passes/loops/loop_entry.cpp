#include "passes/loops/loop_entry.h"

#include <algorithm>

#include "passes/manager/pipeline.h"

namespace ptxopt {

bool isFallenInto(const Module& module, const Function& f, const Cfg& cfg, const Loops& loops, LoopId l) {
  const BlockId header = loops[l].header, entry = loops.entry(cfg, l);
  const auto& roots = cfg.roots();
  if (!entry.valid() || entry.value + 1 != header.value || std::ranges::find(roots, header) != roots.end())
    return false;
  if (f[cfg[header].first].kind != InstrKind::Label) return false;
  const Instruction& last = f[cfg[entry].last];
  if (!last.isInstruction() || !module.form(last).is(effect::kControl | effect::Unknown)) return true;
  return last.is(Instruction::Guarded) && module.form(last).effects == effect::Branch &&
         std::ranges::none_of(f.operandsOf(last), [&](const Operand& o) {
           return o.kind == OperandKind::Label && cfg.blockOf(f.labels[o.payload].place) == header;
         });
}

namespace {

uint32_t saidIterations(const KernelFacts& facts, const Function& f, LabelId label) {
  const uint32_t own = facts.iterationsOf(label);
  const Label& made = f.labels[label.value];
  if (own != 0 || !made.copyOf.valid() || made.copyFrom != f.index) return own;
  for (const LoopFact& l : facts.loops)
    if (f.labels[l.header.value].name == made.copyOf) return l.iterations;
  return 0;
}

}  // namespace

uint32_t saidIterations(const Module& module, const Function& f, const Cfg& cfg, BlockId header) {
  const KernelFacts* const facts = module.factsOf(f);
  if (facts == nullptr) return 0;
  uint32_t most = 0;
  for (InstrId id = cfg[header].first; f[id].kind == InstrKind::Label; id = f[id].next) {
    most = std::max(most, saidIterations(*facts, f, LabelId(f[id].payload)));
    if (id == cfg[header].last) break;
  }
  return most;
}

bool isSaidToIterateLess(const Module& module, const Function& f, const Cfg& cfg, BlockId header, uint32_t than) {
  const uint32_t said = saidIterations(module, f, cfg, header);
  return said != 0 && said < than;
}

std::string_view whyIteratesSeldom(const Module& module, const Function& f, const Cfg& cfg, BlockId header) {
  const KernelFacts* const facts = module.factsOf(f);
  if (facts == nullptr || !facts->hasIterations()) return {};
  const uint32_t said = saidIterations(module, f, cfg, header);
  return said == 0 ? "no-hint" : said < kManyIterations ? "few-iterations" : "";
}

}  // namespace ptxopt
