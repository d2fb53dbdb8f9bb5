#include "editor.h"

#include <fmt/format.h>

namespace coalescing {

using ptxopt::InstrKind;
using ptxopt::Join;
using ptxopt::OpcodeId;
using ptxopt::OperandKind;
using ptxopt::registerOperand;
using ptxopt::Role;

namespace {

Operand vectorOfTwo(Join join) { return {.kind = OperandKind::Vector, .join = join, .payload = 2}; }

}  // namespace

OpcodeId Editor::opcode(std::string_view text) {
  const auto [it, isNew] = opcodes_.try_emplace(std::string(text));
  if (isNew) it->second = module_.addOpcode(module_.names.internCopy(text));
  return it->second;
}

InstrId Editor::insert(Place place, InstrKind kind, uint32_t payload, std::initializer_list<Operand> operands) {
  const InstrId id(f_.instructions.size());
  Instruction i;
  i.kind = kind;
  i.payload = payload;
  i.firstOperand = static_cast<uint32_t>(f_.operands.size());
  i.operandCount = static_cast<uint32_t>(operands.size());
  i.next = place.before;
  i.previous = place.before.valid() ? f_[place.before].previous : f_.last;
  f_.operands.insert(f_.operands.end(), operands);
  f_.instructions.push_back(i);
  (i.previous.valid() ? f_[i.previous].next : f_.first) = id;
  (i.next.valid() ? f_[i.next].previous : f_.last) = id;
  f_.changed = true;
  return id;
}

void Editor::move(Place place, std::string_view text, RegId to, RegId from, Guard guard) {
  const uint32_t code = opcode(text).value;
  if (!guard.reg.valid()) {
    insert(place, InstrKind::Instruction, code,
           {registerOperand(to, Role::Def), registerOperand(from, Role::Use, Join::Comma)});
    return;
  }
  const auto flags = static_cast<uint8_t>(Operand::Guard | (guard.negated ? Operand::Not : 0));
  const InstrId id = insert(place, InstrKind::Instruction, code,
                            {registerOperand(guard.reg, Role::Use, Join::None, flags),
                             registerOperand(to, Role::Mod), registerOperand(from, Role::Use, Join::Comma)});
  f_[id].flags |= Instruction::Guarded;
}

void Editor::unpack(Place place, std::string_view text, RegId low, RegId high, RegId from) {
  insert(place, InstrKind::Instruction, opcode(text).value,
         {vectorOfTwo(Join::None), registerOperand(low, Role::Def), registerOperand(high, Role::Def, Join::Comma),
          registerOperand(from, Role::Use, Join::Comma)});
}

void Editor::pack(Place place, std::string_view text, RegId to, RegId low, RegId high) {
  insert(place, InstrKind::Instruction, opcode(text).value,
         {registerOperand(to, Role::Def), vectorOfTwo(Join::Comma), registerOperand(low, Role::Use),
          registerOperand(high, Role::Use, Join::Comma)});
}

void Editor::branch(Place place, LabelId target) {
  insert(place, InstrKind::Instruction, opcode("bra").value,
         {{.kind = OperandKind::Label, .payload = target.value}});
}

LabelId Editor::label(Place place) {
  std::string name;
  do name = fmt::format("$L_copies_{}", labels_++);
  while (module_.names.find(name).valid());
  const LabelId id(f_.labels.size());
  const InstrId at = insert(place, InstrKind::Label, id.value, {});
  f_.labels.push_back({.name = module_.names.internCopy(name), .place = at});
  return id;
}

}  // namespace coalescing
