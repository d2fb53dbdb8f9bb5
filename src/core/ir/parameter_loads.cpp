#include "ir/parameter_loads.h"

#include <algorithm>

#include "ir/opcode_predicates.h"

namespace ptxopt {

std::optional<LoadedPart> loadedPart(const Module& module, const Function& f, const Instruction& load) {
  if (!load.isInstruction() || f.hidesNames) return std::nullopt;
  const OpcodeForm& form = module.form(load);
  if (!isParameterLoad(form) || form.vector != 1) return std::nullopt;
  const auto operands = f.operandsOf(load);
  // The register, then `[`, then what is in it: the name, perhaps a number.
  const std::size_t first = load.is(Instruction::Guarded) ? 1 : 0;
  if (operands.size() < first + 3) return std::nullopt;
  const Operand &bracket = operands[first + 1], &name = operands[first + 2];
  if (bracket.kind != OperandKind::Memory || operands.size() != first + 2 + bracket.payload ||
      name.kind != OperandKind::Variable || name.flags != 0)
    return std::nullopt;
  std::optional<uint64_t> offset = 0;
  if (bracket.payload == 2 && operands.back().join == Join::Plus) offset = immediate(f, operands.back());
  if (bracket.payload > 2 || (bracket.payload == 2 && operands.back().join != Join::Plus) || !offset ||
      *offset > UINT32_MAX)
    return std::nullopt;
  const auto found = std::ranges::find(f.parameters, VariableId(name.payload));
  if (found == f.parameters.end()) return std::nullopt;
  return LoadedPart{static_cast<std::size_t>(found - f.parameters.begin()), static_cast<uint32_t>(*offset),
                    info(form.type).bits / 8u};
}

std::optional<std::size_t> wholeParameter(const Module& module, const Function& f, const Instruction& load) {
  if (!load.isInstruction() || f.hidesNames) return std::nullopt;
  const OpcodeForm& form = module.form(load);
  if (!isParameterLoad(form) || form.vector != 1) return std::nullopt;
  const auto operands = f.operandsOf(load);
  // The register, then `[`, then what is in it: the name alone.
  if (operands.size() < 3 || operands.back().kind != OperandKind::Variable) return std::nullopt;
  const Operand& bracket = operands[operands.size() - 2];
  if (bracket.kind != OperandKind::Memory || bracket.payload != 1) return std::nullopt;
  const auto found = std::ranges::find(f.parameters, VariableId(operands.back().payload));
  if (found == f.parameters.end()) return std::nullopt;
  const Variable& v = f.variables[found->value];
  const DeclarationForm& declared = module.declarationForms[v.form];
  const bool isWhole =
      v.declarator.dimensions.empty() && declared.lanes == 1 && info(declared.type).bits == info(form.type).bits;
  return isWhole ? std::optional(static_cast<std::size_t>(found - f.parameters.begin())) : std::nullopt;
}

}  // namespace ptxopt
