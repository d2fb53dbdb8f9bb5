// Phis are collected for all blocks at once. Uses of a loop's own blocks are hashed by space and by address without its
// constant, and each hash entry is a group.
#include "passes/addressing/loop_uses.h"

#include <algorithm>
#include <unordered_map>

namespace ptxopt {

std::vector<std::vector<InductionVariable>> findPhis(const Cfg& cfg, const SlotIndexes& slots,
                                                     const LiveIntervals& intervals) {
  std::vector<std::vector<InductionVariable>> phis(cfg.size());
  for (uint32_t r = 0; r < intervals.size(); ++r) {
    const auto& values = intervals[RegId(r)].values();
    for (uint32_t v = 0; v < values.size(); ++v)
      if (values[v].kind == ValueKind::Phi)
        phis[slots.blockAt(values[v].def).value].push_back({RegId(r), ValueId(v), ExprId()});
  }
  return phis;
}

LoopUses collectUses(const Function& f, PassContext& context, LoopId loop,
                     std::span<const InductionVariable> phis) {
  LoopUses all;
  ScalarEvolution& evolution = context.analyses.scalarEvolution();
  ScevExpressions& e = evolution.expressions();
  const Cfg& cfg = context.analyses.cfg();
  const Loops& loops = context.analyses.loops();
  for (const InductionVariable& phi : phis)
    if (const ExprId expr = evolution.of(phi.reg, phi.phi); expr.valid() && e.isRecurrence(expr, loop))
      all.ivs.push_back({phi.reg, phi.phi, expr});

  std::unordered_map<uint64_t, std::vector<uint32_t>> byStart;
  for (const BlockId b : loops.blocks(loop)) {
    if (loops.of(b) != loop || !cfg[b].reachable) continue;
    for (const InstrId id : context.analyses.slotIndexes().instructions(b)) {
      const Instruction& i = f[id];
      for (const AddressOperand& a : addressOperands(context.module, f, i)) {
        const uint32_t operand = i.firstOperand + a.operand;
        const ExprId address = evolution.read(f.operands[operand].reg(), id);
        if (!address.valid() || e.isInvariant(address, loop)) continue;
        if (!e.isRecurrence(address, loop)) {
          ++all.otherAddresses;
          continue;
        }
        const uint8_t width = e[address].width;
        const ExprId base = e.withoutConstant(address);
        const ExprId start = e[base].start(), step = e[base].step();
        const int64_t offset = signedAt(e.constantPart(address), width) + a.immediate;
        const uint64_t key = uint64_t{start.value} << 32 | step.value;
        std::vector<uint32_t>& known = byStart[key];
        const auto group = std::ranges::find_if(
            known, [&](uint32_t g) { return all.groups[g].space == a.space && all.groups[g].width == width; });
        uint32_t g = 0;
        if (group == known.end()) {
          g = static_cast<uint32_t>(all.groups.size());
          known.push_back(g);
          all.groups.push_back({a.space, width, start, step, {}, offset, offset});
        } else {
          g = *group;
        }
        UseGroup& to = all.groups[g];
        to.uses.push_back({id, operand, address, a.immediate});
        to.least = std::min(to.least, offset);
        to.most = std::max(to.most, offset);
      }
    }
  }
  return all;
}

}  // namespace ptxopt
