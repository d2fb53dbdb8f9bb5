// The number that a source operand holds: in the text, or in a register whose value one mov of a number made.
// Cost: logarithmic in the segments of the register's live range.
#pragma once

#include <optional>

#include "analysis/live_intervals.h"
#include "analysis/plain_operands.h"
#include "analysis/scev_instructions.h"

namespace ptxopt {

inline std::optional<uint64_t> constantOperand(const Module& module, const Function& f, const SlotIndexes& slots,
                                               const LiveIntervals& intervals, const Operand& o, InstrId at) {
  if (!o.isRegister()) return immediate(f, o);
  if (o.flags != 0) return std::nullopt;
  const LiveRange& range = intervals[o.reg()];
  const ValueId v = range.valueIn(slots[at]);
  if (!v.valid() || range[v].kind != ValueKind::Instruction || range[v].isPartial) return std::nullopt;
  const InstrId id = slots.instructionAt(range[v].def);
  const OpcodeForm& form = module.form(f[id]);
  if (form.row == nullptr || form.row->key != "mov" || f[id].is(Instruction::Guarded)) return std::nullopt;
  const PlainOperands operands(f.operandsOf(f[id]));
  const Operand* const source = operands.size() == 2 ? operands.single(1) : nullptr;
  const Operand* const to = operands.size() == 2 ? operands.single(0) : nullptr;
  return source != nullptr && to != nullptr && to->isRegister() ? immediate(f, *source) : std::nullopt;
}

}  // namespace ptxopt
