// The opcode is split at its dots and the operands at the commas of their own level; each part is marked when a binder
// function takes it. Binder::finish() refuses an instruction with a part that nobody took.
#include "exec/binder.h"

#include <fmt/format.h>

#include <cstring>

#include "exec/constant_expression.h"
#include "exec/machine.h"
#include "ir/operand_predicates.h"

namespace ptxopt::exec {

Binder::Binder(Program& program, Machine& machine, Routine& routine, const Instruction& instruction)
    : program_(program),
      machine_(machine),
      routine_(routine),
      function_(*routine.function),
      instruction_(instruction) {
  std::string_view rest = text();
  for (;;) {
    const std::size_t dot = rest.find('.');
    components_.push_back({rest.substr(0, dot), false});
    if (dot == std::string_view::npos) break;
    rest.remove_prefix(dot + 1);
  }
  components_.front().taken = true;

  std::span<const Operand> entries = function_.operandsOf(instruction);
  if (instruction.is(Instruction::Guarded)) {
    const Operand& g = entries.front();
    op_.guard = registerArg(g, {}).offset;
    op_.guardNegated = g.is(Operand::Not);
    entries = entries.subspan(1);
  }
  while (!entries.empty() && entries.back().is(Operand::Implicit)) entries = entries.first(entries.size() - 1);
  for (const auto& run : split(entries)) operands_.push_back({run, false});
}

// A run of entries cut at the commas of its own level.
std::vector<std::span<const Operand>> Binder::split(std::span<const Operand> entries) {
  std::vector<std::span<const Operand>> runs;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < entries.size();) {
    const bool selector = entries[i].kind == OperandKind::Selector;
    if (i != begin && !selector && (entries[i].join == Join::Comma || entries[i].join == Join::None)) {
      // A call's lists and a cast's value stand without a comma.
      if (entries[i - 1].kind != OperandKind::Cast) {
        runs.push_back(entries.subspan(begin, i - begin));
        begin = i;
      }
    }
    i += 1 + entries[i].inside();
  }
  if (begin < entries.size()) runs.push_back(entries.subspan(begin));
  return runs;
}

std::string_view Binder::text() const { return program_.module().printedOpcode(instruction_); }

void Binder::unsupported(const std::string& reason) const {
  throw ExecError(FaultKind::Unsupported, fmt::format("{}: {}", text(), reason));
}

// ---- the opcode ----

bool Binder::has(std::string_view modifier) const {
  for (std::size_t i = 1; i < components_.size(); ++i)
    if (components_[i].text == modifier) return true;
  return false;
}

bool Binder::take(std::string_view modifier) {
  for (std::size_t i = 1; i < components_.size(); ++i)
    if (components_[i].text == modifier && !components_[i].taken) return components_[i].taken = true;
  return false;
}

std::string_view Binder::takeOneOf(std::initializer_list<std::string_view> modifiers) {
  for (const std::string_view m : modifiers)
    if (take(m)) return m;
  return {};
}

ScalarType Binder::takeType() {
  for (std::size_t i = 1; i < components_.size(); ++i) {
    if (components_[i].taken) continue;
    const ScalarType t = scalarType(components_[i].text);
    if (t == ScalarType::None) continue;
    components_[i].taken = true;
    return t;
  }
  return ScalarType::None;
}

unsigned Binder::takeVector() { return take("v2") ? 2 : take("v4") ? 4 : take("v8") ? 8 : 1; }

std::vector<std::string_view> Binder::takeRest() {
  std::vector<std::string_view> rest;
  for (Component& c : components_) {
    if (!c.taken) rest.push_back(c.text);
    c.taken = true;
  }
  return rest;
}

// ---- the operands ----

Binder::OperandRun& Binder::operand(std::size_t i) {
  if (i >= operands_.size()) unsupported(fmt::format("operand {} is missing", i + 1));
  operands_[i].taken = true;
  allowsMinus_ = operands_[i].minusTaken;
  return operands_[i];
}

Shape Binder::shape(std::size_t i) const {
  if (i >= operands_.size()) return Shape::None;
  const auto entries = operands_[i].entries;
  if (isConstantExpression(entries.front())) return Shape::Immediate;
  switch (entries.front().kind) {
    case OperandKind::Register:
      return function_.registers[entries.front().payload].lanes > 1 && entries.size() == 1 ? Shape::Vector
                                                                                           : Shape::Register;
    case OperandKind::SpecialRegister: return Shape::Special;
    case OperandKind::Label:
    case OperandKind::Variable:
    case OperandKind::Symbol: return Shape::Address;
    case OperandKind::Sink: return Shape::Sink;
    case OperandKind::Vector: return Shape::Vector;
    case OperandKind::Memory: return Shape::Memory;
    default: return Shape::Other;
  }
}

bool Binder::isPair(std::size_t i) const {
  if (i >= operands_.size()) return false;
  const auto entries = operands_[i].entries;
  const std::size_t second = 1 + entries.front().inside();
  return second < entries.size() && entries[second].join == Join::Pipe;
}

Arg Binder::constant(uint64_t value, uint8_t bytes) {
  if (bytes == 0) value = value != 0 ? kAllLanes : 0;
  const uint8_t stored = bytes == 0 ? 4 : bytes;
  if (stored < 8) value &= (uint64_t{1} << (stored * 8)) - 1;
  std::string key(1 + sizeof value, static_cast<char>(bytes));
  std::memcpy(key.data() + 1, &value, sizeof value);
  auto& known = program_.constantOf_;
  if (const auto found = known.find(key); found != known.end()) return found->second;
  auto& all = program_.constants_;
  Arg a;
  a.base = Base::Constant;
  a.bytes = bytes;
  a.offset = static_cast<uint32_t>(all.size());
  all.resize(all.size() + (std::size_t{bytes == 0 ? 2u : stored} * kLanes));
  for (unsigned i = 0; i < (bytes == 0 ? 1 : kLanes); ++i)
    std::memcpy(all.data() + a.offset + std::size_t{i} * stored, &value, std::min<std::size_t>(stored, 8));
  known.emplace(std::move(key), a);
  return a;
}

Arg Binder::sink(uint8_t bytes) {
  Arg a;
  a.base = Base::Scratch;
  a.bytes = bytes;
  a.isSink = true;
  return a;
}

Arg Binder::carry() { return routine_.registers[Function::kCarry.value]; }

// ---- the result ----

void Binder::collective(std::size_t argIndex) {
  op_.kind = OpKind::Collective;
  op_.memberMask = static_cast<uint8_t>(argIndex);
}

void Binder::keep(std::shared_ptr<const void> object) { program_.data_.push_back(std::move(object)); }

void Binder::finish() {
  for (const Component& c : components_)
    if (!c.taken) unsupported(fmt::format("the modifier .{}", c.text));
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    if (!operands_[i].taken) unsupported(fmt::format("operand {}", i + 1));
    // Registers with lanes have their selectors read with them; on others one must have been asked for.
    const auto entries = operands_[i].entries;
    for (std::size_t k = 1; k < entries.size() && !operands_[i].selectorTaken; ++k)
      if (entries[k].kind == OperandKind::Selector && entries[k - 1].isRegister() &&
          entries.front().kind != OperandKind::Memory && function_.registers[entries[k - 1].payload].lanes == 1)
        unsupported(fmt::format("the selector .{}", program_.module().text(NameId(entries[k].payload))));
  }
  if (op_.run == nullptr) unsupported("this form");
  program_.args_.push_back(std::make_unique<Arg[]>(std::max<std::size_t>(args_.size(), 1)));
  std::copy(args_.begin(), args_.end(), program_.args_.back().get());
  op_.args = program_.args_.back().get();
  op_.argCount = static_cast<uint16_t>(args_.size());
}

}  // namespace ptxopt::exec
