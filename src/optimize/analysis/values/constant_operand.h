// The number that a source operand holds: in the text, or in a register whose value one mov of a number made;
// the register has its lowest bits, which are sign-extended here. A number in the text is as it stands there: the
// instruction takes as many bits of it as its operand has. Cost: logarithmic in the segments of the register's live
// range.
#pragma once

#include <algorithm>
#include <optional>

#include "analysis/dataflow/live_intervals.h"
#include "analysis/values/plain_operands.h"
#include "analysis/values/scev_instructions.h"

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
  if (form.op != Op::Mov || f[id].is(Instruction::Guarded)) return std::nullopt;
  const PlainOperands operands(f.operandsOf(f[id]));
  const Operand* const source = operands.size() == 2 ? operands.single(1) : nullptr;
  const Operand* const to = operands.size() == 2 ? operands.single(0) : nullptr;
  if (source == nullptr || to == nullptr || !to->isRegister() || to->reg() != o.reg()) return std::nullopt;
  const auto bits = immediate(f, *source);
  const unsigned above = 64 - std::min(info(f.registers[o.payload].type).bits, 64u);
  return bits ? std::optional(static_cast<uint64_t>(static_cast<int64_t>(*bits << above) >> above)) : bits;
}

}  // namespace ptxopt
