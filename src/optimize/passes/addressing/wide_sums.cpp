// Definitions are followed through up to four copies that cost nothing. A product counts as added in the loop where
// both are in one loop; one from outside counts only if all its readers are additions.
#include "passes/addressing/wide_sums.h"

#include <algorithm>

#include "passes/addressing/address_opcodes.h"

namespace ptxopt {
namespace {
constexpr unsigned kMostCopiesOfSum = 4;
}

WideSums::Definition WideSums::definition(RegId reg, ValueId v) const {
  const ValueRanges& ranges = context_.analyses.valueRanges();
  for (unsigned copies = 0; copies < kMostCopiesOfSum && v.valid(); ++copies) {
    const InstrId id = ranges.definition(reg, v);
    if (!id.valid()) return {};
    const auto operands = f_.operandsOf(f_[id]);
    if (!isFreeCopy(context_.module.form(f_[id])) || operands.size() != 2 || !operands[1].isRegister())
      return {id, reg};
    reg = operands[1].reg();
    v = ranges.valueRead(reg, id);
  }
  return {};
}

WideSums::Place WideSums::productAdded(const Operand& o, InstrId at) const {
  if (!o.isRegister() || !isAddition(context_.module.form(f_[at]))) return Place::None;
  const Definition made = definition(o.reg(), context_.analyses.valueRanges().valueRead(o.reg(), at));
  if (!made.instruction.valid() || !isWideProduct(context_.module.form(f_[made.instruction]))) return Place::None;
  const Cfg& cfg = context_.analyses.cfg();
  const Loops& loops = context_.analyses.loops();
  if (loops.of(cfg.blockOf(made.instruction)) == loops.of(cfg.blockOf(at))) return Place::InLoop;
  return isOnlyAdded(made.reg, 0) ? Place::Outside : Place::None;
}

// Whether sums of 64 bits are all that reads a register, through copies of it.
bool WideSums::isOnlyAdded(RegId reg, unsigned copies) const {
  return std::ranges::all_of(expander_.occurrences().of(reg), [&](const Occurrence& o) {
    if (!o.reads) return true;
    const OpcodeForm& form = context_.module.form(f_[o.instruction]);
    if (isAddition(form)) return true;
    const auto operands = f_.operandsOf(f_[o.instruction]);
    return isFreeCopy(form) && operands.size() == 2 && operands[0].isRegister() && copies < kMostCopiesOfSum &&
           isOnlyAdded(operands[0].reg(), copies + 1);
  });
}

bool WideSums::isReadOutside(RegId reg, ValueId value, LoopId loop) const {
  const SlotIndexes& slots = context_.analyses.slotIndexes();
  const LiveRange& range = context_.analyses.liveIntervals()[reg];
  return std::ranges::any_of(expander_.occurrences().of(reg), [&](const Occurrence& o) {
    return o.reads && range.valueIn(slots[o.instruction]) == value &&
           !context_.analyses.loops().contains(loop, context_.analyses.cfg().blockOf(o.instruction));
  });
}

bool WideSums::startsAligned(RegId reg, LoopId loop) const {
  const Module& module = context_.module;
  const ValueRanges& ranges = context_.analyses.valueRanges();
  const BlockId entry = context_.analyses.loops().entry(context_.analyses.cfg(), loop);
  if (!entry.valid()) return false;
  // A start that something else reads as well lives on beside the pointer, and is copied.
  const ValueId first = context_.analyses.liveIntervals()[reg].valueAt(context_.analyses.slotIndexes().last(entry));
  if (!first.valid() || isReadOutside(reg, first, loop)) return false;
  const InstrId id = definition(reg, first).instruction;
  if (!id.valid()) return false;
  const OpcodeForm& form = module.form(f_[id]);
  if (form.op == Op::Ld || form.op == Op::Mov || isWideProduct(form)) return true;
  if (form.op != Op::Add) return false;
  for (const Operand& o : f_.operandsOf(f_[id])) {
    if (!o.isRegister() || !o.reads()) continue;
    const Definition source = definition(o.reg(), ranges.valueRead(o.reg(), id));
    if (!source.instruction.valid() || !isWideProduct(module.form(f_[source.instruction]))) continue;
    // A product that others read as well is made by itself, and added like any other number.
    const RegId product = f_.operandsOf(f_[source.instruction])[0].reg();
    if (std::ranges::count_if(expander_.occurrences().of(product), [](const Occurrence& x) { return x.reads; }) ==
        1)
      return true;
  }
  return false;
}

}  // namespace ptxopt
