#include "verify/field_facts.h"

namespace ptxopt::verify {

const exec::KernelParameter* FieldContext::parameterOf(const Function& f, const Operand& o) const {
  const std::string_view name = module.text(f.variables[o.payload].name);
  for (const auto& p : program.parameters())
    if (p.name == name) return &p;
  return nullptr;
}

const Variable* FieldContext::sharedVariable(const Operand& o) const {
  if (o.kind != OperandKind::Symbol || module.symbols[o.payload].kind != SymbolKind::Variable) return nullptr;
  const Variable& v = module.variables[module.symbols[o.payload].index];
  if (!v.declarator.initializer.empty()) return nullptr;
  const DeclaredSpace space = module.declarationForms[v.form].space;
  return space == DeclaredSpace::Global || space == DeclaredSpace::Const ? &v : nullptr;
}

bool FieldContext::isFilledByHost(const Variable& v) const {
  return v.declarator.initializer.empty() && module.declarationForms[v.form].space == DeclaredSpace::Const;
}

std::span<const Operand> withoutGuard(const Function& f, const Instruction& i) {
  const auto o = f.operandsOf(i);
  return i.is(Instruction::Guarded) ? o.subspan(1) : o;
}

FieldAddress addressOf(std::span<const Operand> operands, std::size_t memory) {
  FieldAddress a;
  const std::size_t n = operands[memory].inside();
  if (n == 0) return a;
  a.base = &operands[memory + 1];
  if (n < 2 || operands[memory + 2].kind != OperandKind::Integer) return a;
  const Operand& constant = operands[memory + 2];
  a.offset = static_cast<int32_t>(constant.payload) * (constant.join == Join::Minus ? -1 : 1);
  return a;
}

}  // namespace ptxopt::verify
