// What an integer instruction makes of the ranges of its sources.
//
// An opcode with a modifier that is not known here (.sat, .relu, packed halves, ...) or of another type is not an
// operation, and nothing is known of its result. Meaning as in the PTX ISA; what that leaves open gives the full
// range. Cost: constant, and integer_range.h's for evaluating.
#pragma once

#include <array>
#include <span>

#include "analysis/values/integer_range.h"
#include "ir/opcodes.h"

namespace ptxopt {

struct RangeOperation {
  enum class Kind : uint8_t {
    None,
    Copy,     // mov
    Load,     // a value of `width` bits; nothing else is known
    Convert,  // cvt between integers
    Add,
    Sub,
    Multiply,  // .lo
    MultiplyHigh,
    MultiplyWide,
    MultiplyAdd,  // .lo
    MultiplyHighAdd,
    MultiplyWideAdd,
    Divide,
    Remainder,
    Min,
    Max,
    Absolute,
    Negate,
    And,
    Or,
    Xor,
    Not,
    IsZero,  // cnot
    ShiftLeft,
    ShiftRight,
    Extract,  // bfe
    Ones,     // popc
    LeadingZeros,
    Choose,   // selp, slct: one of the first two
    Compare,  // set into an integer
  };
  Kind kind = Kind::None;
  uint8_t width = 0;      // of the result
  bool isSigned = false;  // the type that it is computed in, of a conversion the source's
  bool extends = false;   // a register that is wider than the result has it extended; by its sign if ...
  bool extendsSign = false;
  uint8_t sources = 0;  // how many operands after the result are looked at
  std::array<uint8_t, 3> sourceWidths{};

  // From the sources' ranges, each of its sourceWidths; the result has `width` bits.
  IntegerRange evaluate(std::span<const IntegerRange> sources) const;
};

RangeOperation readRangeOperation(const OpcodeForm& form);

}  // namespace ptxopt
