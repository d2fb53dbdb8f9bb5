// Erased instructions leave the list and keep their id, so that ids stay valid. New operands are appended where they
// are more than the old ones, and a changed instruction is marked for the printer.
#include "ir/function.h"

#include <algorithm>

namespace ptxopt {

uint64_t Function::countInstructions() const {
  uint64_t n = 0;
  for (const InstrId id : *this) n += (*this)[id].isInstruction();
  return n;
}

void Function::erase(InstrId id) {
  Instruction& i = instructions[id.value];
  (i.previous.valid() ? instructions[i.previous.value].next : first) = i.next;
  (i.next.valid() ? instructions[i.next.value].previous : last) = i.previous;
  i.flags |= Instruction::Erased;
  changed = true;
}

void Function::moveBefore(InstrId id, InstrId where) {
  if (id == where) return;
  Instruction& i = instructions[id.value];
  (i.previous.valid() ? instructions[i.previous.value].next : first) = i.next;
  (i.next.valid() ? instructions[i.next.value].previous : last) = i.previous;
  Instruction& after = instructions[where.value];
  i.previous = after.previous;
  i.next = where;
  (after.previous.valid() ? instructions[after.previous.value].next : first) = id;
  after.previous = id;
  i.flags |= Instruction::Moved;
  changed = true;
}

void Function::touch(InstrId id) {
  instructions[id.value].flags |= Instruction::Changed;
  changed = true;
}

void Function::setOperands(InstrId id, std::span<const Operand> with) {
  Instruction& i = instructions[id.value];
  if (with.size() > i.operandCount) {
    i.firstOperand = static_cast<uint32_t>(operands.size());
    operands.resize(operands.size() + with.size());
  }
  std::copy(with.begin(), with.end(), operands.begin() + i.firstOperand);
  i.operandCount = static_cast<uint32_t>(with.size());
  touch(id);
}

Operand Function::numberOperand(int64_t value) {
  if (value == static_cast<int32_t>(value)) return integerOperand(static_cast<int32_t>(value));
  constants.push_back(static_cast<uint64_t>(value));
  return {.kind = OperandKind::WideInteger,
          .join = Join::Comma,
          .payload = static_cast<uint32_t>(constants.size() - 1)};
}

std::optional<uint64_t> immediate(const Function& f, const Operand& o) {
  uint64_t bits = 0;
  if (o.kind == OperandKind::Integer)
    bits = static_cast<uint64_t>(int64_t{static_cast<int32_t>(o.payload)});
  else if (o.kind == OperandKind::WideInteger)
    bits = f.constants[o.payload];
  else
    return std::nullopt;
  if (o.is(Operand::Complement) || o.is(Operand::Not)) return std::nullopt;
  return o.is(Operand::Negated) ? ~bits + 1 : bits;
}

DeclaredSpace declaredSpace(std::string_view name) {
  constexpr std::string_view kNames[] = {"", "reg", "const", "global", "local", "shared", "param", "tex"};
  const auto at = std::ranges::find(kNames, name);
  return at == std::end(kNames) ? DeclaredSpace::None : static_cast<DeclaredSpace>(at - std::begin(kNames));
}

std::string_view spelling(NameHint hint) {
  switch (hint) {
    case NameHint::Pointer: return "ptr";
    case NameHint::Counter: return "count";
    case NameHint::One: return "one";
    case NameHint::Zero: return "zero";
    case NameHint::Product: return "wide";
    case NameHint::None: break;
  }
  return {};
}

RegId Function::makeRegister(ScalarType type, uint8_t lanes, NameHint hint) {
  const std::size_t kind = (static_cast<std::size_t>(type) * 8 + lanes) * 8 + static_cast<std::size_t>(hint);
  if (made_.size() <= kind) made_.resize(kind + 1);
  const RegId id(registers.size());
  registers.push_back({.name = NameId(), .number = made_[kind]++, .type = type, .lanes = lanes, .hint = hint});
  changed = true;
  return id;
}

VariableId Function::makeVariable(uint32_t form, uint64_t elements) {
  const VariableId id(variables.size());
  Variable& v = variables.emplace_back();
  v.number = madeVariables_++;
  v.form = form;
  v.declarator.elements = elements;
  changed = true;
  return id;
}

InstrId Function::link(InstrId where, const Instruction& i) {
  const InstrId id(instructions.size());
  instructions.push_back(i);
  Instruction& now = instructions.back();
  now.next = where;
  now.previous = where.valid() ? instructions[where.value].previous : last;
  (now.previous.valid() ? instructions[now.previous.value].next : first) = id;
  (where.valid() ? instructions[where.value].previous : last) = id;
  changed = true;
  return id;
}

InstrId Function::insert(InstrId where, OpcodeId opcode, std::span<const Operand> list) {
  Instruction i;
  i.payload = opcode.value;
  i.firstOperand = static_cast<uint32_t>(operands.size());
  i.operandCount = static_cast<uint32_t>(list.size());
  if (!list.empty() && list[0].is(Operand::Guard)) i.flags = Instruction::Guarded;
  operands.insert(operands.end(), list.begin(), list.end());
  return link(where, i);
}

InstrId Function::insertLike(InstrId where, const Instruction& like, std::span<const Operand> list) {
  Instruction i = like;
  i.firstOperand = static_cast<uint32_t>(operands.size());
  i.operandCount = static_cast<uint32_t>(list.size());
  const bool isOfSource = i.kind == InstrKind::Loc || i.kind == InstrKind::Verbatim;
  if (!isOfSource) i.sourceBegin = i.sourceEnd = 0;
  const auto guarded = static_cast<uint8_t>(i.flags & Instruction::Guarded);
  i.flags = isOfSource ? static_cast<uint8_t>(guarded | Instruction::Moved) : guarded;
  operands.insert(operands.end(), list.begin(), list.end());
  return link(where, i);
}

InstrId Function::insertPragma(InstrId where, NameId strings) {
  Instruction i;
  i.kind = InstrKind::Pragma;
  i.payload = strings.value;
  return link(where, i);
}

LabelId Function::makeLabel() {
  labels.emplace_back();
  changed = true;
  return LabelId(labels.size() - 1);
}

LabelId Function::makeLabelLike(const Function& from, LabelId label) {
  const Label like = from.labels[label.value];
  const LabelId made = makeLabel();
  const bool isOfInput = like.name.valid();
  labels[made.value].copyOf = isOfInput ? like.name : like.copyOf;
  labels[made.value].copyFrom = isOfInput ? from.index : like.copyFrom;
  return made;
}

InstrId Function::insertLabel(InstrId where, LabelId label) {
  Instruction i;
  i.kind = InstrKind::Label;
  i.payload = label.value;
  return labels[label.value].place = link(where, i);
}

}  // namespace ptxopt
