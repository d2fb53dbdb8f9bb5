// A function: its registers, labels, variables, and the list of its instructions.
//
// Invariants (checked by verify.h): the instruction list is consistent both ways and holds no erased instruction;
// operand runs lie inside `operands` and groups inside their run; every id is in range; a definition under a guard
// has role Mod; scope braces nest; each used label is placed once.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/address_state.h"
#include "ir/instruction.h"

namespace ptxopt {

struct SourceRange {
  uint32_t begin = 0, end = 0;
  bool empty() const { return begin == end; }
};

// What a made register is named after, `%b64_ptr0`. Passes decide nothing by it.
enum class NameHint : uint8_t { None, Pointer, Counter, One, Zero, Product };
std::string_view spelling(NameHint hint);

// A register. `%r1` inside a nested scope and an outer `%r1` are two of these with one spelling.
struct Register {
  NameId name;                        // invalid for one that a pass made: printed as prefix and `number`
  uint32_t number = 0;                // of a made one, counted within its type and hint
  ScalarType type = ScalarType::b32;  // as declared
  uint8_t lanes = 1;                  // 2 or 4 for `.reg .v4`
  bool isParameter = false;           // declared in the function's parameter or return list
  NameHint hint = NameHint::None;     // of a made one

  RegisterClass registerClass() const { return info(type).registerClass; }
};

// Where a declared name lives.
enum class DeclaredSpace : uint8_t { None, Reg, Const, Global, Local, Shared, Param, Tex };
// `name`: without the dot; None for any other.
DeclaredSpace declaredSpace(std::string_view name);

// Everything about a declaration but its names: `.shared .align 16 .b8`.
struct DeclarationForm {
  NameId text;  // the modifiers in canonical spelling, in the order of the source
  DeclaredSpace space = DeclaredSpace::None;
  DeclaredSpace pointee = DeclaredSpace::None;  // of `.ptr .global`: Global
  bool isPointer = false;                       // `.ptr` is said
  ScalarType type = ScalarType::None;
  uint8_t lanes = 1;
  uint32_t alignment = 0;         // bytes; 0: not given
  uint32_t pointeeAlignment = 0;  // of `.ptr .align 16`, of the memory; 0: not given
  bool isExtern = false;
};

// One name of a declaration.
struct Declarator {
  NameId name;
  uint32_t count = 0;  // `%r<10>`: 10; 0: no range
  bool isRange = false;
  uint64_t elements = 1;    // product of the dimensions; 0 when one is open: `x[]`
  SourceRange dimensions;   // `[4][2]`
  SourceRange initializer;  // after `=`
};

struct Variable {
  NameId name;            // invalid for one that a pass made: printed as space and `number`
  uint32_t number = 0;    // of a made one
  uint32_t form = 0;      // in Module::declarationForms
  Declarator declarator;  // of a made one that is to go: no elements
  bool isParameter = false;
  bool isNested = false;  // declared in a scope inside the body: its name means nothing outside it
};

struct Declaration {
  uint32_t form = 0;
  uint32_t firstDeclarator = 0;
  uint32_t declaratorCount = 0;
};

struct Label {
  NameId name;    // invalid for one that a pass made: printed by its id
  InstrId place;  // the Label instruction
  // For one that a pass made as a copy: the label of the input, and the function whose text has it.
  NameId copyOf = {};
  uint32_t copyFrom = 0;  // Function::index
};

struct Loc {
  uint32_t file = 0, line = 0, column = 0;
  uint32_t rest = 0;            // where the source goes on after the column: `, function_name ..., inlined_at ...`
  bool isIntermediate = false;  // `.loc_intermediate`: known by its text only, which begins at `rest`
};

// `.maxntid 256, 1, 1`
struct FunctionDirective {
  NameId name;  // with its dot
  std::array<uint32_t, 3> values{};
  uint32_t valueCount = 0;
  SourceRange source;
};

class Function {
 public:
  NameId name;
  uint32_t index = 0;    // in Module::functions; a copy has that of its original
  uint32_t version = 0;  // of a version of a kernel: one more than its place in Module::versions
  bool isEntry = false;
  bool hasBody = false;
  SourceRange source;  // from the first modifier to the closing brace
  SourceRange header;  // up to the opening brace, or the whole of a prototype
  SourceRange body;    // from the opening to after the closing brace
  std::vector<VariableId> parameters, returns;
  std::vector<FunctionDirective> directives;

  std::vector<Register> registers;  // by RegId; 0 is the carry flag
  std::vector<Variable> variables;  // by VariableId
  std::vector<Label> labels;        // by LabelId
  std::vector<Declaration> declarations;
  std::vector<Declarator> declarators;
  std::vector<Loc> locs;
  std::vector<Instruction> instructions;  // by InstrId; those of the source come first and in its order
  std::vector<Operand> operands;
  std::vector<uint64_t> constants;
  std::vector<RegId> returnRegisters;  // `.func (.reg .b32 %r) f`: live at every return
  InstrId first, last;
  uint32_t sourceInstructions = 0;  // how many of `instructions` come from the source
  bool changed = false;             // a pass changed it
  // Names of variables, its own or the module's, or of special registers that mean something else in part of it.
  bool hidesNames = false;
  bool hidesSpecialRegisters = false;  // hidesNames is due to a special register, perhaps among others

  static constexpr RegId kCarry{0u};

  Instruction& operator[](InstrId id) { return instructions[id.value]; }
  const Instruction& operator[](InstrId id) const { return instructions[id.value]; }

  std::span<Operand> operandsOf(const Instruction& i) { return {operands.data() + i.firstOperand, i.operandCount}; }
  std::span<const Operand> operandsOf(const Instruction& i) const {
    return {operands.data() + i.firstOperand, i.operandCount};
  }

  // The line of the source that begins with the instruction, a `.loc`; none for others.
  const Loc* lineOf(const Instruction& i) const {
    return i.kind == InstrKind::Loc && !locs[i.payload].isIntermediate ? &locs[i.payload] : nullptr;
  }

  // Takes an instruction out of the list; its id stays, marked Erased.
  void erase(InstrId id);
  // Takes an instruction from where it stands to the place before `where`.
  void moveBefore(InstrId id, InstrId where);
  // The instruction's text is to be made anew from its operands.
  void touch(InstrId id);
  // Gives an instruction other operands, and touches it; they must not lie in `operands`.
  void setOperands(InstrId id, std::span<const Operand> with);
  // A number after a comma; in `constants` where 32 bits do not hold it.
  Operand numberOperand(int64_t value);
  // A new register, spelled by the printer so that it meets no other name.
  RegId makeRegister(ScalarType type, uint8_t lanes = 1, NameHint hint = NameHint::None);
  // A new array, declared by the printer in the same way.
  VariableId makeVariable(uint32_t form, uint64_t elements);
  // A new instruction before `where`; at the end when there is no such id. The operands, which come with their
  // roles and perhaps a guard as the first, are copied; they must not lie in `operands`.
  InstrId insert(InstrId where, OpcodeId opcode, std::span<const Operand> operands);
  // A copy of an instruction of any kind, perhaps of another function, with these operands. What the printer takes from
  // the source has the text of the original.
  InstrId insertLike(InstrId where, const Instruction& like, std::span<const Operand> operands);
  // The same for a pragma or a label of the function that stands nowhere yet.
  InstrId insertPragma(InstrId where, NameId strings);
  InstrId insertLabel(InstrId where, LabelId label);
  // A new label, spelled by the printer so that it meets no other name.
  LabelId makeLabel();
  // ... of the copy of what stands at a label of `from`.
  LabelId makeLabelLike(const Function& from, LabelId label);

  // Ids of the list in order; `erase` of the current one is allowed inside the loop.
  class Iterator {
   public:
    Iterator(const Function* f, InstrId at) : function_(f), at_(at), next_(after()) {}
    InstrId operator*() const { return at_; }
    Iterator& operator++() {
      at_ = next_;
      next_ = after();
      return *this;
    }
    bool operator!=(const Iterator& other) const { return at_ != other.at_; }

   private:
    InstrId after() const { return at_.valid() ? (*function_)[at_].next : InstrId(); }
    const Function* function_;
    InstrId at_, next_;
  };
  Iterator begin() const { return {this, first}; }
  Iterator end() const { return {this, InstrId()}; }

  // Without labels, scopes and what else stands between instructions.
  uint64_t countInstructions() const;

 private:
  InstrId link(InstrId where, const Instruction& i);
  std::vector<uint32_t> made_;  // registers made, by type, lanes and hint
  uint32_t madeVariables_ = 0;
};

// The value of an immediate integer, sign-extended to 64 bits; none for what is not such an operand.
std::optional<uint64_t> immediate(const Function& f, const Operand& o);

}  // namespace ptxopt
