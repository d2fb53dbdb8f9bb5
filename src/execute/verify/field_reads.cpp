// One pass over the instructions notes special registers, barriers, shared memory, and the constants that comparisons
// use, which trials are made of.
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
         module.declarationForms[v->form].space == DeclaredSpace::Shared;
}

bool isShared(StateSpace s) { return isOwnShared(s) || s == StateSpace::SharedCluster; }

void noteOpcode(const OpcodeForm& form, FieldFacts& facts) {
  const bool ofWarpGroup = form.family == Op::Wgmma;
  const bool isBarrier = form.family == Op::Bar || form.family == Op::Barrier;
  if (ofWarpGroup || isShared(form.space) || isShared(form.secondSpace)) facts.usesShared = true;
  if (isBarrier || form.family == Op::Mbarrier) facts.shape.barrier = true;
  if (ofWarpGroup) facts.shape.warpGroup = true;
  if (form.is(effect::Convergent) && !isBarrier) facts.shape.warp = true;
}

bool takesConstants(Op op) {
  return op == Op::Setp || op == Op::Min || op == Op::Max || op == Op::Set || op == Op::Mov;
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
    const bool compares = takesConstants(form.op);
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
    noteOpcode(form, facts);
  }
}

}  // namespace ptxopt::verify
