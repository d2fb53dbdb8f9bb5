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

  Value constant(uint64_t c) { return one(SynthOpcode::MovB32, SynthOpcode::MovB64, {number(c)}); }
  Value add(Value a, Value b) { return one(SynthOpcode::AddS32, SynthOpcode::AddS64, {a, b}); }
  Value subtract(Value a, Value b) { return one(SynthOpcode::SubS32, SynthOpcode::SubS64, {a, b}); }
  Value negate(Value a) { return one(SynthOpcode::NegS32, SynthOpcode::NegS64, {a}); }
  Value absolute(Value a) { return one(SynthOpcode::AbsS32, SynthOpcode::AbsS64, {a}); }
  Value bitAnd(Value a, uint64_t c) { return one(SynthOpcode::AndB32, SynthOpcode::AndB64, {a, number(c)}); }
  Value multiply(Value a, uint64_t c) { return one(SynthOpcode::MulLoS32, SynthOpcode::MulLoS64, {a, number(c)}); }
  Value multiply(Value a, Value b) { return one(SynthOpcode::MulLoS32, SynthOpcode::MulLoS64, {a, b}); }
  Value multiplyHigh(Value a, uint64_t c) {
    return one(SynthOpcode::MulHiU32, SynthOpcode::MulHiU64, {a, number(c)});
  }
  Value multiplyHigh(Value a, Value b) { return one(SynthOpcode::MulHiU32, SynthOpcode::MulHiU64, {a, b}); }
  Value multiplyHighSigned(Value a, uint64_t c) {
    return one(SynthOpcode::MulHiS32, SynthOpcode::MulHiS64, {a, number(c)});
  }
  Value shiftRight(Value a, unsigned n) {
    return one(SynthOpcode::ShrU32, SynthOpcode::ShrU64, {a, static_cast<int64_t>(n)});
  }
  Value shiftRightSigned(Value a, unsigned n) {
    return one(SynthOpcode::ShrS32, SynthOpcode::ShrS64, {a, static_cast<int64_t>(n)});
  }
  Value least(Value a, Value b) { return one(SynthOpcode::MinU32, SynthOpcode::MinU64, {a, b}); }
  Value differ(Value a, Value b) { return one(SynthOpcode::XorB32, SynthOpcode::XorB64, {a, b}); }
  Value increaseIfNotBelow(Value q, Value a, Value b);
  Value negateIfNegative(Value a, Value sign);

  // ---- beyond the formulas ----
  Value divide(Value a, Value b, bool isSigned);
  // 2^32 / d less what rounding takes: what estimate() asks for, from a float reciprocal and one step of Newton's.
  // 32 bits; checked for every d by tests/semantics/divide.
  Reciprocal<Value> reciprocal(Value d);
  // A new register that an instruction writes.
  RegId make(SynthOpcode opcode, ScalarType type, std::initializer_list<Source> sources);
  // An instruction that writes a register that is there, under a guard if one is given.
  void put(SynthOpcode opcode, RegId to, std::initializer_list<Source> sources, const Operand* guard = nullptr);

 private:
  RegId one(SynthOpcode narrow, SynthOpcode wide, std::initializer_list<Source> sources) {
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
