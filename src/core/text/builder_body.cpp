// Function bodies: statements and the roles of operands. The operands themselves: builder_operands.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "PtxLexer.h"
#include "text/builder.h"
#include "text/canonical.h"
#include "text/number.h"
#include "text/syntax_error.h"

namespace ptxopt::text {

using grammar::PtxLexer;

// ---- statements ----

void Builder::finishStatement(const Token& last) {
  if (kind_ == InstrKind::Instruction) finishInstruction();
  if (kind_ == InstrKind::Declaration) {
    payload_ = static_cast<uint32_t>(function_->declarations.size());
    const auto end = static_cast<uint32_t>(function_->declarators.size());
    function_->declarations.push_back({declarationForm_, firstDeclarator_, end - firstDeclarator_});
  }
  if (kind_ == InstrKind::Pragma) {
    std::string text;
    appendCanonical(text, module_.text(SourceRange{statementBegin_, endOf(last)}));
    payload_ = module_.names.internCopy(text).value;
  }
  inPrototype_ = false;

  Function& f = *function_;
  const InstrId id(f.instructions.size());
  Instruction& i = f.instructions.emplace_back();
  i.kind = kind_;
  i.payload = payload_;
  i.firstOperand = firstOperand_;
  i.operandCount = static_cast<uint32_t>(f.operands.size()) - firstOperand_;
  i.flags = guarded_ ? Instruction::Guarded : 0;
  i.sourceBegin = statementBegin_;
  i.sourceEnd = endOf(last);
  i.previous = f.last;
  (f.last.valid() ? f[f.last].next : f.first) = id;
  f.last = id;
  if (kind_ == InstrKind::Label) f.labels[payload_].place = id;
}

void Builder::label(const Token& t) {
  const NameId name = intern(t);
  const LabelId id(function_->labels.size());
  function_->labels.push_back({name, InstrId()});
  if (names_.hidesVariable(name, false)) function_->hidesNames = true;
  noteSpecialName(t.view(), false);
  if (!names_.declareLabel(name, id)) fail(t, fmt::format("'{}' is already defined in this scope", t.view()));
  kind_ = InstrKind::Label;
  payload_ = id.value;
}

void Builder::openScope(const Token& t) {
  if (names_.depth() > kMostScopes) fail(t, fmt::format("scopes nested deeper than {} levels", kMostScopes));
  names_.openScope();
  kind_ = InstrKind::ScopeOpen;
}

void Builder::closeScope(const Token& t) {
  if (names_.depth() == 1) {
    closeBody(t);
    return;
  }
  names_.closeScope();
  kind_ = InstrKind::ScopeClose;
}

void Builder::loc() {
  if (context_ != Context::Body) return;
  kind_ = InstrKind::Loc;
  payload_ = static_cast<uint32_t>(function_->locs.size());
  function_->locs.emplace_back();
  locValues_ = 0;
}

void Builder::locIntermediate(const Token& t) {
  loc();
  if (context_ != Context::Body) return;
  function_->locs.back().isIntermediate = true;
  function_->locs.back().rest = offsetOf(t);
}

void Builder::locValue(const Token& t) {
  uint64_t value = 0;
  if (!parseInteger(t.view(), value) || value > UINT32_MAX) fail(t, "the number does not fit in 32 bits");
  if (context_ != Context::Body) return;
  Loc& loc = function_->locs.back();
  uint32_t* const fields[] = {&loc.file, &loc.line, &loc.column};
  *fields[locValues_++] = static_cast<uint32_t>(value);
  loc.rest = endOf(t);
}

void Builder::prototype() {
  kind_ = InstrKind::Verbatim;
  inPrototype_ = true;
}

void Builder::targets(const Token& t) {
  kind_ = InstrKind::Targets;
  payload_ = intern(t).value;
}

void Builder::target(const Token& t) {
  targetName_ = intern(t);
  if (function_->operands.size() > firstOperand_) join_ = Join::Comma;
  pushPending(t, targetName_);
}

// `L<3>` is L0, L1, L2.
void Builder::targetCount(const Token& t) {
  uint64_t count = 0;
  if (!parseInteger(t.view(), count) || count == 0) fail(t, "a range of targets has one or more");
  countFromRange(t, count);
  join_ = function_->operands.back().join;
  function_->operands.pop_back();
  pending_.pop_back();
  for (uint64_t i = 0; i < count; ++i) {
    pushPending(t, module_.names.internCopy(fmt::format("{}{}", module_.text(targetName_), i)));
    join_ = Join::Comma;
  }
}

// ---- instructions ----

void Builder::guard(const Token& t) {
  std::string_view text = t.view();
  // The name is the last word; between it and the @ stand blanks, comments, and perhaps a !.
  std::size_t begin = text.size();
  while (begin > 0 && (std::isalnum(static_cast<unsigned char>(text[begin - 1])) || text[begin - 1] == '_' ||
                       text[begin - 1] == '$' || text[begin - 1] == '%'))
    --begin;
  bool negated = false;
  for (std::size_t i = 1; i < begin; ++i) {
    const std::string_view rest = text.substr(i, begin - i);
    if (rest.starts_with("//"))
      i = std::min(text.find('\n', i), begin);
    else if (rest.starts_with("/*"))
      i = std::min(text.find("*/", i + 2), begin) + 1;
    else if (text[i] == '#')  // a line mark
      i = std::min(text.find('"', text.find('"', i) + 1), begin);
    else if (text[i] == '!')
      negated = true;
  }
  const std::string_view name = text.substr(begin);
  RegId reg = names_.findNumbered(name);
  if (!reg.valid()) {
    const Meaning meaning = names_.find(module_.names.intern(name));
    if (meaning.kind == Meaning::Register) {
      reg = RegId(meaning.id);
    } else {
      undefined(offsetOf(t), module_.names.intern(name), "register");
      reg = RegId(function_->registers.size());
      function_->registers.push_back({.name = module_.names.intern(name), .type = ScalarType::pred});
    }
  }
  if (function_->registers[reg.value].type != ScalarType::pred)
    fail(t, fmt::format("the guard '{}' is not a predicate", name));
  Operand& operand = push(OperandKind::Register, reg.value);
  operand.role = Role::Use;
  operand.flags = static_cast<uint8_t>(Operand::Guard | (negated ? Operand::Not : 0));
  guarded_ = true;
}

// After a backslash. ptxas takes it before any instruction, and `call` is a word of its syntax. For barriers, for what
// threads of a warp exchange, and for divisions it then makes different code, as if they were reached separately: the
// backslash stays.
void Builder::escaped(const Token& t) {
  isEscaped_ = true;
  if (t.view() == "call" || t.view().starts_with("call.")) fail(t, "a backslash before 'call'");
}

void Builder::opcode(const Token& t) {
  kind_ = InstrKind::Instruction;
  opcodeToken_.begin = t.begin;
  opcodeToken_.length = t.length;
  opcodeText_.clear();
  payload_ = intern(t).value;
}

void Builder::opcodeSuffix(const Token& t) {
  if (opcodeText_.empty()) opcodeText_ = module_.text(NameId(payload_));
  opcodeText_ += t.view();
}

void Builder::finishInstruction() {
  if (isEscaped_) {
    if (opcodeText_.empty()) opcodeText_ = module_.text(NameId(payload_));
    opcodeText_.insert(0, 1, '\\');
  }
  const NameId text = opcodeText_.empty() ? NameId(payload_) : module_.names.internCopy(opcodeText_);
  if (opcodeOf_.size() <= text.value)
    opcodeOf_.resize(module_.names.size() + module_.names.size() / 2, OpcodeId::kNone);
  uint32_t& id = opcodeOf_[text.value];
  if (id == OpcodeId::kNone) id = module_.addOpcode(text).value;
  payload_ = id;
  const OpcodeForm& form = module_.opcodes[id];
  assignRoles(form);
  addImplicitOperands(form);
}

// Gives each register its role by the place of its operand, and makes labels of the names where labels belong.
void Builder::assignRoles(const OpcodeForm& form) {
  const std::size_t first = firstOperand_ + (guarded_ ? 1 : 0);
  if (form.is(effect::Call)) return assignCallRoles(first);

  const std::span<Operand> operands(function_->operands);
  const bool isKnown = form.knowsOperands();
  const std::string_view letters = isKnown ? form.row->operands : std::string_view();
  std::size_t index = 0;
  for (std::size_t i = first; i < operands.size();) {
    if (operands[i].join == Join::Comma) ++index;
    const char letter = index < letters.size() ? letters[index] : isKnown ? 'u' : 'm';
    Role role = letter == 'm' || (letter == 'd' && guarded_) ? Role::Mod : letter == 'd' ? Role::Def : Role::Use;
    for (const std::size_t end = i + 1 + operands[i].inside(); i < end; ++i) {
      Operand& o = operands[i];
      if (o.kind == OperandKind::Memory && isKnown) role = Role::Use;
      if (letter == 'l') {
        wantLabel(i);
      } else if (o.isRegister()) {
        // Writing one lane of a vector register keeps the others.
        const bool writesLane = role == Role::Def && function_->registers[o.payload].lanes > 1 &&
                                i + 1 < operands.size() && operands[i + 1].kind == OperandKind::Selector;
        o.role = writesLane ? Role::Mod : role;
      }
    }
  }
}

// call (results), callee, (arguments), prototype
void Builder::assignCallRoles(std::size_t first) {
  std::vector<Operand>& operands = function_->operands;
  const bool hasResults = first < operands.size() && operands[first].kind == OperandKind::Paren;
  const std::size_t results = hasResults ? first + 1 + operands[first].inside() : first;
  if (results == operands.size()) fail(opcodeToken_, "a call without a function");
  for (std::size_t p = firstPending_; p < pending_.size(); ++p)
    pending_[p].isCallee = pending_[p].operand == results;
  for (std::size_t i = first; i < operands.size(); ++i)
    if (operands[i].isRegister()) operands[i].role = i >= results ? Role::Use : guarded_ ? Role::Mod : Role::Def;
}

void Builder::addImplicitOperands(const OpcodeForm& form) {
  const auto add = [&](RegId reg, Role role) {
    join_ = Join::None;
    Operand& operand = push(OperandKind::Register, reg.value);
    operand.role = role;
    operand.flags = Operand::Implicit;
  };
  const bool in = form.is(effect::CarryIn), out = form.is(effect::CarryOut);
  if (in || out) add(Function::kCarry, !out ? Role::Use : in || guarded_ ? Role::Mod : Role::Def);
  if (form.is(effect::Return))
    for (const RegId reg : function_->returnRegisters) add(reg, Role::Use);
}

// ---- after an error ----

// The parameters of an abandoned function stay with it: it has no body.
void Builder::abandon() {
  opened_ = false;
  inParameters_ = false;
  inPrototype_ = false;
  nesting_ = 0;
  indexBytes_ = 0;
  prefixesWritten_.clear();
  around_.clear();
  groups_.clear();
  if (context_ != Context::Body) return;
  function_->operands.resize(firstOperand_);
  pending_.resize(firstPending_);
}

uint32_t Builder::openVectors() const {
  uint32_t open = 0;
  if (context_ == Context::Body)
    for (const uint32_t group : groups_) open += function_->operands[group].kind == OperandKind::Vector;
  return open;
}

// ---- names known at last ----

// Labels of the function first: those of the name's own scope, then of the scopes around it. Symbols are declared
// before they are used.
void Builder::resolvePending() {
  for (const Pending& p : pending_) {
    Operand& operand = function_->operands[p.operand];
    LabelId label;
    for (uint32_t scope = p.scope; !label.valid() && scope != Id<int>::kNone; scope = names_.parentOf(scope))
      label = names_.labelIn(scope, p.name);
    if (label.valid()) {
      operand.kind = OperandKind::Label;
      operand.payload = label.value;
      continue;
    }
    const std::string_view text = module_.text(p.name);
    if (text == "WARP_SZ" && !p.wantsLabel) continue;
    if (const SymbolId id = symbol(p.name); id.valid() && !p.wantsLabel) {
      operand.kind = OperandKind::Symbol;
      operand.payload = id.value;
      continue;
    }
    if (isPart_ && !p.wantsLabel) {
      undeclared_.push_back({function_->index, p.operand, p.name, p.isCallee});
      continue;
    }
    if (p.isCallee && isExternal_ != nullptr && isExternal_(text)) continue;  // as a call through a register
    undefined(p.offset, p.name, p.wantsLabel ? "label" : text.starts_with('%') ? "register" : "symbol");
  }
  pending_.clear();
}

void Builder::undefined(std::size_t offset, NameId name, std::string_view what) {
  const SyntaxError error(offset, fmt::format("undefined {} '{}'", what, module_.text(name)));
  if (undefined_ == nullptr) throw error;
  if (std::ranges::find(reportedUndefined_, name) != reportedUndefined_.end()) return;
  reportedUndefined_.push_back(name);
  undefined_->push_back(error);
}

// For symbols, which may stand after the function.
void Builder::findHiddenSymbols() {
  const auto hides = [&](const auto& named) { return named.name.valid() && symbol(named.name).valid(); };
  for (Function& f : module_.functions)
    if (std::ranges::any_of(f.variables, hides) || std::ranges::any_of(f.labels, hides) ||
        std::ranges::any_of(f.registers, hides))
      f.hidesNames = true;
}

}  // namespace ptxopt::text
