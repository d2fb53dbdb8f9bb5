#include <bit>
#include <cmath>

#include "verify/field_facts.h"

namespace ptxopt::verify {
namespace {

void noteSpecialRegister(std::string_view name, ShapeUse& use) {
  const bool ofBlock = name.ends_with("tid.y") || name.ends_with("tid.z");
  use.gridX = use.gridX || name.ends_with("ctaid.x");
  (ofBlock ? use.y : use.gridY) |= name.ends_with(".y");
  (ofBlock ? use.z : use.gridZ) |= name.ends_with(".z");
}

bool isDynamicShared(const Module& module, const Function& f, const Operand& o) {
  const Variable* v = o.kind == OperandKind::Variable ? &f.variables[o.payload] : nullptr;
  if (o.kind == OperandKind::Symbol && module.symbols[o.payload].kind == SymbolKind::Variable)
    v = &module.variables[module.symbols[o.payload].index];
  return v != nullptr && v->declarator.elements == 0 &&
         module.text(module.declarationForms[v->form].space) == "shared";
}

void noteOpcode(const OpcodeForm& form, std::string_view text, FieldFacts& facts) {
  if (text.starts_with("wgmma") || text.find(".shared") != std::string_view::npos) facts.usesShared = true;
  if (text.starts_with("bar") || text.starts_with("mbarrier")) facts.shape.barrier = true;
  if (text.starts_with("wgmma")) facts.shape.warpGroup = true;
  if (form.is(effect::Convergent) && !text.starts_with("bar")) facts.shape.warp = true;
}

bool takesConstants(std::string_view text) {
  return text.starts_with("setp") || text.starts_with("min.") || text.starts_with("max.") ||
         text.starts_with("set.") || text.starts_with("mov.");
}

void noteLiteral(const Function& f, const Operand& o, FieldFacts& facts) {
  const auto number = [&](double x) {
    if (!std::isnan(x)) facts.numbers.insert(x);
  };
  if (o.kind == OperandKind::Integer) facts.integers.insert(static_cast<int32_t>(o.payload));
  if (o.kind == OperandKind::WideInteger) facts.integers.insert(static_cast<int64_t>(f.constants[o.payload]));
  if (o.kind == OperandKind::Float32) number(std::bit_cast<float>(o.payload));
  if (o.kind == OperandKind::Float64 || o.kind == OperandKind::Decimal)
    number(std::bit_cast<double>(f.constants[o.payload]));
}

}  // namespace

void collectReads(const FieldContext& context, const Function& f, FieldFacts& facts) {
  FunctionFacts& s = facts.functions.at(&f);
  for (const InstrId id : f) {
    const Instruction& i = f[id];
    if (!i.isInstruction()) continue;
    const OpcodeForm& form = context.module.form(i);
    const std::string_view text = context.module.text(form.text);
    const bool compares = takesConstants(text);
    std::size_t inAddress = 0;
    for (const Operand& o : withoutGuard(f, i)) {
      if (compares && o.kind == OperandKind::Integer && o.payload >= 2 && o.payload <= kMostConstant)
        facts.constants.insert(o.payload);
      if (compares) noteLiteral(f, o, facts);
      if (o.kind == OperandKind::Memory) inAddress = o.inside() + 1;
      if (inAddress > 0) {
        --inAddress;
      } else if (o.isRegister()) {
        if (o.reads()) ++s.usedAs[o.payload][form.sourceType];
        if (o.writes()) ++s.usedAs[o.payload][form.type];
      }
      if (o.kind == OperandKind::SpecialRegister)
        noteSpecialRegister(context.module.text(NameId(o.payload)), facts.shape);
      if (isDynamicShared(context.module, f, o)) facts.shape.dynamicShared = true;
    }
    noteOpcode(form, text, facts);
  }
}

}  // namespace ptxopt::verify
