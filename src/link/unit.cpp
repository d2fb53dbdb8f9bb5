#include "link/unit.h"

#include <PtxLexer.h>
#include <fmt/format.h>

#include <charconv>

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
    d.alignment = form.alignment;
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

}  // namespace

void refuse(const Unit& unit, std::size_t offset, const std::string& message) {
  throw Refused{render({offset, locate(unit.module->source, offset), message}, unit.fileName)};
}

Unit readUnit(const Input& input) {
  Unit unit;
  unit.fileName = input.fileName;
  auto parsed = parse(input.text, input.fileName);
  if (const auto* wrong = std::get_if<ParseError>(&parsed)) throw Refused{render(*wrong, input.fileName)};
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
    if (!t.is(PtxLexer::FILE)) continue;
    t.advance();
    unit.files = std::max(unit.files, numberAt(t));
  }
  for (std::size_t i = 0; i < unit.declared.size(); ++i)
    if (unit.declared[i].isLocal()) unit.own.try_emplace(unit.declared[i].name, i);
  return unit;
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

std::string Unit::written(SourceRange range) const {
  const std::string_view part = module->text(range);
  std::string out;
  const char* at = part.data();
  for (Tokens t(part); !t.isAtEnd(); t.advance()) {
    const char* const begin = t.now().begin;
    if (t.is(PtxLexer::LOC)) {
      out.append(at, begin);
      writeLoc(out, t, firstFile);
      at = t.now().end();
      skipInlining(t, at);
    } else if (t.is(PtxLexer::FILE)) {
      t.advance();
      out.append(at, t.now().begin);
      out += std::to_string(numberAt(t) + firstFile);
      at = t.now().end();
    } else if (t.is(PtxLexer::WORD) || t.is(PtxLexer::REG)) {
      const auto found = renamed.find(t.now().view());
      if (found == renamed.end()) continue;
      out.append(at, begin);
      out += found->second;
      at = t.now().end();
    }
  }
  out.append(at, part.data() + part.size());
  return out;
}

}  // namespace ptxopt::link
