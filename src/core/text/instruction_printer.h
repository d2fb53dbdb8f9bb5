// The text of instructions and operands, from the IR alone.
#pragma once

#include <string>
#include <vector>

#include "ir/module.h"

namespace ptxopt::text {

// Spellings for the registers, variables and labels that passes made: `%b32_0`, `%b64_ptr0`, `made_0`, `made_L0`,
// with more underscores if the module has such names itself. A copy of a label of the same function names it,
// `made_L0_of_Loop`, so that what is known of a loop by its label is known of its copies.
class MadeNames {
 public:
  explicit MadeNames(const Module& module);
  void append(std::string& out, const Register& reg) const;
  void append(std::string& out, const Variable& variable) const;
  void append(std::string& out, const Function& function, LabelId label) const;
  // The label that one of this name is a copy of, by its spelling; itself: it is not a copy.
  static std::string_view copiedLabel(std::string_view name);
  // The declarations of what passes made in a function, each line led by a newline and a tab; and how many there
  // are.
  std::size_t appendDeclarations(std::string& out, const Function& function) const;

 private:
  void appendPrefix(std::string& out, const Register& reg) const;
  const Module& module_;
  std::string separator_ = "_";
};

class InstructionPrinter {
 public:
  InstructionPrinter(std::string& out, const Module& module, const Function& function, const MadeNames& made)
      : out_(out), module_(module), function_(function), made_(made) {}

  void print(const Instruction& instruction);

 private:
  void printReal(const Instruction& instruction);
  void printLabel(LabelId id);
  void printLoc(const Instruction& instruction);
  void printOperands(std::span<const Operand> operands);
  void printOperand(std::span<const Operand> operands, std::size_t& at);
  void printRegister(RegId id);
  void printVariable(const Variable& variable);
  void printDeclaration(const Declaration& declaration);
  void put(std::string_view text) { out_ += text; }
  void put(NameId name) { out_ += module_.text(name); }

  std::string& out_;
  const Module& module_;
  const Function& function_;
  const MadeNames& made_;
};

}  // namespace ptxopt::text
