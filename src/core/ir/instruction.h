// Instructions and their operands, in 32 and 8 bytes.
//
// Everything between the braces of a function body is an Instruction: real instructions, labels, scope braces,
// declarations, `.loc`, pragmas. They form a doubly linked list by id, so that passes insert and remove in constant
// time and ids stay good.
//
// The operands of an instruction are a contiguous run in Function::operands, in the order of the text, as a
// pre-order walk: a group (`{a, b}`, `[a+4]`, `(a, b)`) is an entry with the number of entries inside, followed by
// those. `join` says what stands before an entry within its group: nothing, a comma, `|` as in `%p1|%p2`, `+` as in
// `[%rd1+8]`. So `[%rd1+8]` is Memory(2) Register Integer/Plus, and an expression needs no tree.
//
// ptxas also adds a constant to a register that is a data operand: `st.u32 [a], %r1 + 4` stores the sum. Such a
// register entry is Compound, as is the register of a selector (`%v.x`), so that `flags == 0` means: this entry is the
// whole operand, unmodified. In an address, where a sum is the usual form, the register is not marked.
// The guard comes first and implicit operands (the carry flag, the registers that `ret` returns) come last.
#pragma once

#include <cstdint>

#include "ir/opcodes.h"

namespace ptxopt {

using InstrId = Id<struct InstrTag>;
using RegId = Id<struct RegTag>;
using LabelId = Id<struct LabelTag>;
using VariableId = Id<struct VariableTag>;
using SymbolId = Id<struct SymbolTag>;

enum class OperandKind : uint8_t {
  Register,         // RegId
  SpecialRegister,  // NameId: %tid.x
  Integer,          // the value, sign-extended from 32 bits
  WideInteger,      // index in Function::constants
  Float32,          // the bits: 0f3F800000
  Float64,          // index in Function::constants: 0d3FF0000000000000
  Decimal,          // index in Function::constants: 1.5, the bits of the double
  Label,            // LabelId
  Variable,         // VariableId: a parameter or a variable of this function
  Symbol,           // SymbolId: a variable or function of the module
  Builtin,          // NameId: WARP_SZ
  Sink,             // `_`
  Selector,         // NameId: the `x` of `%v.x`, the `h0` of `%r1.h0`; follows its register
  Cast,             // NameId: `(.s64)` before the next entry
  Vector,           // `{..}`; number of entries inside
  Memory,           // `[..]`; number of entries inside
  Paren,            // `(..)`; number of entries inside
};

enum class Role : uint8_t { None, Use, Def, Mod };  // a bit for reading, one for writing

enum class Join : uint8_t {
  None,
  Comma,
  Pipe,
  Plus,
  Minus,
  Times,
  Divide,
  Modulo,
  And,
  Xor,
  AndAnd,
  OrOr,
  Equal,
  NotEqual,
  LessEqual,
  GreaterEqual,
  ShiftLeft,
  ShiftRight,
  Less,
  Greater,
  Question,
  Colon,
};

struct Operand {
  // Hex, VolatileRead and Compound share a bit: which one it is depends on the kind, so readers look at the kind too.
  enum Flag : uint8_t {
    Negated = 1,        // -x
    Not = 2,            // !p
    Complement = 4,     // ~x
    Positive = 8,       // +x, kept for what is not a number
    Guard = 16,         // the instruction's predicate
    Implicit = 32,      // not in the text
    Hex = 64,           // Integer, WideInteger: written in hexadecimal
    VolatileRead = 64,  // SpecialRegister: two reads may differ
    Compound = 64,      // Register: only the first entry of a data operand, such as `r + 1` or `v.x`
    Unsigned = 128,     // WideInteger: above INT64_MAX
  };

  OperandKind kind = OperandKind::Sink;
  Role role = Role::None;
  Join join = Join::None;
  uint8_t flags = 0;
  uint32_t payload = 0;

  bool is(Flag f) const { return (flags & f) != 0; }
  bool isRegister() const { return kind == OperandKind::Register; }
  RegId reg() const { return RegId(payload); }
  bool isGroup() const { return kind >= OperandKind::Vector; }
  // Entries inside this one.
  uint32_t inside() const { return isGroup() ? payload : 0; }
  bool reads() const { return (static_cast<uint8_t>(role) & 1) != 0; }
  bool writes() const { return (static_cast<uint8_t>(role) & 2) != 0; }
};
static_assert(sizeof(Operand) == 8);

inline Operand registerOperand(RegId r, Role role, Join join = Join::None, uint8_t flags = 0) {
  return {.kind = OperandKind::Register, .role = role, .join = join, .flags = flags, .payload = r.value};
}

// A result, which comes first; and a source, which comes after a comma.
inline Operand defOperand(RegId r) { return registerOperand(r, Role::Def); }
inline Operand useOperand(RegId r) { return registerOperand(r, Role::Use, Join::Comma); }

inline Operand integerOperand(int32_t value, Join join = Join::Comma) {
  return {.kind = OperandKind::Integer, .join = join, .payload = static_cast<uint32_t>(value)};
}

// `{low, high}` of mov.b64: before the two halves.
inline Operand pairOperand(Join join = Join::None) {
  return {.kind = OperandKind::Vector, .join = join, .payload = 2};
}

enum class InstrKind : uint8_t {
  Instruction,  // payload: OpcodeId
  Label,        // payload: LabelId
  ScopeOpen,    // {
  ScopeClose,   // }
  Declaration,  // registers or variables; payload: index in Function::declarations
  Loc,          // payload: index in Function::locs
  Pragma,       // payload: NameId of the strings, as in the text
  Targets,      // .branchtargets, .calltargets: labels and functions as operands; payload: NameId of the directive
  Verbatim,     // .callprototype: known by its text only
};

struct Instruction {
  enum Flag : uint8_t {
    Guarded = 1,  // operand 0 is the guard
    Changed = 2,  // its source text no longer says what it does
    Moved = 4,    // stands elsewhere than in the source
    Erased = 8,   // no longer in the list
  };

  InstrId previous, next;
  uint32_t payload = 0;
  uint32_t firstOperand = 0;
  uint32_t sourceBegin = 0, sourceEnd = 0;  // bytes of the module's source; equal for what has no source
  uint32_t operandCount = 0;
  InstrKind kind = InstrKind::Instruction;
  uint8_t flags = 0;

  bool is(Flag f) const { return (flags & f) != 0; }
  bool hasSource() const { return sourceBegin != sourceEnd; }
  bool isInstruction() const { return kind == InstrKind::Instruction; }
  OpcodeId opcode() const { return OpcodeId(payload); }
};
static_assert(sizeof(Instruction) == 32);

}  // namespace ptxopt
