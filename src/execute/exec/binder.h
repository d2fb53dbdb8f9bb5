// Reads one instruction while it is decoded: what a binder function sees of it.
//
// instructions.def names a binder function for each base opcode. It takes the opcode's modifiers and operands from
// a Binder, chooses the handler, and is done. Whatever modifier or operand it has not taken makes the instruction
// an unsupported one, so a form that nobody thought of is an error that names it, never a wrong result.
//
//     void bindPopc(Binder& b) {                        // popc.type d, a;
//       const ScalarType type = b.takeType();           // b32 or b64
//       b.dest(0, ScalarType::u32);
//       b.source(1, type);
//       b.handler(type == ScalarType::b64 ? unary<uint32_t, uint64_t, popcount64> : unary<...>);
//     }
//
// Operands are numbered from the left, guard and implicit ones not counted; `p|q` is one operand with two halves.
// source(), dest() and their like append to Op::args in the order of the calls and return the Arg as well.
// They throw Unsupported when the operand has another shape or width than asked for.
#pragma once

#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exec/op.h"
#include "exec/program.h"

namespace ptxopt::exec {

enum class Shape : uint8_t { None, Register, Immediate, Special, Sink, Vector, Memory, Address, Other };

// A memory operand: [base + offset].
struct AddressArg {
  Arg base;  // lanes of 4 or 8 bytes: a register, or a constant
  int64_t offset = 0;
  Space space =
      Space::Generic;  // after what the operand says: a variable of this function may move .param to Local
  // Where the operand names a variable of the stack frame: how many bytes from the address on are that variable's,
  // and the variable. What lies after it, or before, is another one's, and an access there is an error.
  int64_t available = INT64_MAX;
  std::string_view variable;
};

class Binder {
 public:
  Binder(Program& program, Machine& machine, Routine& routine, const Instruction& instruction);

  // ---- the opcode ----
  std::string_view text() const;  // "add.cc.u32"
  std::string_view base() const { return components_.front().text; }
  // True when the opcode has the modifier (without its dot), which is thereby taken.
  bool take(std::string_view modifier);
  // The first of these that the opcode has, taken; empty when it has none.
  std::string_view takeOneOf(std::initializer_list<std::string_view> modifiers);
  // The next modifier from the left that is a type and not taken; None when there is none.
  ScalarType takeType();
  // 2, 4 or 8 for .v2, .v4, .v8; else 1.
  unsigned takeVector();
  // Modifiers from the left that nobody has taken; taken by the call. For opcodes that read them in order.
  std::vector<std::string_view> takeRest();
  // Looks without taking.
  bool has(std::string_view modifier) const;

  // ---- the operands ----
  std::size_t operands() const { return operands_.size(); }
  Shape shape(std::size_t i) const;
  bool isPair(std::size_t i) const;  // `p|q`
  // A value of `type`: a register of its width, an immediate, a special register, the address of a symbol.
  Arg source(std::size_t i, ScalarType type);
  // A register of any width, or an immediate of the type's width: for ld, st, cvt, whose registers may be wider.
  Arg looseSource(std::size_t i, ScalarType type);
  Arg dest(std::size_t i, ScalarType type);
  Arg looseDest(std::size_t i, ScalarType type);
  // A predicate; a missing optional operand must be asked for by operands() first.
  Arg predicate(std::size_t i);
  Arg predicateDest(std::size_t i);
  // The two halves of `d|p`. The second may be missing: then a sink.
  Arg pairDest(std::size_t i, ScalarType type);  // first half
  Arg pairPredicate(std::size_t i);              // second half
  Arg pairFirstPredicate(std::size_t i);         // first half of `p|q`
  // `{a, b}`, a vector register, or a single operand: one Arg each. Loose as above.
  std::vector<Arg> sources(std::size_t i, ScalarType type, bool loose = false);
  std::vector<Arg> dests(std::size_t i, ScalarType type, bool loose = false);
  // [reg+imm], [symbol+imm], [imm]. Appends the base to args.
  AddressArg address(std::size_t i, Space space);
  // `[a, {x, y}]` and its like, for instructions with coordinates or several addresses: how many parts the brackets
  // hold; one of them as an address; one of them as values (a vector gives several).
  std::size_t memoryParts(std::size_t i);
  AddressArg memoryAddress(std::size_t i, std::size_t part, Space space);
  std::vector<Arg> memoryValues(std::size_t i, std::size_t part, ScalarType type);
  // Selector of a register, "x" of `%r1.x`, "b0"...: empty when there is none. Taken.
  std::string_view selector(std::size_t i);
  // Whether `-` stands before the register. Taken; the handler sees to it.
  bool takeMinus(std::size_t i);
  // An integer constant.
  int64_t immediate(std::size_t i);
  bool isImmediate(std::size_t i) const { return shape(i) == Shape::Immediate; }
  // Operands that mean nothing to the interpreter (cache policies).
  void ignore(std::size_t i);

  // ---- the result ----
  void handler(Handler h) { op_.run = h; }
  Op& op() { return op_; }
  // An object that lives as long as the program, reachable by the handler as Op::data.
  template <typename T>
  T& data(T value) {
    auto owned = std::make_shared<T>(std::move(value));
    T& result = *owned;
    keep(owned);
    op_.data = &result;
    return result;
  }
  // A constant value in all lanes.
  Arg constant(uint64_t value, uint8_t bytes);
  Arg sink(uint8_t bytes);
  // The carry flag, a predicate.
  Arg carry();
  void append(const Arg& a) { args_.push_back(a); }
  // Marks the op Collective: it is executed when all live lanes named by args[index] are there.
  void collective(std::size_t argIndex);

  // "ld.global.foo: REASON"
  [[noreturn]] void unsupported(const std::string& reason) const;

 private:
  struct Component {
    std::string_view text;
    bool taken = false;
  };
  struct OperandRun {
    std::span<const Operand> entries;
    bool taken = false;
    bool selectorTaken = false;
    bool minusTaken = false;
  };

  friend class Decoder;
  void finish();  // checks that all was taken
  void keep(std::shared_ptr<const void> object);
  OperandRun& operand(std::size_t i);
  Arg sourceOf(std::span<const Operand> entries, ScalarType type, bool loose);
  Arg destOf(std::span<const Operand> entries, ScalarType type, bool loose);
  std::vector<Arg> list(std::size_t i, ScalarType type, bool loose, bool isDest);
  AddressArg addressOf(std::span<const Operand> entries, Space space);
  Arg registerArg(const Operand& o, std::span<const Operand> rest);
  Arg special(std::string_view name, unsigned bytes);
  Arg symbolAddress(const Operand& o, int64_t offset, unsigned bytes);
  Arg sum(const Arg& a, std::span<const Operand> entries);
  Arg place(uint8_t bytes);
  static std::vector<std::span<const Operand>> split(std::span<const Operand> entries);

  Program& program_;
  Machine& machine_;
  Routine& routine_;
  const Function& function_;
  const Instruction& instruction_;
  std::vector<Component> components_;
  std::vector<OperandRun> operands_;
  std::vector<Arg> args_;
  bool usesVolatileSpecial_ = false;
  bool allowsMinus_ = false;  // of the operand that is being read
  std::vector<Op> before_;    // ops that make what op_ reads
  Op op_;
};

// instructions.def: PTX_EXEC("add", bindAdd)
using BindFunction = void (*)(Binder&);
BindFunction findBinder(std::string_view base);

}  // namespace ptxopt::exec
