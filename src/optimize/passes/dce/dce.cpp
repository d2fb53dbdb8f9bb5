// dce: removes what no execution needs.
//
// What:       blocks that nothing reaches; instructions without an effect whose results nothing needs, with all
//             that only fed them, cycles included (a loop counter that only counts).
// Algorithm:  reachability on the CFG, then one solution of `Needed` liveness (liveness.h), then one backward walk
//             of each block. One solution is enough: removing what is not needed does not change what is. Only when
//             an instruction goes that held the address of a label, which may have kept a block reachable, all is
//             done once more.
// Keeps:      whatever isRemovable() does not vouch for: stores, atomics, calls, barriers, convergent and volatile
//             operations, opcodes not in the table. Labels that are named anywhere, declarations, scopes.
//             A `.pragma "used_bytes_mask ..."` goes with the load it describes.
// Machine code of ptxas: identical (it removes the same itself).
// Cost:       that of liveness.
// Declines:   too-large: the control-flow graph has too many edges, or liveness would take more memory than knob
//             liveness-memory-mb allows.
#include <algorithm>
#include <vector>

#include "passes/util/erase_dead.h"

namespace ptxopt {
namespace {

// Labels that something names: an instruction, a list of targets, a debug section.
std::vector<bool> usedLabels(const Module& module, const Function& f) {
  std::vector<bool> used(f.labels.size());
  for (const InstrId id : f)
    for (const Operand& o : f.operandsOf(f[id]))
      if (o.kind == OperandKind::Label) used[o.payload] = true;
  const LabelTables tables(f);
  for (std::size_t l = 0; l < f.labels.size(); ++l)
    if (module.isNamedInSection(f.labels[l].name) || tables.has(LabelId(l))) used[l] = true;
  return used;
}

// Whether an instruction uses a label as a value.
bool holdsLabel(const Module& module, const Function& f, const Instruction& i) {
  if (module.form(i).is(effect::Branch | effect::IndirectBranch)) return false;
  const auto operands = f.operandsOf(i);
  return std::any_of(operands.begin(), operands.end(),
                     [](const Operand& o) { return o.kind == OperandKind::Label; });
}

struct Removed {
  bool any = false;         // also labels, pragmas and the like
  bool namedLabel = false;  // an instruction that held the address of a label
  std::size_t instructions = 0;
};

Removed removeUnreachable(Function& f, PassContext& context) {
  const Cfg& cfg = context.analyses.cfg();
  Removed removed;
  bool isAllReachable = true;
  for (uint32_t b = 0; b < cfg.size(); ++b) isAllReachable = isAllReachable && cfg[BlockId(b)].reachable;
  if (isAllReachable) return removed;
  const auto isUnreachable = [&](InstrId id) { return !cfg[cfg.blockOf(id)].reachable; };
  const auto erase = [&](InstrId id) {
    f.erase(id);
    removed.any = true;
  };
  for (const InstrId id : f) {
    const InstrKind kind = f[id].kind;
    if (!isUnreachable(id)) continue;
    removed.instructions += kind == InstrKind::Instruction;
    removed.namedLabel |= kind == InstrKind::Instruction && holdsLabel(context.module, f, f[id]);
    if (kind == InstrKind::Instruction || kind == InstrKind::Loc || kind == InstrKind::Pragma) erase(id);
  }
  const std::vector<bool> used = usedLabels(context.module, f);
  for (const InstrId id : f)
    if (f[id].kind == InstrKind::Label && isUnreachable(id) && !used[f[id].payload]) erase(id);
  return removed;
}

// `isAllGone`: whether nothing is left that is not needed.
DeadInstructions::Erased removeDead(Function& f, PassContext& context, bool& isAllGone) {
  isAllGone = false;
  const Cfg& cfg = context.analyses.cfg();
  const Liveness& liveness = context.analyses.liveness(Liveness::Strength::Needed);
  if (!liveness.solved()) {
    context.decline("too-large", "the bits of liveness need more memory than liveness-memory-mb allows");
    return {};
  }
  std::vector<BlockId> blocks;
  isAllGone = true;
  for (uint32_t b = 0; b < cfg.size(); ++b) {
    if (!liveness.mayHaveUnneeded(BlockId(b))) continue;
    if (cfg[BlockId(b)].reachable) blocks.push_back(BlockId(b));
    isAllGone &= cfg[BlockId(b)].reachable;
  }
  DeadInstructions::Erased erased;
  if (!blocks.empty()) {
    DeadInstructions dead(context.module, f);
    Liveness::Walk walk(liveness);
    for (const BlockId b : blocks) {
      walk.startAtEnd(b);
      dead.collect(cfg[b], walk);
    }
    erased = dead.erase();
  }
  if (isAllGone) context.analyses.removedUnneeded();
  return erased;
}

}  // namespace

bool dce(Function& f, PassContext& context) {
  if (!context.hasUsableGraph()) return false;
  std::size_t unreachable = 0, dead = 0;
  bool changed = false, isAllGone = false;
  // More than once only where a dead instruction held the address of a label.
  for (bool again = true; again;) {
    again = false;
    if (context.knobs[Knob::RemoveUnreachable] != 0) {
      const Removed removed = removeUnreachable(f, context);
      unreachable += removed.instructions;
      changed |= removed.any;
      again |= removed.namedLabel;
      if (removed.any) context.analyses.invalidate();
    }
    const DeadInstructions::Erased erased = removeDead(f, context, isAllGone);
    dead += erased.instructions;
    changed |= erased.instructions != 0;
    again |= erased.namedLabel;
    if (again) context.analyses.invalidate();
  }
  if (isAllGone) context.preserved = {AnalysisId::PlainLiveness};
  context.count("unreachable", unreachable);
  context.count("dead", dead);
  return changed;
}

}  // namespace ptxopt
