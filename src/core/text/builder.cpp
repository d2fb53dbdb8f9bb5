// The module level of the builder: items, functions, declarations. Statements and operands: builder_body.cpp.
#include "text/builder.h"

#include <fmt/format.h>

#include "PtxLexer.h"
#include "ir/shrink.h"
#include "text/canonical.h"
#include "text/lexer.h"
#include "text/number.h"
#include "text/syntax_error.h"

namespace ptxopt::text {

using grammar::PtxLexer;

Builder::Builder(Module& module) : module_(module), names_(module.names) {}

void Builder::fail(const Token& t, const std::string& message) const { throw SyntaxError(offsetOf(t), message); }

// ---- the driver ----

void Builder::start(const Token& first) {
  if (context_ == Context::Section) return;
  if (context_ == Context::Module) {
    itemBegin_ = offsetOf(first);
    itemKind_ = ItemKind::Directive;
    itemIndex_ = 0;
    if (module_.versionMajor == 0 && *first.begin != '.')  // a directive is PTX, whatever comments name
      for (const std::string_view word : {"__global__", "#include"})
        if (module_.source.find(word) != std::string_view::npos)
          fail(first, "this is C++, not PTX text: nvcc -ptx makes PTX of it");
    if ((module_.versionMajor == 0) != (first.type == PtxLexer::VERSION))
      fail(first, module_.versionMajor == 0 ? "a module begins with .version" : "a second .version");
    if (module_.versionMajor != 0 && module_.target.empty() && first.type != PtxLexer::TARGET)
      fail(first, "a .target directive comes after .version");
    return;
  }
  kind_ = InstrKind::Verbatim;
  payload_ = 0;
  guarded_ = false;
  isEscaped_ = false;
  prefixes_ = 0;
  nesting_ = 0;
  join_ = Join::None;
  groups_.clear();
  around_.clear();
  indexBytes_ = 0;
  firstOperand_ = static_cast<uint32_t>(function_->operands.size());
  firstPending_ = pending_.size();
  statementBegin_ = offsetOf(first);
}

void Builder::finish(const Token& last) {
  if (opened_) {  // the header of a body that begins now
    opened_ = false;
    return;
  }
  switch (context_) {
    case Context::Section: return;
    case Context::Body: finishStatement(last); return;
    case Context::Module: break;
  }
  // A section's or function's last token is its closing brace, so that the item began further up.
  module_.items.push_back({itemKind_, itemIndex_, {itemBegin_, endOf(last)}});
  if (itemKind_ == ItemKind::Function) module_.functions[itemIndex_].source = {itemBegin_, endOf(last)};
}

void Builder::endOfFile(const Token& end) {
  if (context_ == Context::Section) fail(end, "the file ends inside a section");
  if (context_ == Context::Body)
    fail(end, fmt::format("the file ends inside the body of '{}'", module_.text(function_->name)));
  if (module_.versionMajor == 0) fail(end, "no .version directive");
  if (module_.target.empty()) fail(end, "no .target directive");
  findHiddenSymbols();
}

// ---- module level ----

void Builder::version(const Token& t) {
  const std::string_view text = t.view();
  const std::size_t dot = text.find('.');
  uint64_t major = 0, minor = 0;
  if (dot == std::string_view::npos || !parseInteger(text.substr(0, dot), major) ||
      !parseInteger(text.substr(dot + 1), minor) || major == 0 || major > 1000 || minor > 1000)
    fail(t, "a version is two numbers, as in 8.0");
  module_.versionMajor = static_cast<uint32_t>(major);
  module_.versionMinor = static_cast<uint32_t>(minor);
}

void Builder::moduleTarget(const Token& t) {
  module_.target.push_back(intern(t));
  if (t.view() == "debug") module_.isDebug = true;
}

void Builder::addressSize(const Token& t) {
  uint64_t bits = 0;
  if (!parseInteger(t.view(), bits) || (bits != 32 && bits != 64)) fail(t, "the address size is 32 or 64");
  module_.addressSize = static_cast<uint32_t>(bits);
}

// Both names of an alias. Their functions stand before it, as ptxas wants it: then the name stays the function's, and
// another symbol says that it has an alias, or is one (ir/aliases.h).
void Builder::alias(const Token& t) {
  const NameId name = intern(t);
  if (symbol(name).valid())
    module_.symbols.push_back({name, SymbolKind::Alias, name.value});
  else
    declareSymbol(name, SymbolKind::Alias, name.value);
  alias_ = module_.symbols.size() - 1;
}

void Builder::aliased(const Token& t) {
  const std::size_t first = alias_;
  alias(t);
  module_.symbols[first].index = intern(t).value;
}

void Builder::openSection() {
  context_ = Context::Section;
  itemKind_ = ItemKind::Section;
}

void Builder::closeSection() { context_ = Context::Module; }

void Builder::nameInSection(const Token& t) {
  const NameId name = intern(t);
  if (module_.namedInSections.size() <= name.value) module_.namedInSections.resize(module_.names.size());
  module_.namedInSections[name.value] = true;
}

SymbolId Builder::symbol(NameId name) const {
  return name.value < symbolOf_.size() ? SymbolId(symbolOf_[name.value]) : SymbolId();
}

SymbolId Builder::declareSymbol(NameId name, SymbolKind kind, uint32_t index) {
  if (symbolOf_.size() <= name.value) symbolOf_.resize(module_.names.size(), SymbolId::kNone);
  uint32_t& id = symbolOf_[name.value];
  if (id == SymbolId::kNone) {
    id = static_cast<uint32_t>(module_.symbols.size());
    module_.symbols.push_back({name, kind, index});
  } else {  // a prototype, then the definition
    module_.symbols[id].kind = kind;
    module_.symbols[id].index = index;
  }
  return SymbolId(id);
}

// ---- functions ----

void Builder::function(const Token& keyword) {
  itemKind_ = ItemKind::Function;
  itemIndex_ = static_cast<uint32_t>(module_.functions.size());
  function_ = &module_.functions.emplace_back();
  function_->index = itemIndex_;
  function_->isEntry = keyword.type == PtxLexer::ENTRY;
  function_->registers.push_back({.type = ScalarType::pred});  // the carry flag, Function::kCarry
  names_.startFunction(*function_);
  reportedUndefined_.clear();
}

void Builder::functionName(const Token& t) {
  function_->name = intern(t);
  function_->returns = std::move(function_->parameters);  // what stood before the name
  function_->parameters.clear();
  if (!function_->returns.empty() || function_->registers.size() > 1)
    for (std::size_t i = 1; i < function_->registers.size(); ++i) function_->returnRegisters.emplace_back(i);
  declareSymbol(function_->name, SymbolKind::Function, itemIndex_);
}

void Builder::functionDirective(const Token& first) {
  if (inPrototype_) return;
  function_->directives.push_back({intern(first), {}, 0, {offsetOf(first), endOf(first)}});
}

void Builder::functionDirectiveValue(const Token& t) {
  uint64_t value = 0;
  if (!parseInteger(t.view(), value) || value > UINT32_MAX) fail(t, "the number does not fit in 32 bits");
  if (inPrototype_) return;
  FunctionDirective& d = function_->directives.back();
  if (d.valueCount < d.values.size()) d.values[d.valueCount++] = static_cast<uint32_t>(value);
}

void Builder::functionDirectiveEnd(const Token& last) {
  if (!inPrototype_) function_->directives.back().source.end = endOf(last);
}

void Builder::openBody(const Token& brace) {
  if (isDefined_.size() <= function_->name.value) isDefined_.resize(module_.names.size());
  if (isDefined_[function_->name.value])
    fail(brace, fmt::format("'{}' is already defined", module_.text(function_->name)));
  isDefined_[function_->name.value] = true;
  function_->hasBody = true;
  function_->header = {itemBegin_, offsetOf(brace)};
  function_->body.begin = offsetOf(brace);
  context_ = Context::Body;
  opened_ = true;
}

void Builder::closeBody(const Token& brace) {
  tokens_->pause();
  function_->body.end = endOf(brace);
  resolvePending();
  function_->sourceInstructions = static_cast<uint32_t>(function_->instructions.size());
  shrinkToFit(*function_);
  context_ = Context::Module;
}

// ---- declarations ----

void Builder::declaration(const Token& first) {
  declarationBegin_ = inParameters_ ? offsetOf(first) : context_ == Context::Module ? itemBegin_ : statementBegin_;
  formKnown_ = false;
  if (context_ == Context::Body && !inParameters_) kind_ = InstrKind::Declaration;
}

// Reads `.shared .align 16 .b8`; each different text once.
uint32_t Builder::declarationForm(SourceRange range) {
  const NameId raw = module_.names.intern(module_.text(range));
  if (formOf_.size() <= raw.value) formOf_.resize(module_.names.size() + module_.names.size() / 2, UINT32_MAX);
  if (formOf_[raw.value] != UINT32_MAX) return formOf_[raw.value];

  DeclarationForm form;
  std::string text;
  appendCanonical(text, module_.text(range));
  form.text = module_.names.internCopy(text);
  Lexer lexer(module_.names[form.text]);
  Token token, left;
  bool alignsPointee = false;
  for (lexer.next(token); token.type != Token::kEnd; left = token, lexer.next(token)) {
    const std::string_view name = token.view().substr(token.view().starts_with('.') ? 1 : 0);
    if (token.type == PtxLexer::SPACE) (form.isPointer ? form.pointee : form.space) = declaredSpace(name);
    // Neither where the parameter lies nor a pointer's `.ptr .align`: ptxas only writes it down for the driver.
    if (alignsPointee && token.type != PtxLexer::INT)
      throw SyntaxError(range.begin, fmt::format("'{}' after an alignment after the type", token.view()));
    if (token.type == PtxLexer::ALIGN && form.type != ScalarType::None && !form.isPointer) alignsPointee = true;
    if (token.type == PtxLexer::LINKAGE && name == "extern") form.isExtern = true;
    if (left.type == PtxLexer::ALIGN && !alignsPointee) {
      uint64_t value = 0;
      parseInteger(token.view(), value);
      (form.isPointer ? form.pointeeAlignment : form.alignment) = static_cast<uint32_t>(value);
    }
    if (token.type != PtxLexer::DIRECTIVE) continue;
    if (name == "ptr") form.isPointer = true;  // the space and alignment of what it points to follow
    if (name.size() == 2 && name[0] == 'v') {
      if (name != "v2" && name != "v4")
        throw SyntaxError(range.begin, fmt::format("there are no vectors '.{}'", name));
      if (form.type != ScalarType::None) throw SyntaxError(range.begin, fmt::format("'.{}' after the type", name));
      form.lanes = name == "v2" ? 2 : 4;
    }
    if (const ScalarType type = scalarType(name); type != ScalarType::None) form.type = type;
  }
  formOf_[raw.value] = static_cast<uint32_t>(module_.declarationForms.size());
  module_.declarationForms.push_back(form);
  alignsPointee_.push_back(alignsPointee);
  return formOf_[raw.value];
}

void Builder::declareName(const Token& t) {
  if (!formKnown_) {
    declarationForm_ = declarationForm({declarationBegin_, offsetOf(t)});
    formKnown_ = true;
    firstDeclarator_ = function_ != nullptr && (context_ == Context::Body)
                           ? static_cast<uint32_t>(function_->declarators.size())
                           : static_cast<uint32_t>(module_.variables.size());
    if (alignsPointee_[declarationForm_] && !(inParameters_ && (inPrototype_ || function_->isEntry)))
      throw SyntaxError(declarationBegin_, "'.align' after the type");
  }
  checkName(t);
  declarator_ = Declarator{.name = intern(t)};
  declaratorToken_.begin = t.begin;
  declaratorToken_.length = t.length;
  nesting_ = 0;
}

// `$`, `%` and, but for unnamed parameters, `_` are not names; nor is anything with a dot.
void Builder::checkName(const Token& t) const {
  const std::string_view name = t.view();
  const bool isBad = name == "$" || name == "%" || name == "%$" || name == "WARP_SZ" ||
                     (name == "_" && !inParameters_) || name.find('.') != std::string_view::npos ||
                     name.find(':') != std::string_view::npos;
  if (isBad) fail(t, fmt::format("'{}' cannot be declared", name));
}

void Builder::rangeCount(const Token& t) {
  if (inParameters_) fail(t, "a parameter is not a range");
  uint64_t count = 0;
  if (!parseInteger(t.view(), count) || count > UINT32_MAX)
    fail(t, "the number of registers does not fit in 32 bits");
  declarator_.isRange = true;
  declarator_.count = static_cast<uint32_t>(count);
}

void Builder::openDimension(const Token& bracket) {
  if (declarator_.isRange) fail(bracket, "a range of arrays");
  dimensionBegin_ = endOf(bracket);
  if (declarator_.dimensions.empty()) declarator_.dimensions.begin = offsetOf(bracket);
}

void Builder::closeDimension(const Token& bracket) {
  declarator_.dimensions.end = endOf(bracket);
  uint64_t size = 0;
  std::string text;
  appendCanonical(text, module_.text(SourceRange{dimensionBegin_, offsetOf(bracket)}));
  if (!text.empty() && !parseInteger(text, size)) fail(bracket, "an array size is one number");
  declarator_.elements *= size;
}

void Builder::openInitializer(const Token& first) { declarator_.initializer.begin = offsetOf(first); }
void Builder::closeInitializer(const Token& last) { declarator_.initializer.end = endOf(last); }

void Builder::number(const Token& t) {
  // A short decimal one fits in any case.
  constexpr std::size_t kShort = 18;
  const std::string_view text = t.view();
  if (text.size() <= kShort && (text[0] != '0' || text.size() == 1)) return;
  uint64_t value = 0;
  if (!parseInteger(text, value)) fail(t, "the number does not fit in 64 bits");
}

void Builder::nest(const Token& t) {
  if (++nesting_ > kMostNesting) fail(t, fmt::format("nested deeper than {} levels", kMostNesting));
}

// `.reg .b32 %laneid;`, and `.reg .b32 %envreg<9>;`, make a special register's name that of another one.
void Builder::noteSpecialName(std::string_view name, bool isRange) {
  if (!name.starts_with('%')) return;
  const auto isSpecial = [&](std::string_view number) {
    return specialRegister(std::string(name).append(number)) != nullptr;
  };
  const bool hides = isRange ? isSpecial("0") || isSpecial("64") : isSpecial("");
  function_->hidesSpecialRegisters |= hides;
  function_->hidesNames |= hides;
}

void Builder::declared(bool isParameter) {
  if (inPrototype_) return;
  const DeclarationForm& form = module_.declarationForms[declarationForm_];
  const bool isRegister = form.space == DeclaredSpace::Reg;
  const auto redeclared = [&] {
    fail(declaratorToken_, fmt::format("'{}' is already declared in this scope", declaratorToken_.view()));
  };

  const bool inModule = context_ == Context::Module && !isParameter;
  if (function_ != nullptr && !inModule && names_.hidesVariable(declarator_.name, declarator_.isRange))
    function_->hidesNames = true;
  if (function_ != nullptr && !inModule) noteSpecialName(module_.text(declarator_.name), declarator_.isRange);
  if (isRegister && inModule) module_.hasModuleRegisters = true;  // to the functions just a symbol
  if (isRegister && !inModule) {
    if (form.type == ScalarType::None) fail(declaratorToken_, "a register needs a type");
    if (declarator_.isRange) {
      if (!names_.declareRange(declarator_.name, declarator_.count, form.type, form.lanes, isParameter))
        redeclared();
    } else {
      const RegId id(function_->registers.size());
      function_->registers.push_back(
          {.name = declarator_.name, .type = form.type, .lanes = form.lanes, .isParameter = isParameter});
      if (!names_.declareRegister(declarator_.name, id)) redeclared();
    }
  } else if (!declarator_.isRange) {
    if (!declareVariable(declarator_.name, isParameter)) redeclared();
  } else {  // `.local .b32 x<3>`: x0, x1, x2
    countFromRange(declaratorToken_, declarator_.count);
    for (uint32_t i = 0; i < declarator_.count; ++i)
      if (!declareVariable(module_.names.internCopy(fmt::format("{}{}", declaratorToken_.view(), i)), isParameter))
        redeclared();
  }
  if (context_ == Context::Body) function_->declarators.push_back(declarator_);
}

// `.reg .b32 ;`: ptxas takes any declaration without names, if it has a type.
void Builder::declaredNothing(const Token& last, const Token& semicolon) {
  if (last.type != PtxLexer::DIRECTIVE) fail(semicolon, "unexpected ';', expected a type, a name or a register");
  declarationForm_ = declarationForm({declarationBegin_, offsetOf(semicolon)});
  if (context_ == Context::Body) firstDeclarator_ = static_cast<uint32_t>(function_->declarators.size());
}

// A few bytes may name many variables or targets; that has limits.
void Builder::countFromRange(const Token& t, uint64_t count) {
  if (count > kMostVariablesInRange) fail(t, fmt::format("more than {} names in one range", kMostVariablesInRange));
  fromRanges_ += count;
  if (fromRanges_ > kMostFromRanges)
    fail(t, fmt::format("more than {} variables and targets from ranges", kMostFromRanges));
}

bool Builder::declareVariable(NameId name, bool isParameter) {
  if (!isParameter && context_ == Context::Module) {
    const auto index = static_cast<uint32_t>(module_.variables.size());
    module_.variables.push_back({name, 0, declarationForm_, declarator_, false});
    declareSymbol(name, SymbolKind::Variable, index);
    itemKind_ = ItemKind::Declaration;
    return true;
  }
  const VariableId id(function_->variables.size());
  function_->variables.push_back({name, 0, declarationForm_, declarator_, isParameter, names_.depth() > 1});
  if (isParameter) function_->parameters.push_back(id);
  return module_.text(name) == "_" || names_.declareVariable(name, id);
}

}  // namespace ptxopt::text
