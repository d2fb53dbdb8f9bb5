// Operands are printed in their stored order, each after the text of its join; groups nest by the number of entries
// inside. Made registers, variables and labels get names with a separator that no name of the module has in that place.
#include "text/instruction_printer.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <iterator>

#include "text/canonical.h"

namespace ptxopt::text {
namespace {

constexpr std::string_view kJoinText[] = {"",   ", ", "|",  "+",  "-",  "*",  "/",  " % ", "&", "^", "&&",
                                          "||", "==", "!=", "<=", ">=", "<<", ">>", "<",   ">", "?", ":"};

void appendNumber(std::string& out, auto value, int base = 10) {
  char buffer[24];
  const auto result = std::to_chars(std::begin(buffer), std::end(buffer), value, base);
  out.append(buffer, static_cast<std::size_t>(result.ptr - buffer));
}

void appendInteger(std::string& out, uint64_t value, uint8_t flags) {
  if (flags & Operand::Hex) {
    out += "0x";
    appendNumber(out, value, 16);
  } else if (flags & Operand::Unsigned) {
    appendNumber(out, value);
  } else {
    appendNumber(out, static_cast<int64_t>(value));
  }
  if ((flags & Operand::Unsigned) && value <= INT64_MAX) out += 'U';
}

void appendDecimal(std::string& out, double value) {
  const std::string text = fmt::format("{}", value);  // the shortest that reads back the same
  out += text;
  if (text.find_first_of(".e") == std::string::npos) out += ".0";
}

}  // namespace

// ---- registers and variables that passes made ----

constexpr std::string_view kVariablePrefix = "made", kLabelPrefix = "L", kCopyOf = "_of_";

MadeNames::MadeNames(const Module& module) : module_(module) {
  // A made name is %TYPE or `made`, separator, perhaps a hint, number. No name of the module may be spelled so.
  for (bool clash = true; clash;) {
    clash = false;
    for (std::size_t i = 0; i < module.names.size() && !clash; ++i) {
      std::string_view name = module.names[NameId(i)];
      const std::size_t at = name.find(separator_);
      if (at == std::string_view::npos) continue;
      if (name.substr(0, at) == kVariablePrefix) clash = true;
      if (clash || !name.starts_with('%')) continue;
      std::string_view type = name.substr(1, at - 1);
      if (type.size() > 2 && type[0] == 'v' && (type[1] == '2' || type[1] == '4')) type.remove_prefix(2);
      clash = scalarType(type) != ScalarType::None;
    }
    if (clash) separator_ += '_';
  }
}

void MadeNames::appendPrefix(std::string& out, const Register& reg) const {
  out += '%';
  if (reg.lanes > 1) {
    out += 'v';
    appendNumber(out, unsigned{reg.lanes});
  }
  out += info(reg.type).name;
  out += separator_;
  out += spelling(reg.hint);
}

void MadeNames::append(std::string& out, const Register& reg) const {
  appendPrefix(out, reg);
  appendNumber(out, reg.number);
}

void MadeNames::append(std::string& out, const Variable& variable) const {
  out += kVariablePrefix;
  out += separator_;
  appendNumber(out, variable.number);
}

void MadeNames::append(std::string& out, const Function& function, LabelId label) const {
  out += kVariablePrefix;
  out += separator_;
  out += kLabelPrefix;
  appendNumber(out, label.value);
  const Label& made = function.labels[label.value];
  if (!made.copyOf.valid() || made.copyFrom != function.index) return;
  const std::string_view of = module_.text(made.copyOf);
  if (of.starts_with('%')) return;  // where a name may begin with it, but not have it elsewhere
  out += kCopyOf;
  out += of;
}

std::string_view MadeNames::copiedLabel(std::string_view name) {
  for (std::string_view rest = name; rest.starts_with(kVariablePrefix); name = rest) {
    rest.remove_prefix(kVariablePrefix.size());
    rest.remove_prefix(std::min(rest.find_first_not_of('_'), rest.size()));
    if (!rest.starts_with(kLabelPrefix)) break;
    rest.remove_prefix(std::min(rest.find_first_not_of("0123456789", 1), rest.size()));
    if (!rest.starts_with(kCopyOf)) break;
    rest.remove_prefix(kCopyOf.size());
  }
  return name;
}

std::size_t MadeNames::appendDeclarations(std::string& out, const Function& function) const {
  struct Kind {
    Register example;
    uint32_t count;
  };
  std::vector<Kind> kinds;
  for (const Register& reg : function.registers) {
    if (reg.name.valid() || &reg == function.registers.data()) continue;
    const auto same = [&](const Kind& k) {
      return k.example.type == reg.type && k.example.lanes == reg.lanes && k.example.hint == reg.hint;
    };
    auto it = std::find_if(kinds.begin(), kinds.end(), same);
    if (it == kinds.end()) it = kinds.insert(kinds.end(), {reg, 0});
    it->count = std::max(it->count, reg.number + 1);
  }
  for (const Kind& kind : kinds) {
    out += "\n\t.reg ";
    if (kind.example.lanes > 1) fmt::format_to(std::back_inserter(out), ".v{} ", kind.example.lanes);
    fmt::format_to(std::back_inserter(out), ".{} ", info(kind.example.type).name);
    appendPrefix(out, kind.example);
    fmt::format_to(std::back_inserter(out), "<{}>;", kind.count);
  }
  std::size_t variables = 0;
  for (const Variable& v : function.variables) {
    if (v.name.valid() || v.declarator.elements == 0) continue;
    fmt::format_to(std::back_inserter(out), "\n\t{} ", module_.text(module_.declarationForms[v.form].text));
    append(out, v);
    fmt::format_to(std::back_inserter(out), "[{}];", v.declarator.elements);
    ++variables;
  }
  return kinds.size() + variables;
}

// ---- instructions ----

void InstructionPrinter::print(const Instruction& instruction) {
  switch (instruction.kind) {
    case InstrKind::Instruction: printReal(instruction); break;
    case InstrKind::Label:
      printLabel(LabelId(instruction.payload));
      put(":");
      break;
    case InstrKind::ScopeOpen: put("{"); break;
    case InstrKind::ScopeClose: put("}"); break;
    case InstrKind::Declaration: printDeclaration(function_.declarations[instruction.payload]); break;
    case InstrKind::Pragma: put(NameId(instruction.payload)); break;
    case InstrKind::Targets:
      put(NameId(instruction.payload));
      put(" ");
      printOperands(function_.operandsOf(instruction));
      put(";");
      break;
    case InstrKind::Loc: printLoc(instruction); break;
    case InstrKind::Verbatim:
      appendCanonical(out_, module_.text(SourceRange{instruction.sourceBegin, instruction.sourceEnd}));
      break;
  }
}

void InstructionPrinter::printReal(const Instruction& instruction) {
  auto operands = function_.operandsOf(instruction);
  if (instruction.is(Instruction::Guarded)) {
    put(operands[0].is(Operand::Not) ? "@!" : "@");
    printRegister(operands[0].reg());
    put(" ");
    operands = operands.subspan(1);
  }
  while (!operands.empty() && operands.back().is(Operand::Implicit)) operands = operands.first(operands.size() - 1);
  if (module_.opcodes[instruction.payload].isEscaped) put("\\");
  put(module_.opcodes[instruction.payload].spelling);
  if (!operands.empty()) {
    put(" ");
    printOperands(operands);
  }
  put(";");
}

void InstructionPrinter::printLoc(const Instruction& instruction) {
  const Loc& loc = function_.locs[instruction.payload];
  if (loc.isIntermediate) return appendCanonical(out_, module_.text(SourceRange{loc.rest, instruction.sourceEnd}));
  put(".loc ");
  appendNumber(out_, loc.file);
  put(" ");
  appendNumber(out_, loc.line);
  put(" ");
  appendNumber(out_, loc.column);
  // What is canonical begins with a comma or with the word of a directive.
  const std::size_t at = out_.size();
  appendCanonical(out_, module_.text(SourceRange{loc.rest, instruction.sourceEnd}));
  if (at < out_.size() && out_[at] != ',' && out_[at] != ' ') out_.insert(at, 1, ' ');
}

void InstructionPrinter::printLabel(LabelId id) {
  const NameId name = function_.labels[id.value].name;
  if (name.valid())
    put(name);
  else
    made_.append(out_, function_, id);
}

void InstructionPrinter::printOperands(std::span<const Operand> operands) {
  for (std::size_t at = 0; at < operands.size();) printOperand(operands, at);
}

// One entry with all that is inside it; `at` moves after it.
void InstructionPrinter::printOperand(std::span<const Operand> operands, std::size_t& at) {
  const Operand o = operands[at++];
  if (o.kind != OperandKind::Selector) put(kJoinText[static_cast<std::size_t>(o.join)]);
  if (o.is(Operand::Negated)) put("-");
  if (o.is(Operand::Not)) put("!");
  if (o.is(Operand::Complement)) put("~");
  const auto group = [&](std::string_view open, std::string_view close) {
    put(open);
    for (const std::size_t end = at + o.inside(); at < end;) printOperand(operands, at);
    put(close);
  };
  switch (o.kind) {
    case OperandKind::Register: printRegister(o.reg()); break;
    case OperandKind::SpecialRegister:
    case OperandKind::Builtin: put(NameId(o.payload)); break;
    case OperandKind::Integer:
      appendInteger(out_, static_cast<uint64_t>(int64_t{static_cast<int32_t>(o.payload)}), o.flags & Operand::Hex);
      break;
    case OperandKind::WideInteger: appendInteger(out_, function_.constants[o.payload], o.flags); break;
    case OperandKind::Float32: fmt::format_to(std::back_inserter(out_), "0f{:08X}", o.payload); break;
    case OperandKind::Float64:
      fmt::format_to(std::back_inserter(out_), "0d{:016X}", function_.constants[o.payload]);
      break;
    case OperandKind::Decimal: appendDecimal(out_, std::bit_cast<double>(function_.constants[o.payload])); break;
    case OperandKind::Label: printLabel(LabelId(o.payload)); break;
    case OperandKind::Variable: printVariable(function_.variables[o.payload]); break;
    case OperandKind::Symbol: put(module_.symbols[o.payload].name); break;
    case OperandKind::Sink: put("_"); break;
    case OperandKind::Selector:
      put(".");
      put(NameId(o.payload));
      break;
    case OperandKind::Cast:
      put("(");
      put(NameId(o.payload));
      put(")");
      break;
    case OperandKind::Vector: group("{", "}"); break;
    case OperandKind::Memory: group("[", "]"); break;
    case OperandKind::Paren: group("(", ")"); break;
  }
}

void InstructionPrinter::printRegister(RegId id) {
  const Register& reg = function_.registers[id.value];
  if (reg.name.valid())
    put(reg.name);
  else
    made_.append(out_, reg);
}

void InstructionPrinter::printVariable(const Variable& variable) {
  if (variable.name.valid())
    put(variable.name);
  else
    made_.append(out_, variable);
}

void InstructionPrinter::printDeclaration(const Declaration& declaration) {
  put(module_.declarationForms[declaration.form].text);
  for (uint32_t i = 0; i < declaration.declaratorCount; ++i) {
    const Declarator& d = function_.declarators[declaration.firstDeclarator + i];
    put(i == 0 ? " " : ", ");
    put(d.name);
    if (d.isRange) {
      put("<");
      appendNumber(out_, d.count);
      put(">");
    }
    if (!d.dimensions.empty()) appendCanonical(out_, module_.text(d.dimensions));
    if (!d.initializer.empty()) {
      put(" = ");
      appendCanonical(out_, module_.text(d.initializer));
    }
  }
  put(";");
}

}  // namespace ptxopt::text
