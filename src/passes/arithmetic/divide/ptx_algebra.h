// The algebra of formulas.h that puts PTX before a place.
#pragma once

#include <initializer_list>

#include "ir/function.h"
#include "ir/module.h"
#include "passes/arithmetic/divide/formulas.h"

namespace ptxopt::division {

// A register or a number.
struct Source {
  RegId reg;
  int64_t number = 0;

  Source(RegId r) : reg(r) {}       // NOLINT: both stand for themselves
  Source(int64_t n) : number(n) {}  // NOLINT
};

class PtxAlgebra {
 public:
  using Value = RegId;

  // `width`: 32 or 64.
  PtxAlgebra(Function& f, const Module& module, unsigned width, InstrId before)
      : f_(f), module_(module), width_(width), before_(before) {}

  unsigned width() const { return width_; }
  std::size_t inserted() const { return inserted_; }

  Value constant(uint64_t c) { return one(MadeOpcode::MovB32, MadeOpcode::MovB64, {number(c)}); }
  Value add(Value a, Value b) { return one(MadeOpcode::AddS32, MadeOpcode::AddS64, {a, b}); }
  Value subtract(Value a, Value b) { return one(MadeOpcode::SubS32, MadeOpcode::SubS64, {a, b}); }
  Value negate(Value a) { return one(MadeOpcode::NegS32, MadeOpcode::NegS64, {a}); }
  Value absolute(Value a) { return one(MadeOpcode::AbsS32, MadeOpcode::AbsS64, {a}); }
  Value bitAnd(Value a, uint64_t c) { return one(MadeOpcode::AndB32, MadeOpcode::AndB64, {a, number(c)}); }
  Value multiply(Value a, uint64_t c) { return one(MadeOpcode::MulLoS32, MadeOpcode::MulLoS64, {a, number(c)}); }
  Value multiply(Value a, Value b) { return one(MadeOpcode::MulLoS32, MadeOpcode::MulLoS64, {a, b}); }
  Value multiplyHigh(Value a, uint64_t c) {
    return one(MadeOpcode::MulHiU32, MadeOpcode::MulHiU64, {a, number(c)});
  }
  Value multiplyHigh(Value a, Value b) { return one(MadeOpcode::MulHiU32, MadeOpcode::MulHiU64, {a, b}); }
  Value multiplyHighSigned(Value a, uint64_t c) {
    return one(MadeOpcode::MulHiS32, MadeOpcode::MulHiS64, {a, number(c)});
  }
  Value shiftRight(Value a, unsigned n) {
    return one(MadeOpcode::ShrU32, MadeOpcode::ShrU64, {a, static_cast<int64_t>(n)});
  }
  Value shiftRightSigned(Value a, unsigned n) {
    return one(MadeOpcode::ShrS32, MadeOpcode::ShrS64, {a, static_cast<int64_t>(n)});
  }
  Value least(Value a, Value b) { return one(MadeOpcode::MinU32, MadeOpcode::MinU64, {a, b}); }
  Value differ(Value a, Value b) { return one(MadeOpcode::XorB32, MadeOpcode::XorB64, {a, b}); }
  Value increaseIfNotBelow(Value q, Value a, Value b);
  Value negateIfNegative(Value a, Value sign);

  // ---- beyond the formulas ----
  Value divide(Value a, Value b, bool isSigned);
  // 2^32 / d less what rounding takes: what estimate() asks for, from a float reciprocal and one step of Newton's.
  // 32 bits; checked for every d by tests/semantics/divide.
  Reciprocal<Value> reciprocal(Value d);
  // A new register that an instruction writes.
  RegId make(MadeOpcode opcode, ScalarType type, std::initializer_list<Source> sources);
  // An instruction that writes a register that is there, under a guard if one is given.
  void put(MadeOpcode opcode, RegId to, std::initializer_list<Source> sources, const Operand* guard = nullptr);

 private:
  RegId one(MadeOpcode narrow, MadeOpcode wide, std::initializer_list<Source> sources) {
    return make(width_ == 64 ? wide : narrow, width_ == 64 ? ScalarType::b64 : ScalarType::b32, sources);
  }
  // As the algebra has it, sign-extended.
  Source number(uint64_t c) const {
    return width_ == 64 ? static_cast<int64_t>(c) : static_cast<int64_t>(static_cast<int32_t>(c));
  }
  Operand operand(const Source& s);

  Function& f_;
  const Module& module_;
  const unsigned width_;
  const InstrId before_;
  std::size_t inserted_ = 0;
};

}  // namespace ptxopt::division
