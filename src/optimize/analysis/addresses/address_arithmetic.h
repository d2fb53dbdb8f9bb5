// What arithmetic makes of addresses: the rules of address_spaces.h for single instructions.
//
// Numbers and global addresses, which may be numbers, stay among themselves: whatever is computed of them is Global
// if one of them was, otherwise a Number. It is certain only where a Number is added to a certain one. For an address
// in another space only adding and subtracting a Number, and the distance of two of one space, mean something. Cost:
// constant.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/address_state.h"
#include "ir/opcodes.h"

namespace ptxopt {

inline constexpr uint64_t kWindowAlignment = 4096;

struct Register;

// 64 bits wide and not a float; for a register, not a vector either.
bool canHoldPointer(ScalarType t);
bool canHoldPointer(const Register& r);

enum class AddressOperation : uint8_t {
  Other,  // nothing is known of its result
  Copy,
  Choose,
  Add,
  Subtract,
  Multiply,
  MultiplyAdd,
  MultiplyWide,     // of 32 bits
  MultiplyAddWide,  // ... plus a third of 64
  ShiftLeft,
  ShiftRight,
  And,
  Or,
  Mix,      // xor, min, max, neg, quotients: a number of numbers
  Narrow,   // the result has 32 bits, extended
  Convert,  // of the source's width
  ToGeneric,
  FromGeneric,
};
// For an instruction whose result is a register of 64 bits.
AddressOperation addressOperation(const OpcodeForm& form);
// The space that a cvta or isspacep names; None for those that are not followed.
AddressKind namedSpace(const OpcodeForm& form);

// The result, of the sources' states. `constant`: the second source, where that is a number in the text.
AddressState addressResult(AddressOperation operation, AddressState a, AddressState b, AddressState c,
                           std::optional<uint64_t> constant);
AddressState sumOf(AddressState a, AddressState b);

// The state of an address of `space` in the numbers of the space itself, and back.
AddressKind offsetKind(AddressKind space);

}  // namespace ptxopt
