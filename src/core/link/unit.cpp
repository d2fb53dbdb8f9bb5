// A unit is parsed once for its declarations and then rewritten by tokens of the lexer, so that comments and layout do
// not matter. The first word of a statement is an opcode and stays; a renamed name that is one of a range of registers
// makes the unit an error.
#include "link/unit.h"

#include <PtxLexer.h>
#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "text/lexer.h"
#include "text/parse.h"

namespace ptxopt::link {
namespace {

using text::Token;
using text::grammar::PtxLexer;

// The tokens of a part of a text.
class Tokens {
 public:
  explicit Tokens(std::string_view part) : lexer_(part) { advance(); }
  const Token& now() const { return token_; }
  bool isAtEnd() const { return token_.type == Token::kEnd; }
  void advance() { lexer_.next(token_); }
  bool is(unsigned type) const { return token_.type == type; }

 private:
  text::Lexer lexer_;
  Token token_;
};

Linkage linkageOf(std::string_view word) {
  if (word == ".extern") return Linkage::Extern;
  if (word == ".weak") return Linkage::Weak;
  return word == ".common" ? Linkage::Common : Linkage::Visible;
}

Linkage linkageOf(const Module& module, SourceRange range) {
  for (Tokens t(module.text(range)); !t.isAtEnd() && !t.is(PtxLexer::FUNC) && !t.is(PtxLexer::ENTRY); t.advance())
    if (t.is(PtxLexer::LINKAGE)) return linkageOf(t.now().view());
  return Linkage::Own;
}

uint32_t numberAt(const Tokens& t) {
  uint32_t number = 0;
  std::from_chars(t.now().begin, t.now().end(), number);
  return number;
}

// The names of a declaration: words outside of brackets that no initializer contains.
std::vector<std::string_view> namesOf(std::string_view declaration) {
  std::vector<std::string_view> names;
  unsigned depth = 0;
  bool isInitializer = false;
  for (Tokens t(declaration); !t.isAtEnd(); t.advance()) {
    switch (t.now().type) {
      case PtxLexer::LPAREN:
      case PtxLexer::LBRACE:
      case PtxLexer::LBRACKET: ++depth; break;
      case PtxLexer::RPAREN:
      case PtxLexer::RBRACE:
      case PtxLexer::RBRACKET: --depth; break;
      case PtxLexer::ASSIGN: isInitializer = true; break;
      case PtxLexer::COMMA:
        if (depth == 0) isInitializer = false;
        break;
      case PtxLexer::WORD:
      case PtxLexer::REG:
        if (depth == 0 && !isInitializer) names.push_back(t.now().view());
        break;
      default: break;
    }
  }
  return names;
}

uint64_t bytesOf(const Module& module, const Variable& v) {
  const DeclarationForm& form = module.declarationForms[v.form];
  return v.declarator.elements * form.lanes * info(form.type).bits / 8;
}

void readDeclaration(Unit& unit, std::size_t index, std::size_t& nextVariable) {
  const Module& module = *unit.module;
  const Item& item = module.items[index];
  const Linkage linkage = linkageOf(module, item.source);
  const std::vector<std::string_view> names = namesOf(module.text(item.source));
  if (names.size() > 1 && linkage != Linkage::Own)
    refuse(unit, item.source.begin, "one declaration of several names that other files see");
  for (const std::string_view name : names) {
    if (nextVariable == module.variables.size()) break;
    const Variable& v = module.variables[nextVariable++];
    if (v.declarator.isRange) refuse(unit, item.source.begin, "a range of names at module level");
    const DeclarationForm& form = module.declarationForms[v.form];
    Declared d{.name = name, .linkage = linkage, .isDefinition = linkage != Linkage::Extern, .item = index};
    d.isOpenShared = linkage == Linkage::Extern && form.space == DeclaredSpace::Shared;
    d.bytes = bytesOf(module, v);
    d.alignment = form.alignment != 0 ? form.alignment : info(form.type).bits / 8 * form.lanes;
    d.space = form.space;
    unit.declared.push_back(d);
  }
}

// `.loc 1 2 3, function_name $L__info_string0, inlined_at 1 4 5` -> `.loc 7 2 3`
void writeLoc(std::string& out, Tokens& t, uint32_t firstFile) {
  t.advance();
  const uint32_t file = numberAt(t);
  t.advance();
  const std::string_view line = t.now().view();
  t.advance();
  out += fmt::format(".loc {} {} {}", file + firstFile, line, t.now().view());
}

// What follows the column: none of it is written. Stands on the last token then.
void skipInlining(Tokens& t, const char*& end) {
  Tokens ahead = t;
  for (ahead.advance(); ahead.is(PtxLexer::COMMA); ahead.advance()) {
    ahead.advance();  // function_name or inlined_at
    const bool isPlace = ahead.now().view() == "inlined_at";
    for (unsigned i = 0; i < (isPlace ? 3u : 1u); ++i) ahead.advance();
    t = ahead;
    end = t.now().end();
    Tokens plus = ahead;
    plus.advance();
    if (!isPlace && plus.is(PtxLexer::PLUS)) {
      plus.advance();
      t = ahead = plus;
      end = t.now().end();
    }
  }
}

// The p of `@!p`.
std::string_view nameInGuard(std::string_view guard) {
  constexpr std::string_view kBefore = "@! \t\r\n\f/";
  return guard.substr(guard.find_last_of(kBefore) + 1);
}

// Whether a range of registers, `r<8>`, declares the name.
bool declares(std::string_view base, uint32_t count, std::string_view name) {
  if (!name.starts_with(base)) return false;
  const std::string_view digits = name.substr(base.size());
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return !digits.empty() && error == std::errc() && end == digits.data() + digits.size() && number < count;
}

// The text of a part of a unit, with other numbers of files and names.
class Rewriter {
 public:
  Rewriter(const Unit& unit, SourceRange range, std::size_t body)
      : unit_(unit), part_(unit.module->text(range)), body_(body), at_(part_.data()), t_(part_) {}

  std::string text() {
    for (; !t_.isAtEnd(); t_.advance()) token();
    out_.append(at_, part_.data() + part_.size());
    return std::move(out_);
  }

 private:
  void token() {
    const bool begins = std::exchange(begins_, false);
    switch (t_.now().type) {
      case PtxLexer::LOC:
        out_.append(at_, t_.now().begin);
        writeLoc(out_, t_, unit_.firstFile);
        at_ = t_.now().end();
        skipInlining(t_, at_);
        begins_ = begins;
        break;
      case PtxLexer::FILE:
        t_.advance();
        out_.append(at_, t_.now().begin);
        out_ += std::to_string(numberAt(t_) + unit_.firstFile);
        at_ = t_.now().end();
        break;
      case PtxLexer::LBRACE:
        isInBody_ |= offset() == body_;
        begins_ = begins || offset() == body_;
        break;
      case PtxLexer::RBRACE:
      case PtxLexer::COLON: begins_ = begins; break;
      case PtxLexer::SEMI:
        begins_ = isInBody_;
        mayHaveRange_ = false;
        break;
      case PtxLexer::GUARD:
        rename(nameInGuard(t_.now().view()));
        begins_ = begins;
        break;
      case PtxLexer::SPACE:
      case PtxLexer::ALIGN:
      case PtxLexer::TARGETS: mayHaveRange_ |= begins; break;
      case PtxLexer::WORD:
      case PtxLexer::REG: word(begins); break;
      default: break;
    }
  }

  void word(bool begins) {
    const std::string_view name = t_.now().view();
    Tokens next = t_;
    if (begins || mayHaveRange_) next.advance();
    if (begins && !next.is(PtxLexer::COLON)) return;  // an opcode
    begins_ = begins;
    if (mayHaveRange_ && next.is(PtxLexer::LESS)) {
      next.advance();
      for (const auto& [old, spelling] : unit_.renamed)
        if (declares(name, numberAt(next), old))
          refuse(
              unit_, offset(),
              fmt::format("'{}' would get another name here, and is one of '{}<{}>'", old, name, numberAt(next)));
      return;
    }
    if (!rename(name)) rename(name.substr(0, name.find('.')));  // of `v.x` the v
  }

  bool rename(std::string_view name) {
    const auto found = unit_.renamed.find(name);
    if (found == unit_.renamed.end()) return false;
    out_.append(at_, static_cast<std::size_t>(name.data() - at_));
    out_ += found->second;
    at_ = name.data() + name.size();
    return true;
  }

  std::size_t offset() const { return static_cast<std::size_t>(t_.now().begin - unit_.module->source.data()); }

  const Unit& unit_;
  const std::string_view part_;
  const std::size_t body_;
  const char* at_;  // until here is written
  Tokens t_;
  std::string out_;
  // In the body of a function; a statement begins; one goes on that declares names or lists labels.
  bool isInBody_ = false, begins_ = false, mayHaveRange_ = false;
};

// A name that one declaration makes another text's, too, is that in all of them.
void unifyLinkage(Unit& unit) {
  std::unordered_map<std::string_view, Linkage> said;
  for (const Declared& d : unit.declared)
    if (!d.isLocal() && (d.linkage != Linkage::Extern || !said.contains(d.name))) said[d.name] = d.linkage;
  for (Declared& d : unit.declared)
    if (const auto found = said.find(d.name); d.isLocal() && found != said.end()) d.linkage = found->second;
}

}  // namespace

void refuse(const Unit& unit, std::size_t offset, const std::string& message) {
  throw Refused{text::render({offset, locate(unit.module->source, offset), message}, unit.fileName)};
}

Unit readUnit(const Input& input) {
  Unit unit;
  unit.fileName = input.fileName;
  auto parsed = text::parse(input.text, input.fileName);
  if (const auto* wrong = std::get_if<text::ParseError>(&parsed))
    throw Refused{text::render(*wrong, input.fileName)};
  unit.module = std::move(std::get<0>(parsed));
  const Module& module = *unit.module;
  if (module.hasModuleRegisters) throw Refused{input.fileName + ": error: registers outside of functions\n"};
  std::size_t nextVariable = 0;
  for (std::size_t i = 0; i < module.items.size(); ++i) {
    const Item& item = module.items[i];
    if (item.kind == ItemKind::Declaration) readDeclaration(unit, i, nextVariable);
    if (item.kind == ItemKind::Function) {
      const Function& f = module.functions[item.index];
      Declared d{.name = module.text(f.name), .linkage = linkageOf(module, f.source), .isFunction = true};
      d.isDefinition = f.hasBody;
      d.item = i;
      d.function = &f;
      unit.declared.push_back(d);
    }
    if (item.kind != ItemKind::Directive) continue;
    Tokens t(module.text(item.source));
    if (t.is(PtxLexer::ALIAS))
      for (Declared& d : unit.declared) d.isAlias |= d.isFunction && d.name == unit.aliasIn(item.source);
    if (!t.is(PtxLexer::FILE)) continue;
    t.advance();
    unit.files = std::max(unit.files, numberAt(t));
  }
  unifyLinkage(unit);
  for (std::size_t i = 0; i < unit.declared.size(); ++i) unit.first.try_emplace(unit.declared[i].name, i);
  return unit;
}

const Declared* Unit::find(std::string_view name) const {
  const auto found = first.find(name);
  return found != first.end() ? &declared[found->second] : nullptr;
}

std::string_view Unit::aliasIn(SourceRange directive) const {
  Tokens t(module->text(directive));
  t.advance();
  return t.now().view();
}

std::vector<std::string_view> Unit::namesInInitialValues(SourceRange declaration) const {
  std::vector<std::string_view> names;
  bool isInitialValue = false;
  unsigned depth = 0;
  for (Tokens t(module->text(declaration)); !t.isAtEnd(); t.advance()) {
    if (t.is(PtxLexer::ASSIGN)) isInitialValue = true;
    if (t.is(PtxLexer::LBRACE)) ++depth;
    if (t.is(PtxLexer::RBRACE)) --depth;
    if (t.is(PtxLexer::COMMA) && depth == 0) isInitialValue = false;
    if (isInitialValue && (t.is(PtxLexer::WORD) || t.is(PtxLexer::REG))) names.push_back(t.now().view());
  }
  return names;
}

std::string Unit::prototypeOf(const Function& kernel) const {
  if (!kernel.hasBody) return written(kernel.source);
  SourceRange range = kernel.header;
  unsigned depth = 0;
  bool isAfterName = false;
  for (Tokens t(module->text(kernel.header)); !t.isAtEnd(); t.advance()) {
    if (t.is(PtxLexer::LPAREN)) ++depth;
    if (t.is(PtxLexer::RPAREN)) --depth;
    if (depth == 0 && t.now().view() == module->text(kernel.name)) isAfterName = true;
    if (!isAfterName || depth != 0) continue;
    // The name, or what closes the parameters; anything else is a directive.
    if (!t.is(PtxLexer::RPAREN) && t.now().view() != module->text(kernel.name)) break;
    range.end = static_cast<uint32_t>(t.now().end() - module->source.data());
  }
  return written(range) + ';';
}

std::string Unit::written(SourceRange range, std::size_t body) const { return Rewriter(*this, range, body).text(); }

}  // namespace ptxopt::link
