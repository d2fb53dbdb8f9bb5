// What types an instruction may have, and what its operands are: signatures.def.
#pragma once

#include <optional>
#include <string_view>

#include "ir/opcodes.h"

namespace ptxopt {

struct Signature {
  Op op;
  ProductHalf half;
  unsigned words;             // types that the opcode says
  std::string_view types;     // names between blanks
  std::string_view operands;  // a letter each

  bool takes(ScalarType type) const;
  bool isForSomeTypes() const { return types.starts_with('?'); }
  // The letter of operand `index`; none where there is no such operand.
  std::optional<char> letter(std::size_t index) const;
  std::size_t least() const;  // operands that it has at least
  std::size_t most() const;
};

// The row of an opcode; nullptr where nothing is known of it.
const Signature* signatureOf(const OpcodeForm& form);
// What an opcode would have to say and does not: "a type", "a comparison"; empty where nothing is known to miss.
std::string_view missingWord(const OpcodeForm& form);

// Whether ptxas takes a register of type `declared` where an instruction wants `wanted`; `mayBeWider`: as loads, stores and
// conversions do. (Asked of ptxas by tests/cli/check/types.py, an instruction for each two types.)
bool takesRegister(ScalarType wanted, ScalarType declared, bool mayBeWider);
// .b8 to .b128.
bool isBitsType(ScalarType t);
// Whether ptxas takes a register of this type as an address.
bool isAddressType(ScalarType declared);

}  // namespace ptxopt
