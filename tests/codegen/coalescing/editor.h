// Changes of a function's instruction list that insert_copies makes: new instructions, labels and branches.
//
// New instructions are appended to Function::instructions, so that the ids of the source's stay what they are.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_map>

#include "ir/module.h"

namespace coalescing {

using ptxopt::Function;
using ptxopt::InstrId;
using ptxopt::Instruction;
using ptxopt::LabelId;
using ptxopt::Module;
using ptxopt::Operand;
using ptxopt::RegId;

// Where to insert: in front of `before`, or at the end of the list when it is invalid.
struct Place {
  InstrId before;
};

// The predicate under which an instruction runs; none without a register.
struct Guard {
  RegId reg;
  bool negated = false;
};

class Editor {
 public:
  Editor(Module& module, Function& function) : module_(module), f_(function) {}

  Module& module() { return module_; }
  Function& function() { return f_; }

  Place inFrontOf(InstrId id) const { return {id}; }
  Place behind(InstrId id) const { return {f_[id].next}; }

  // `opcode to, from;`
  void move(Place place, std::string_view opcode, RegId to, RegId from, Guard guard = {});
  // `opcode {low, high}, from;`
  void unpack(Place place, std::string_view opcode, RegId low, RegId high, RegId from);
  // `opcode to, {low, high};`
  void pack(Place place, std::string_view opcode, RegId to, RegId low, RegId high);
  void branch(Place place, LabelId target);
  // A label that no other is called like.
  LabelId label(Place place);

 private:
  InstrId insert(Place place, ptxopt::InstrKind kind, uint32_t payload, std::initializer_list<Operand> operands);
  ptxopt::OpcodeId opcode(std::string_view text);

  Module& module_;
  Function& f_;
  std::unordered_map<std::string, ptxopt::OpcodeId> opcodes_;
  unsigned labels_ = 0;
};

}  // namespace coalescing
