// Function bodies: statements, operands, roles.
#include <fmt/format.h>

#include <bit>
#include <charconv>

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
  if (!names_.declareLabel(name, id)) fail(t, fmt::format("'{}' is already defined in this scope", t.view()));
  kind_ = InstrKind::Label;
  payload_ = id.value;
}

void Builder::openScope(const Token&) {
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

void Builder::locValue(const Token& t) {
  uint64_t value = 0;
  if (!parseInteger(t.view(), value) || value > UINT32_MAX) fail(t, "the number does not fit in 32 bits");
  if (context_ != Context::Body) return;
  Loc& loc = function_->locs.back();
  uint32_t* const fields[] = {&loc.file, &loc.line, &loc.column};
  *fields[locValues_++] = static_cast<uint32_t>(value);
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
  if (!parseInteger(t.view(), count) || count == 0 || count > kMostVariablesInRange)
    fail(t, fmt::format("a range of targets has 1 to {} names", kMostVariablesInRange));
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
    if (text.substr(i).starts_with("//"))
      i = text.find('\n', i);
    else if (text.substr(i).starts_with("/*"))
      i = text.find("*/", i + 2) + 1;
    else if (text[i] == '!')
      negated = true;
  }
  const std::string_view name = text.substr(begin);
  RegId reg = names_.findNumbered(name);
  if (!reg.valid()) {
    const Meaning meaning = names_.find(module_.names.intern(name));
    if (meaning.kind != Meaning::Register) fail(t, fmt::format("undefined register '{}'", name));
    reg = RegId(meaning.id);
  }
  if (function_->registers[reg.value].type != ScalarType::pred)
    fail(t, fmt::format("the guard '{}' is no predicate", name));
  Operand& operand = push(OperandKind::Register, reg.value);
  operand.role = Role::Use;
  operand.flags = static_cast<uint8_t>(Operand::Guard | (negated ? Operand::Not : 0));
  guarded_ = true;
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
  payload_ = module_.names.internCopy(opcodeText_).value;
}

void Builder::finishInstruction() {
  const NameId text(payload_);
  if (opcodeOf_.size() <= text.value)
    opcodeOf_.resize(module_.names.size() + module_.names.size() / 2, OpcodeId::kNone);
  uint32_t& id = opcodeOf_[text.value];
  if (id == OpcodeId::kNone) {
    id = static_cast<uint32_t>(module_.opcodes.size());
    module_.opcodes.push_back(readOpcode(module_.text(text)));
    module_.opcodes.back().text = text;
  }
  payload_ = id;
  const OpcodeForm form = module_.opcodes[id];
  assignRoles(form);
  addImplicitOperands(form);
}

// Gives each register its role by the place of its operand, and makes labels of the names where labels belong.
void Builder::assignRoles(const OpcodeForm& form) {
  std::vector<Operand>& operands = function_->operands;
  const std::size_t first = firstOperand_ + (guarded_ ? 1 : 0);
  if (form.is(effect::Call)) return assignCallRoles(first);

  std::size_t index = 0;
  for (std::size_t i = first; i < operands.size();) {
    if (operands[i].join == Join::Comma) ++index;
    const char letter = form.role(index);
    Role role = letter == 'm' || (letter == 'd' && guarded_) ? Role::Mod : letter == 'd' ? Role::Def : Role::Use;
    for (const std::size_t end = i + 1 + operands[i].inside(); i < end; ++i) {
      Operand& o = operands[i];
      if (o.kind == OperandKind::Memory && form.knowsOperands()) role = Role::Use;
      if (letter == 'l') {
        wantLabel(i);
      } else if (o.isRegister()) {
        // Writing one lane of a vector register keeps the others.
        const bool isLane = function_->registers[o.payload].lanes > 1 && i + 1 < operands.size() &&
                            operands[i + 1].kind == OperandKind::Selector;
        o.role = role == Role::Def && isLane ? Role::Mod : role;
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

// ---- operands ----

Operand& Builder::push(OperandKind kind, uint32_t payload) {
  Operand& operand = function_->operands.emplace_back();
  operand.kind = kind;
  operand.payload = payload;
  operand.join = join_;
  operand.flags = prefixes_;
  join_ = Join::None;
  prefixes_ = 0;
  return operand;
}

void Builder::prefix(const Token& t) { prefixesWritten_ += t.view(); }

// Puts the prefixes before an entry that is no number.
void Builder::applyPrefix(const Token& t) {
  if (prefixesWritten_.empty()) return;
  if (prefixesWritten_.size() > 1) fail(t, "more than one prefix before what is no number");
  const char c = prefixesWritten_.front();
  prefixes_ = c == '-'   ? Operand::Negated
              : c == '!' ? Operand::Not
              : c == '~' ? Operand::Complement
                         : Operand::Positive;
  prefixesWritten_.clear();
}

void Builder::closeGroup() {
  const uint32_t group = groups_.back();
  groups_.pop_back();
  function_->operands[group].payload = static_cast<uint32_t>(function_->operands.size()) - group - 1;
}

// Arithmetic is for numbers: a register or symbol may only stand first, as in `%rd1+8`; 0f and 0d literals stand
// alone.
void Builder::checkJoin(const Token& t, OperandKind kind) const {
  if (join_ < Join::Plus) return;
  const bool isNumber = kind == OperandKind::Integer || kind == OperandKind::Decimal ||
                        kind == OperandKind::Paren || kind == OperandKind::Cast ||
                        (kind == OperandKind::Builtin && t.view() == "WARP_SZ");
  if (!isNumber) fail(t, fmt::format("'{}' cannot stand behind an operator", t.view()));
}

void Builder::binary(const Token& t) {
  const Operand& before = function_->operands.back();
  const bool afterNumber =
      before.kind == OperandKind::Integer || before.kind == OperandKind::WideInteger ||
      before.kind == OperandKind::Decimal ||
      (before.kind == OperandKind::Builtin && module_.text(NameId(before.payload)) == "WARP_SZ");
  const bool inVector = !groups_.empty() && function_->operands[groups_.back()].kind == OperandKind::Vector;
  if (inVector && before.isRegister() && t.view() != "|") fail(t, "arithmetic inside a vector");
  if (t.type == PtxLexer::MINUS && !afterNumber) fail(t, "write '+-' to subtract from what is no number");
  static constexpr std::pair<std::string_view, Join> kJoins[] = {
      {"+", Join::Plus},       {"-", Join::Minus},         {"|", Join::Pipe},       {"*", Join::Times},
      {"/", Join::Divide},     {"%", Join::Modulo},        {"&", Join::And},        {"^", Join::Xor},
      {"&&", Join::AndAnd},    {"||", Join::OrOr},         {"==", Join::Equal},     {"!=", Join::NotEqual},
      {"<=", Join::LessEqual}, {">=", Join::GreaterEqual}, {"<<", Join::ShiftLeft}, {">>", Join::ShiftRight},
      {"<", Join::Less},       {">", Join::Greater},       {"?", Join::Question},   {":", Join::Colon}};
  for (const auto& [text, join] : kJoins)
    if (t.view() == text) join_ = join;
}

void Builder::integer(const Token& t) {
  uint64_t value = 0;
  if (!parseInteger(t.view(), value)) fail(t, "the number does not fit in 64 bits");
  const std::string_view text = t.view();
  bool isUnsigned = value > INT64_MAX || text.ends_with('U');
  const bool isHex = text.size() > 2 && (text[1] | 0x20) == 'x' && prefixesWritten_.empty();
  for (; !prefixesWritten_.empty(); prefixesWritten_.pop_back()) {
    const char c = prefixesWritten_.back();
    value = c == '-' ? 0 - value : c == '~' ? ~value : c == '!' ? static_cast<uint64_t>(value == 0) : value;
    if (c == '!') isUnsigned = false;
  }
  const auto asSigned = static_cast<int64_t>(value);
  if (!isUnsigned && asSigned >= INT32_MIN && asSigned <= INT32_MAX) {
    push(OperandKind::Integer, static_cast<uint32_t>(value));
  } else {
    function_->constants.push_back(value);
    Operand& operand = push(OperandKind::WideInteger, static_cast<uint32_t>(function_->constants.size() - 1));
    if (isUnsigned) operand.flags |= Operand::Unsigned;
  }
  if (isHex) function_->operands.back().flags |= Operand::Hex;
}

void Builder::floating(const Token& t) {
  applyPrefix(t);
  const std::string_view text = t.view();
  const char marker = text.size() > 1 ? static_cast<char>(text[1] | 0x20) : ' ';
  uint64_t bits = 0;
  OperandKind kind = OperandKind::Decimal;
  if (text[0] == '0' && (marker == 'f' || marker == 'd')) {
    std::from_chars(text.data() + 2, text.data() + text.size(), bits, 16);
    kind = marker == 'f' ? OperandKind::Float32 : OperandKind::Float64;
  } else {
    double value = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc())
      fail(t, "the number does not fit in a double");
    bits = std::bit_cast<uint64_t>(value);
  }
  if (kind != OperandKind::Decimal) {
    checkJoin(t, kind);
    if (prefixes_ != 0) fail(t, "a sign before a 0f or 0d literal: write it into the bits");
  }
  if (kind == OperandKind::Float32) {
    push(kind, static_cast<uint32_t>(bits));
    return;
  }
  function_->constants.push_back(bits);
  push(kind, static_cast<uint32_t>(function_->constants.size() - 1));
}

// An entry for what `name` means here. False when it is not declared yet, or a label, which a later one may hide.
bool Builder::pushDeclared(const Token& t, NameId name) {
  const Meaning meaning = names_.find(name);
  if (meaning.kind != Meaning::Register && meaning.kind != Meaning::Variable) return false;
  if (join_ >= Join::Plus) fail(t, fmt::format("'{}' cannot stand behind an operator", t.view()));
  push(meaning.kind == Meaning::Register ? OperandKind::Register : OperandKind::Variable, meaning.id);
  return true;
}

// An entry for a name that the function's or the module's end explains: a label, or a symbol.
void Builder::pushPending(const Token& t, NameId name) {
  if (kind_ == InstrKind::Instruction) checkJoin(t, OperandKind::Builtin);
  push(OperandKind::Builtin, name.value);
  pending_.push_back(
      {static_cast<uint32_t>(function_->operands.size() - 1), name, names_.scope(), offsetOf(t), false});
}

// Makes operand `index` a branch target: a register or variable of an outer scope with its name does not count.
void Builder::wantLabel(std::size_t index) {
  Operand& o = function_->operands[index];
  for (std::size_t p = firstPending_; p < pending_.size(); ++p) {
    if (pending_[p].operand != index) continue;
    pending_[p].wantsLabel = true;
    return;
  }
  NameId name;
  if (o.kind == OperandKind::Register) name = function_->registers[o.payload].name;
  if (o.kind == OperandKind::Variable) name = function_->variables[o.payload].name;
  if (!name.valid()) fail(opcodeToken_, "a branch needs a label");
  o.kind = OperandKind::Builtin;
  o.payload = name.value;
  pending_.push_back({static_cast<uint32_t>(index), name, names_.scope(), offsetOf(opcodeToken_), true});
}

void Builder::reg(const Token& t) {
  applyPrefix(t);
  if (const RegId numbered = names_.findNumbered(t.view()); numbered.valid() && join_ < Join::Plus) {
    push(OperandKind::Register, numbered.value);
    return;
  }
  const NameId name = intern(t);
  if (pushDeclared(t, name)) return;
  // With a selector, `%v.x` or `%tid.x`, or a special register without.
  const std::string_view text = t.view();
  const std::size_t dot = text.find('.');
  const std::string_view base = text.substr(0, dot);
  if (dot != std::string_view::npos && pushDeclared(t, module_.names.intern(base))) {
    push(OperandKind::Selector, module_.names.intern(text.substr(dot + 1)).value);
  } else if (const SpecialRegisterInfo* special = text[0] == '%' ? specialRegister(base) : nullptr) {
    Operand& operand = push(OperandKind::SpecialRegister, name.value);
    if (special->isVolatile) operand.flags |= Operand::VolatileRead;
  } else {
    pushPending(t, name);
  }
}

void Builder::name(const Token& t) {
  if (t.view() == "_")
    push(OperandKind::Sink, 0);
  else
    reg(t);
}

void Builder::cast(const Token& t) {
  applyPrefix(t);
  push(OperandKind::Cast, intern(t).value);
}

// `%r2 .b0`: blanks before the dot. `[%rd1].unified`: a qualifier of the address.
void Builder::selector(const Token& t) {
  Operand& before = function_->operands.back();
  if (before.kind == OperandKind::SpecialRegister) {
    const std::string text = std::string(module_.text(NameId(before.payload))) + std::string(t.view());
    before.payload = module_.names.internCopy(text).value;
    return;
  }
  if (before.kind != OperandKind::Register && t.view() != ".unified")
    fail(t, fmt::format("unexpected '{}'", t.view()));
  push(OperandKind::Selector, module_.names.intern(t.view().substr(1)).value);
}

void Builder::open(const Token& t) {
  applyPrefix(t);
  if (groups_.size() >= kMostNesting) fail(t, fmt::format("nested deeper than {} levels", kMostNesting));
  const auto kind = t.type == PtxLexer::LBRACE     ? OperandKind::Vector
                    : t.type == PtxLexer::LBRACKET ? OperandKind::Memory
                                                   : OperandKind::Paren;
  if (kind != OperandKind::Paren && !groups_.empty()) {
    const OperandKind outer = function_->operands[groups_.back()].kind;
    if (outer == kind || outer == OperandKind::Vector) fail(t, fmt::format("'{}' inside another", t.view()));
  }
  groups_.push_back(static_cast<uint32_t>(function_->operands.size()));
  push(kind, 0);
}

void Builder::close(const Token& t) {
  const std::size_t group = groups_.back();
  const OperandKind kind = function_->operands[group].kind;
  const auto wanted = t.type == PtxLexer::RBRACE     ? OperandKind::Vector
                      : t.type == PtxLexer::RBRACKET ? OperandKind::Memory
                                                     : OperandKind::Paren;
  if (kind != wanted) fail(t, fmt::format("'{}' closes another kind of bracket", t.view()));
  closeGroup();
  const std::span<const Operand> inside(function_->operands.data() + group + 1, function_->operands[group].payload);
  if (inside.empty() && kind == OperandKind::Vector) fail(t, "an empty vector");
  if (kind != OperandKind::Paren || module_.text(NameId(payload_)).starts_with("call")) return;
  // Parentheses are for numbers, except around the lists of a call.
  for (const Operand& o : inside)
    if (o.kind <= OperandKind::SpecialRegister ||
        (o.kind == OperandKind::Builtin && module_.text(NameId(o.payload)) != "WARP_SZ"))
      fail(t, "parentheses around what is no number");
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
    if (p.wantsLabel) throw SyntaxError(p.offset, fmt::format("undefined label '{}'", text));
    if (text.starts_with('%')) throw SyntaxError(p.offset, fmt::format("undefined register '{}'", text));
    throw SyntaxError(p.offset, fmt::format("undefined symbol '{}'", text));
  }
  pending_.clear();
}

}  // namespace ptxopt::text
