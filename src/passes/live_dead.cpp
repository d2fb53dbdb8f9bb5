// live-dead: removes what no execution needs.
//
// What:       blocks that nothing reaches; instructions without an effect whose results nothing needs, with all
// that
//             only fed them, cycles included (a loop counter that only counts).
// Algorithm:  reachability on the CFG, then one solution of `Needed` liveness (liveness.h), then one backward walk
// of each
//             block. One solution is enough: removing what is not needed does not change what is.
// Keeps:      whatever isRemovable() does not vouch for: stores, atomics, calls, barriers, convergent and volatile
//             operations, opcodes not in the table. Labels that are named anywhere, declarations, scopes.
//             A `.pragma "used_bytes_mask ..."` goes with the load it describes.
// Machine code of ptxas: identical (it removes the same itself).
// Cost:       that of liveness.
// Declines:   too-large: liveness would take more memory than knob liveness-memory-mb allows.
#include <vector>

#include "passes/pass.h"

namespace ptxopt {
namespace {

// The pragma that describes the load behind it, if one stands directly before `id`.
InstrId boundPragma(const Module& module, const Function& f, InstrId id) {
  InstrId p = f[id].previous;
  while (p.valid() && f[p].kind == InstrKind::Loc) p = f[p].previous;
  const bool bound = p.valid() && f[p].kind == InstrKind::Pragma &&
                     module.text(NameId(f[p].payload)).find("used_bytes_mask") != std::string_view::npos;
  return bound ? p : InstrId();
}

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

struct Removed {
  bool any = false;  // also labels, pragmas and the like
  std::size_t instructions = 0;
};

Removed removeUnreachable(Function& f, PassContext& context) {
  const Cfg& cfg = context.analyses.cfg();
  Removed removed;
  const auto isUnreachable = [&](InstrId id) { return !cfg[cfg.blockOf(id)].reachable; };
  const auto erase = [&](InstrId id) {
    f.erase(id);
    removed.any = true;
  };
  for (const InstrId id : f) {
    const InstrKind kind = f[id].kind;
    if (!isUnreachable(id)) continue;
    removed.instructions += kind == InstrKind::Instruction;
    if (kind == InstrKind::Instruction || kind == InstrKind::Loc || kind == InstrKind::Pragma) erase(id);
  }
  const std::vector<bool> used = usedLabels(context.module, f);
  for (const InstrId id : f)
    if (f[id].kind == InstrKind::Label && isUnreachable(id) && !used[f[id].payload]) erase(id);
  return removed;
}

std::size_t removeDead(Function& f, PassContext& context) {
  const Cfg& cfg = context.analyses.cfg();
  const Liveness& liveness = context.analyses.liveness(Liveness::Strength::Needed);
  if (!liveness.solved()) {
    context.decline("too-large", "the bits of liveness need more memory than liveness-memory-mb allows");
    return 0;
  }
  std::vector<InstrId> dead;
  Liveness::Walk walk(liveness);
  for (uint32_t b = 0; b < cfg.size(); ++b) {
    const Block& block = cfg[BlockId(b)];
    if (!block.reachable) continue;
    walk.startAtEnd(BlockId(b));
    for (InstrId id = block.last; id.valid(); id = id == block.first ? InstrId() : f[id].previous) {
      if (walk.writesLive(f[id]) || !isRemovable(context.module, f, f[id]))
        walk.before(f[id]);
      else
        dead.push_back(id);
    }
  }
  // Only now: blocks and liveness speak of the list as it was.
  for (const InstrId id : dead) {
    if (const InstrId pragma = boundPragma(context.module, f, id); pragma.valid()) f.erase(pragma);
    f.erase(id);
  }
  return dead.size();
}

}  // namespace

bool liveDead(Function& f, PassContext& context) {
  if (!context.analyses.cfg().complete()) {
    context.decline("too-large", "the control-flow graph has too many edges");
    return false;
  }
  Removed unreachable;
  if (context.knobs["remove-unreachable"] != 0) {
    unreachable = removeUnreachable(f, context);
    if (unreachable.any) context.analyses.invalidate();
  }
  const std::size_t dead = removeDead(f, context);
  context.count("unreachable", unreachable.instructions);
  context.count("dead", dead);
  return unreachable.any || dead != 0;
}

}  // namespace ptxopt
