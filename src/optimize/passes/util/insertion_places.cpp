#include "passes/util/insertion_places.h"

#include "ir/pragmas.h"

namespace ptxopt {

namespace {

bool isControl(const Module& module, const Instruction& i) { return module.form(i).is(effect::kControl); }

}  // namespace

InstrId placeBefore(const Module& module, const Function& f, InstrId id) {
  const InstrId pragma = usedBytesMaskOf(module, f, id);
  return pragma.valid() ? pragma : id;
}

InstrId placeAtStart(const Module& module, const Function& f, const Block& block) {
  const bool isEntry = !f[block.first].previous.valid();
  const auto comesBefore = [&](const Instruction& i) {
    return i.kind == InstrKind::Label || (i.kind == InstrKind::Pragma && !isUsedBytesMask(module, i)) ||
           (isEntry && (i.kind == InstrKind::Declaration || i.kind == InstrKind::Loc));
  };
  InstrId id = block.first;
  while (comesBefore(f[id]) && id != block.last) id = f[id].next;
  return comesBefore(f[id]) ? f[id].next : id;
}

InstrId placeAtEnd(const Module& module, const Function& f, const Block& block) {
  for (InstrId id = block.last;; id = f[id].previous) {
    if (f[id].isInstruction()) return isControl(module, f[id]) ? id : f[id].next;
    if (f[id].kind == InstrKind::Label || id == block.first) return placeAtStart(module, f, block);
  }
}

bool placeBetween(const Module& module, const Function& f, const Cfg& cfg, BlockId from, BlockId to,
                  InstrId& place) {
  if (to.value != from.value + 1) return false;
  const Instruction& last = f[cfg[from].last];
  if (!last.isInstruction() || !last.is(Instruction::Guarded) ||
      module.form(last).is(effect::IndirectBranch | effect::Unknown))
    return false;
  for (const Operand& o : f.operandsOf(last))
    if (o.kind == OperandKind::Label && cfg.blockOf(f.labels[o.payload].place) == to) return false;
  place = last.next;
  return true;
}

}  // namespace ptxopt
