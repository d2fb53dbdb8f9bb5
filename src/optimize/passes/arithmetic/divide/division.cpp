// A division is split into guard, result and two sources. Integer division and remainder are taken without modifiers,
// with sources that are literals or whole integer registers; division of floats needs a rounding and may flush.
#include "passes/arithmetic/divide/division.h"

#include <bit>

#include "ir/register_types.h"

namespace ptxopt::division {
namespace {

// Guard, result and two sources; none if there are others.
struct Parts {
  const Operand* guard = nullptr;
  const Operand *result, *left, *right;
};
std::optional<Parts> partsOf(const Function& f, InstrId id) {
  auto operands = f.operandsOf(f[id]);
  Parts parts{};
  if (f[id].is(Instruction::Guarded)) {
    parts.guard = operands.data();
    operands = operands.subspan(1);
  }
  if (operands.size() != 3) return std::nullopt;
  parts.result = &operands[0];
  parts.left = &operands[1];
  parts.right = &operands[2];
  if (!parts.result->isRegister() || !parts.result->writes()) return std::nullopt;
  for (const Operand* o : {parts.left, parts.right})
    if (o->join != Join::Comma) return std::nullopt;
  return parts;
}

}  // namespace

std::optional<Division> integerDivision(const Module& module, const Function& f, InstrId id) {
  if (!f[id].isInstruction()) return std::nullopt;
  const OpcodeForm& form = module.form(f[id]);
  if (!isDivision(form) || !form.hasOnly(0) || !isIntegerOrBits(form.type)) return std::nullopt;
  Division d;
  d.at = id;
  d.isRemainder = form.op == Op::Rem;
  d.isSigned = isSignedType(form.type);
  d.width = info(form.type).bits;
  const auto parts = partsOf(f, id);
  if (!parts || !isIntegerRegister(f, *parts->result, d.width)) return std::nullopt;
  for (const Operand* o : {parts->left, parts->right})
    if (!immediate(f, *o) && !isIntegerRegister(f, *o, d.width)) return std::nullopt;
  if (parts->guard != nullptr) {
    d.isGuarded = true;
    d.guard = *parts->guard;
  }
  d.result = parts->result->reg();
  d.dividend = *parts->left;
  d.divisor = *parts->right;
  return d;
}

std::optional<FloatDivision> floatDivision(const Module& module, const Function& f, InstrId id) {
  if (!f[id].isInstruction()) return std::nullopt;
  const OpcodeForm& form = module.form(f[id]);
  if (form.op != Op::Div || !form.hasOnly(field::Rounding | field::Flag)) return std::nullopt;
  FloatDivision d;
  d.at = id;
  d.rounding = form.rounding;
  d.flushes = form.has(ModifierFlag::FlushToZero);
  d.width = info(form.type).bits;
  const bool isFloat = form.type == ScalarType::f32 || form.type == ScalarType::f64;
  const bool isRounding = d.rounding >= RoundingMode::Rn && d.rounding <= RoundingMode::Rp;
  const bool saysMore = std::popcount(form.flags) != (d.flushes ? 1 : 0);
  const auto parts = partsOf(f, id);
  if (!isFloat || !isRounding || saysMore || !parts) return std::nullopt;
  d.dividend = *parts->left;
  d.divisor = *parts->right;
  return d;
}

}  // namespace ptxopt::division
