// What opcodes do: the table of opcodes.def, and its reading for one full opcode such as `ld.global.v4.f32`.
//
// A module holds one OpcodeForm for each different spelling it contains; instructions point to it. So nothing that
// depends on modifiers is worked out twice.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ir/opcode_fields.h"
#include "support/interner.h"

namespace ptxopt {

using OpcodeId = Id<struct OpcodeTag>;

// Effects of an instruction beyond its register results (see opcodes.def for their meaning). Bits of
// OpcodeForm::effects.
namespace effect {
enum : uint32_t {
  Pure = 0,
  Read = 1u << 0,
  Write = 1u << 1,
  Side = 1u << 2,
  Convergent = 1u << 3,
  Async = 1u << 4,
  Volatile = 1u << 5,
  Ordering = 1u << 6,
  CarryIn = 1u << 7,
  Branch = 1u << 8,
  IndirectBranch = 1u << 9,
  Return = 1u << 10,
  Exit = 1u << 11,
  NoReturn = 1u << 12,
  Call = 1u << 13,
  CarryOut = 1u << 14,  // the modifier .cc
  Unknown = 1u << 15,   // not in the table: every register is read and written, every effect is assumed
};
// An instruction with none of these may go when nobody reads its results.
constexpr uint32_t kKeep = ~static_cast<uint32_t>(Read | CarryIn | CarryOut);
constexpr uint32_t kControl = Branch | IndirectBranch | Return | Exit | NoReturn;
}  // namespace effect

// The spellings of the set bits, lower case, comma separated.
std::string effectNames(uint32_t effects);

// One row of opcodes.def.
struct OpcodeRow {
  Op op;
  std::string_view key;       // base opcode and required modifiers
  std::string_view operands;  // one letter an operand: d def, m mod, u use, l label
  uint32_t effects;
  std::string_view summary;

  constexpr std::string_view base() const { return key.substr(0, key.find('.')); }
};
std::span<const OpcodeRow> opcodeTable();

// A full opcode, decoded once.
struct OpcodeForm : OpcodeFields {
  Op family = Op::Unknown;         // the operation of the base opcode alone: Op::St of `st.async.b32`
  NameId spelling;                 // as written, modifiers in the order of the source: Module::printedOpcode
  const OpcodeRow* row = nullptr;  // nullptr: unknown
  uint32_t effects = 0;            // of the row and of the modifiers
  bool isEscaped = false;          // a backslash stands before it

  bool is(uint32_t anyOf) const { return (effects & anyOf) != 0; }
  // False when every register of the instruction counts as read and written.
  bool knowsOperands() const {  // without a comparison of texts, which is a call
    return row != nullptr && !(row->operands.size() == 1 && row->operands.front() == '*');
  }
  // The role letter of operand `index` counted from the left.
  char role(std::size_t index) const {
    if (!knowsOperands()) return 'm';
    return index < row->operands.size() ? row->operands[index] : 'u';
  }
};

// Between the dots: "ld", "global", "f32".
std::vector<std::string_view> opcodeParts(std::string_view opcode);

// Reads the full opcode `text`. Cost: linear in the rows of its base opcode and its modifiers.
OpcodeForm readOpcode(std::string_view text);

}  // namespace ptxopt
