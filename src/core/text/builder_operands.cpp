// Operands: numbers, names, groups, and what may stand beside what.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <utility>

#include "PtxLexer.h"
#include "ir/operand_predicates.h"
#include "text/builder.h"
#include "text/number.h"

namespace ptxopt::text {

using grammar::PtxLexer;

Operand& Builder::push(OperandKind kind, uint32_t payload) {
  if (join_ >= Join::Plus) markCompound();
  Operand& operand = function_->operands.emplace_back();
  operand.kind = kind;
  operand.payload = payload;
  operand.join = join_;
  operand.flags = prefixes_;
  join_ = Join::None;
  prefixes_ = 0;
  return operand;
}

// The entry before is a register, and what follows belongs to the same data operand.
void Builder::markCompound() {
  Operand& first = function_->operands.back();
  const bool inAddress = !groups_.empty() && function_->operands[groups_.back()].kind == OperandKind::Memory;
  if (first.isRegister() && !inAddress) first.flags |= Operand::Compound;
}

void Builder::prefix(const Token& t) { prefixesWritten_ += t.view(); }

// Puts the prefix before an entry that is not a number.
void Builder::applyPrefix(const Token& t) {
  if (prefixesWritten_.empty()) return;
  if (prefixesWritten_.size() > 1) fail(t, "more than one prefix before what is not a number");
  const char c = prefixesWritten_.front();
  prefixes_ = c == '-'   ? Operand::Negated
              : c == '!' ? Operand::Not
              : c == '~' ? Operand::Complement
                         : Operand::Positive;
  prefixesWritten_.clear();
}

// The same where there may be several, before a part of a constant expression: an entry has one, and each of the others
// is that of a pair of parentheses around it, as in -(~(3)). endOperand() closes them.
void Builder::applyPrefixes(const Token& t) {
  std::string written;
  written.swap(prefixesWritten_);
  std::erase(written, '+');
  for (; !written.empty(); written.erase(0, 1)) {
    prefixesWritten_ = written.substr(0, 1);
    applyPrefix(t);
    if (written.size() == 1) return;
    if (groups_.size() >= kMostNesting) fail(t, fmt::format("nested deeper than {} levels", kMostNesting));
    groups_.push_back(static_cast<uint32_t>(function_->operands.size()));
    around_.push_back(groups_.back());
    push(OperandKind::Paren, 0);
  }
}

void Builder::endOperand() {
  while (!around_.empty() && around_.back() == groups_.back()) {
    around_.pop_back();
    closeGroup();
  }
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
  if (!isNumber) fail(t, fmt::format("'{}' cannot follow an operator", t.view()));
}

void Builder::binary(const Token& t) {
  const Operand& before = function_->operands.back();
  const bool afterNumber =
      before.kind == OperandKind::Integer || before.kind == OperandKind::WideInteger ||
      before.kind == OperandKind::Decimal ||
      (before.kind == OperandKind::Builtin && module_.text(NameId(before.payload)) == "WARP_SZ");
  const bool inVector = !groups_.empty() && function_->operands[groups_.back()].kind == OperandKind::Vector;
  if (inVector && before.isRegister() && t.view() != "|") fail(t, "arithmetic inside a vector");
  if (t.type == PtxLexer::MINUS && !afterNumber) fail(t, "write '+-' to subtract from what is not a number");
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
  if (t.view() == "WARP_SZ") return name(t);
  uint64_t value = 0;
  if (!parseInteger(t.view(), value)) fail(t, "the number does not fit in 64 bits");
  const std::string_view text = t.view();
  bool isUnsigned = value > INT64_MAX || text.ends_with('U');
  const bool isHex = text.size() > 2 && (text[1] | 0x20) == 'x' && prefixesWritten_.empty();
  for (; !prefixesWritten_.empty(); prefixesWritten_.pop_back()) {
    const char c = prefixesWritten_.back();
    value = c == '-' ? 0 - value : c == '~' ? ~value : c == '!' ? static_cast<uint64_t>(value == 0) : value;
    if (c == '!') isUnsigned = false;
    if (c == '~') isUnsigned = true;  // ~3 >= 0 holds
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
  endOperand();
}

void Builder::floating(const Token& t) {
  applyPrefixes(t);
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
    if (prefixes_ != 0 || !around_.empty()) fail(t, "a sign before a 0f or 0d literal: write it into the bits");
  }
  if (kind == OperandKind::Float32) {
    push(kind, static_cast<uint32_t>(bits));
    return;
  }
  function_->constants.push_back(bits);
  push(kind, static_cast<uint32_t>(function_->constants.size() - 1));
  endOperand();
}

// An entry for what `name` means here. False when it is not declared yet, or a label, which a later one may hide.
bool Builder::pushDeclared(const Token& t, NameId name) {
  const Meaning meaning = names_.find(name);
  if (meaning.kind != Meaning::Register && meaning.kind != Meaning::Variable) return false;
  if (join_ >= Join::Plus) fail(t, fmt::format("'{}' cannot follow an operator", t.view()));
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
  if (t.view() == "WARP_SZ")
    applyPrefixes(t);
  else
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
    markCompound();
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
  endOperand();
}

void Builder::cast(const Token& t) {
  applyPrefixes(t);
  push(OperandKind::Cast, intern(t).value);
}

// `%r2 .b0`: blanks before the dot. `[%rd1].unified`: a qualifier of the address.
void Builder::selector(const Token& t) {
  Operand& before = function_->operands.back();
  if (before.kind == OperandKind::SpecialRegister) {
    const std::string text = std::string(module_.text(NameId(before.payload))) + std::string(t.view());
    if (text.find('.') != text.rfind('.')) fail(t, "a second component");
    before.payload = module_.names.internCopy(text).value;
    return;
  }
  if (before.kind != OperandKind::Register && t.view() != ".unified")
    fail(t, fmt::format("unexpected '{}'", t.view()));
  if (t.view() != ".unified") markCompound();
  push(OperandKind::Selector, module_.names.intern(t.view().substr(1)).value);
}

// Bytes of a scalar of the variable that an entry names.
uint32_t Builder::elementBytes(const Token& t, const Operand& o) const {
  const Variable* v = nullptr;
  if (o.kind == OperandKind::Variable) {
    v = &function_->variables[o.payload];
  } else if (const SymbolId id = symbol(NameId(o.payload)); id.valid()) {
    const Symbol& s = module_.symbols[id.value];
    if (s.kind == SymbolKind::Variable) v = &module_.variables[s.index];
  }
  if (v == nullptr) fail(t, "an index of what is not a variable");
  return std::max(1u, info(module_.declarationForms[v->form].type).bits / 8);
}

// Whether an entry may stand in a constant expression.
bool Builder::isNumber(const Operand& o) const {
  return isConstantExpression(o) &&
         (o.kind != OperandKind::Builtin || module_.text(NameId(o.payload)) == "WARP_SZ");
}

// The `[` of `symbol[4]`, an index of elements: symbol+16 in a mov, [symbol+16] in a load or store.
bool Builder::openIndex(const Token& t) {
  if (t.type != PtxLexer::LBRACKET || join_ != Join::None || function_->operands.size() == firstOperand_)
    return false;
  auto at = static_cast<uint32_t>(function_->operands.size() - 1);
  const Operand symbol = function_->operands[at];
  const bool isFirstInside = !groups_.empty() && groups_.back() == at;
  if (isFirstInside || (symbol.kind != OperandKind::Variable && symbol.kind != OperandKind::Builtin)) return false;
  if (!groups_.empty() && function_->operands[groups_.back()].kind != OperandKind::Paren) return false;  // refused
  if (indexBytes_ != 0) fail(t, "an index in another");
  indexBytes_ = elementBytes(t, symbol);
  if (!module_.text(NameId(payload_)).starts_with("mov")) {
    Operand memory;
    memory.kind = OperandKind::Memory;
    memory.join = symbol.join;
    function_->operands.insert(function_->operands.begin() + at, memory);
    function_->operands.back().join = Join::None;
    for (std::size_t p = firstPending_; p < pending_.size(); ++p)
      if (pending_[p].operand == at) ++pending_[p].operand;
    groups_.push_back(at);
  }
  join_ = Join::Plus;
  indexGroup_ = static_cast<uint32_t>(function_->operands.size());
  push(OperandKind::Paren, 0);
  groups_.push_back(indexGroup_);
  return true;
}

void Builder::closeIndex(const Token& t) {
  auto& operands = function_->operands;
  if (t.type != PtxLexer::RBRACKET || join_ != Join::None || operands.size() == indexGroup_ + 1)
    fail(t, "an index that is not a number");
  closeGroup();
  const auto bytes = static_cast<int32_t>(std::exchange(indexBytes_, 0));
  const bool isMemory =
      !groups_.empty() && operands[groups_.back()].kind == OperandKind::Memory && groups_.back() + 2 == indexGroup_;
  const auto inside = operands.begin() + indexGroup_;
  if (std::any_of(inside + 1, operands.end(), [&](const Operand& o) { return !isNumber(o); })) {
    // symbol[%r1] stays as it is written: it has no other form.
    *inside = {.kind = OperandKind::Memory, .payload = inside->payload};
    for (auto o = inside; o != operands.end(); ++o)
      if (o->isRegister()) o->flags &= static_cast<uint8_t>(~Operand::Compound);
    if (!isMemory) return;
    const uint32_t memory = groups_.back();
    groups_.pop_back();
    operands[memory + 1].join = operands[memory].join;
    operands.erase(operands.begin() + memory);
    for (std::size_t p = firstPending_; p < pending_.size(); ++p)
      if (pending_[p].operand > memory) --pending_[p].operand;
    return;
  }
  const Operand last = operands.back();
  const int64_t product = int64_t{static_cast<int32_t>(last.payload)} * bytes;
  if (operands.size() == indexGroup_ + 2 && last.kind == OperandKind::Integer &&
      product == static_cast<int32_t>(product)) {
    operands.pop_back();
    operands.back() = integerOperand(static_cast<int32_t>(product), Join::Plus);
  } else if (bytes > 1) {
    join_ = Join::Times;
    push(OperandKind::Integer, static_cast<uint32_t>(bytes));
  }
  if (isMemory) closeGroup();
}

void Builder::open(const Token& t) {
  if (openIndex(t)) return;
  if (t.type == PtxLexer::LPAREN)
    applyPrefixes(t);
  else
    applyPrefix(t);
  if (groups_.size() >= kMostNesting) fail(t, fmt::format("nested deeper than {} levels", kMostNesting));
  const auto kind = t.type == PtxLexer::LBRACE     ? OperandKind::Vector
                    : t.type == PtxLexer::LBRACKET ? OperandKind::Memory
                                                   : OperandKind::Paren;
  if (kind != OperandKind::Paren && !groups_.empty()) {
    const OperandKind outer = function_->operands[groups_.back()].kind;
    if (outer == kind || outer == OperandKind::Vector) fail(t, fmt::format("'{}' inside another", t.view()));
  }
  // push() asks for the group that the entry stands in: not for the one that it begins.
  const auto group = static_cast<uint32_t>(function_->operands.size());
  push(kind, 0);
  groups_.push_back(group);
}

void Builder::close(const Token& t) {
  const std::size_t group = groups_.back();
  if (indexBytes_ != 0 && group == indexGroup_) return closeIndex(t);
  const OperandKind kind = function_->operands[group].kind;
  const auto wanted = t.type == PtxLexer::RBRACE     ? OperandKind::Vector
                      : t.type == PtxLexer::RBRACKET ? OperandKind::Memory
                                                     : OperandKind::Paren;
  if (kind != wanted) fail(t, fmt::format("'{}' closes another kind of bracket", t.view()));
  closeGroup();
  endOperand();
  const std::span<const Operand> inside(function_->operands.data() + group + 1, function_->operands[group].payload);
  if (inside.empty() && kind == OperandKind::Vector) fail(t, "an empty vector");
  if (kind != OperandKind::Paren || module_.text(NameId(payload_)).starts_with("call")) return;
  // Parentheses are for numbers, except around the lists of a call.
  if (!std::ranges::all_of(inside, [&](const Operand& o) { return isNumber(o); }))
    fail(t, "parentheses around what is not a number");
}

}  // namespace ptxopt::text
