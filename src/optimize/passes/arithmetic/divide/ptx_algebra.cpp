// Each operation inserts synthetic instructions before the place, with fresh registers; corrections are guarded by a
// predicate. The reciprocal begins with rcp.approx of the rounded divisor, less three units so that it is never too
// large, and takes one step of correction.
#include "passes/arithmetic/divide/ptx_algebra.h"

#include <vector>

namespace ptxopt::division {

Operand PtxAlgebra::operand(const Source& s) {
  if (s.reg.valid()) return useOperand(s.reg);
  if (s.number == static_cast<int32_t>(s.number)) return integerOperand(static_cast<int32_t>(s.number));
  Operand o;
  o.join = Join::Comma;
  o.kind = OperandKind::WideInteger;
  o.payload = static_cast<uint32_t>(f_.constants.size());
  f_.constants.push_back(static_cast<uint64_t>(s.number));
  return o;
}

void PtxAlgebra::put(SynthOpcode opcode, RegId to, std::initializer_list<Source> sources, const Operand* guard) {
  std::vector<Operand> operands;
  if (guard != nullptr) operands.push_back(*guard);
  operands.push_back(registerOperand(to, guard != nullptr ? Role::Mod : Role::Def));
  for (const Source& s : sources) operands.push_back(operand(s));
  f_.insert(before_, module_.synthOpcode(opcode), operands);
  ++inserted_;
}

RegId PtxAlgebra::make(SynthOpcode opcode, ScalarType type, std::initializer_list<Source> sources) {
  const RegId to = f_.makeRegister(type);
  put(opcode, to, sources);
  return to;
}

namespace {
Operand guardBy(RegId predicate) { return registerOperand(predicate, Role::Use, Join::None, Operand::Guard); }
}  // namespace

RegId PtxAlgebra::increaseIfNotBelow(RegId q, RegId a, RegId b) {
  const Operand guard =
      guardBy(make(width_ == 64 ? SynthOpcode::SetpGeU64 : SynthOpcode::SetpGeU32, ScalarType::pred, {a, b}));
  // q is nobody else's.
  put(width_ == 64 ? SynthOpcode::AddS64 : SynthOpcode::AddS32, q, {q, int64_t{1}}, &guard);
  return q;
}

RegId PtxAlgebra::negateIfNegative(RegId a, RegId sign) {
  const Operand guard = guardBy(
      make(width_ == 64 ? SynthOpcode::SetpLtS64 : SynthOpcode::SetpLtS32, ScalarType::pred, {sign, int64_t{0}}));
  put(width_ == 64 ? SynthOpcode::NegS64 : SynthOpcode::NegS32, a, {a}, &guard);
  return a;
}

RegId PtxAlgebra::divide(RegId a, RegId b, bool isSigned) {
  return isSigned ? one(SynthOpcode::DivS32, SynthOpcode::DivS64, {a, b})
                  : one(SynthOpcode::DivU32, SynthOpcode::DivU64, {a, b});
}

Reciprocal<RegId> PtxAlgebra::reciprocal(RegId d) {
  // The float is at most 2^32 / d, since d is rounded up and three units are taken off the reciprocal, whose error
  // is at most two; adding 32 to its exponent multiplies by 2^32. What then is missing to 2^32 / d is squared,
  // relative to it, by the step; one more is missing at most.
  constexpr int64_t kTimes2To32LessThree = 0x0ffffffd;
  const RegId up = make(SynthOpcode::CvtRpF32U32, ScalarType::f32, {d});
  const RegId inverse = make(SynthOpcode::RcpApproxFtzF32, ScalarType::f32, {up});
  const RegId bits = make(SynthOpcode::MovB32, ScalarType::b32, {inverse});
  const RegId scaled = make(SynthOpcode::AddS32, ScalarType::b32, {bits, kTimes2To32LessThree});
  const RegId floated = make(SynthOpcode::MovB32, ScalarType::f32, {scaled});
  const RegId rough = make(SynthOpcode::CvtRziFtzU32F32, ScalarType::b32, {floated});
  Reciprocal<RegId> r{d, negate(d), {}};
  const RegId better = add(rough, multiplyHigh(rough, multiply(rough, r.negated)));
  const RegId missing = multiply(better, r.negated);
  const RegId more = add(better, constant(1));
  const RegId isLess = make(SynthOpcode::SetpGtU32, ScalarType::pred, {missing, d});
  r.factor = make(SynthOpcode::SelpB32, ScalarType::b32, {more, better, isLess});
  return r;
}

}  // namespace ptxopt::division
