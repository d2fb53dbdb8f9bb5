#include "passes/util/parameter_values.h"

#include <algorithm>

#include "ir/register_types.h"
#include "passes/addressing/address_opcodes.h"

namespace ptxopt {
namespace {
constexpr unsigned kMostCopiesAfterLoad = 4;  // between a load and the register
}

bool isParameterValue(const Module& module, const Function& f, RegId reg,
                      const std::function<InstrId(RegId)>& definition) {
  for (unsigned k = 0; k <= kMostCopiesAfterLoad; ++k) {
    const InstrId id = definition(reg);
    if (!id.valid() || f[id].is(Instruction::Guarded)) return false;
    const OpcodeForm& form = module.form(f[id]);
    const auto operands = f.operandsOf(f[id]);
    if (operands.empty() || !isIntegerRegister(f, operands[0], 64)) return false;
    if (form.op == Op::Ld)
      return isParameterLoad(form) && form.effects == effect::Read && form.vector == 1 && operands.size() >= 2 &&
             info(form.type).bits == 64 &&
             std::ranges::none_of(operands.subspan(1), [](const Operand& o) { return o.isRegister(); });
    const bool isCopy = isMove64(form) || (form.op == Op::Cvta && form.space == StateSpace::Global);
    if (!isCopy || operands.size() != 2 || !operands[1].isRegister() || operands[1].flags != 0) return false;
    reg = operands[1].reg();
  }
  return false;
}

}  // namespace ptxopt
