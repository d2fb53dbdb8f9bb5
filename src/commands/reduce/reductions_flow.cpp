// Control flow: blocks emptied, branches removed, always taken, or led elsewhere. What becomes unreachable by that
// goes too; what was unreachable before stays, since it may be what the user's command looks for.
#include "analysis/dataflow/cfg.h"
#include "reduce/reductions.h"

namespace ptxopt::reduce {
namespace {

bool isStatementOfBlock(const Instruction& i) {
  return i.isInstruction() || i.kind == InstrKind::Loc || i.kind == InstrKind::Pragma;
}

// Runs `change` on each function and removes what it made unreachable. `change` gets the graph from before.
template <typename Change>
void changeFlow(Edit& edit, Change change) {
  for (Function& f : edit.module.functions) {
    if (!f.hasBody) continue;
    const Cfg before(edit.module, f);
    if (!before.complete()) continue;
    if (!change(f, before)) continue;
    const Cfg after(edit.module, f);
    if (!after.complete()) continue;
    std::vector<InstrId> unreachable;
    for (const InstrId id : f)
      if (isStatementOfBlock(f[id]) && before[before.blockOf(id)].reachable && !after[after.blockOf(id)].reachable)
        unreachable.push_back(id);
    for (const InstrId id : unreachable) f.erase(id);
  }
}

// The same for changes of single instructions: those for which `wanted` holds are opportunities.
template <typename Wanted, typename Change>
void changeInstructions(Edit& edit, Choices& choices, Wanted wanted, Change change) {
  changeFlow(edit, [&](Function& f, const Cfg&) {
    bool any = false;
    for (const InstrId id : f) {
      if (!f[id].isInstruction() || !wanted(f, f[id]) || !choices.take()) continue;
      change(f, id);
      any = true;
    }
    return any;
  });
}

bool isPlainJump(const Module& m, const Function& f, InstrId id) {
  const Instruction& i = f[id];
  return i.isInstruction() && m.form(i).is(effect::Branch) && !i.is(Instruction::Guarded) && i.operandCount == 1 &&
         f.operandsOf(i)[0].kind == OperandKind::Label;
}

// The jump that stands first after a label, or none.
InstrId jumpAt(const Module& m, const Function& f, LabelId label) {
  InstrId id = f.labels[label.value].place;
  while (id.valid() && (f[id].kind == InstrKind::Label || f[id].kind == InstrKind::Loc)) id = f[id].next;
  return id.valid() && isPlainJump(m, f, id) ? id : InstrId();
}

}  // namespace

void emptyBlocks(Edit& edit, Choices& choices) {
  changeFlow(edit, [&](Function& f, const Cfg& cfg) {
    std::vector<bool> emptied(cfg.size()), hasInstruction(cfg.size());
    for (const InstrId id : f)
      if (f[id].isInstruction()) hasInstruction[cfg.blockOf(id).value] = true;
    bool any = false;
    for (std::size_t b = 0; b < cfg.size(); ++b)
      if (hasInstruction[b] && choices.take()) any = emptied[b] = true;
    for (const InstrId id : f)
      if (emptied[cfg.blockOf(id).value] && isStatementOfBlock(f[id])) f.erase(id);
    return any;
  });
}

void dropBranches(Edit& edit, Choices& choices) {
  changeInstructions(
      edit, choices,
      [&](const Function&, const Instruction& i) {
        return edit.module.form(i).is(effect::Branch | effect::IndirectBranch);
      },
      [&](Function& f, InstrId id) { f.erase(id); });
}

// Guarded ones, and guarded returns and exits: without their guard.
void takeBranchesAlways(Edit& edit, Choices& choices) {
  changeInstructions(
      edit, choices,
      [&](const Function&, const Instruction& i) {
        return i.is(Instruction::Guarded) && edit.module.form(i).is(effect::kControl);
      },
      [&](Function& f, InstrId id) { edit.dropGuard(f, id); });
}

// `brx.idx %r, L` to a `bra` to one of the targets.
void directIndirectBranches(Edit& edit, Choices& choices) {
  changeFlow(edit, [&](Function& f, const Cfg&) {
    bool any = false;
    const LabelTables tables(f);
    for (const InstrId id : f) {
      const Instruction i = f[id];
      if (!i.isInstruction() || !edit.module.form(i).is(effect::IndirectBranch)) continue;
      const auto operands = f.operandsOf(i);
      if (operands.empty() || operands.back().kind != OperandKind::Label) continue;
      bool done = false;
      const auto targets = tables.targets(f, LabelId(operands.back().payload));
      const std::vector<Operand> copies(targets.begin(), targets.end());
      for (const Operand& target : copies) {
        if (!choices.take() || done || target.kind != OperandKind::Label) continue;
        std::vector<Operand> now;
        if (i.is(Instruction::Guarded)) now.push_back(f.operandsOf(i)[0]);
        now.push_back({.kind = OperandKind::Label, .payload = target.payload});
        edit.setOperands(f, id, now);
        edit.setOpcode(f, id, "bra");
        any = done = true;
      }
    }
    return any;
  });
}

// A branch to a jump goes where that leads.
void threadJumps(Edit& edit, Choices& choices) {
  const Module& m = edit.module;
  changeFlow(edit, [&](Function& f, const Cfg&) {
    struct Change {
      InstrId id;
      uint32_t operand, label;
    };
    std::vector<Change> changes;
    for (const InstrId id : f) {
      if (!f[id].isInstruction() || !m.form(f[id]).is(effect::Branch)) continue;
      const auto operands = f.operandsOf(f[id]);
      for (uint32_t k = 0; k < operands.size(); ++k) {
        if (operands[k].kind != OperandKind::Label) continue;
        const InstrId jump = jumpAt(m, f, LabelId(operands[k].payload));
        if (!jump.valid() || jump == id) continue;
        const uint32_t label = f.operandsOf(f[jump])[0].payload;
        // Two jumps in a circle would be led in circles for ever.
        if (label != operands[k].payload && !jumpAt(m, f, LabelId(label)).valid() && choices.take())
          changes.push_back({id, k, label});
      }
    }
    for (const Change& c : changes) {
      f.operandsOf(f[c.id])[c.operand].payload = c.label;
      f.touch(c.id);
    }
    return !changes.empty();
  });
}

}  // namespace ptxopt::reduce
