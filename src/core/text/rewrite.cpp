// Ranges to cut are collected from the parsed module and from a pass of the lexer, sorted, and left out while the rest
// is copied; a line that a cut leaves empty goes with it.
#include "text/rewrite.h"

#include <algorithm>
#include <vector>

#include "PtxLexer.h"
#include "text/lexer.h"
#include "text/parse.h"
#include "text/token.h"

namespace ptxopt::text {
namespace {

using grammar::PtxLexer;

// The directive with which an item begins, and the word after it.
std::pair<std::string_view, std::string_view> firstWords(std::string_view text) {
  Lexer lexer(text);
  Token first, second;
  lexer.next(first);
  lexer.next(second);
  return {first.view(), second.view()};
}

bool isDebugItem(std::string_view text) {
  const auto [directive, name] = firstWords(text);
  if (directive == ".section") return name.starts_with(".debug") || name.starts_with(".nv_debug");
  return directive == ".file" || directive == ".nv_intermediate_source_section";
}

// `, debug` of each .target.
void findDebugWords(std::string_view source, std::vector<SourceRange>& cuts) {
  Lexer lexer(source);
  Token token, before;
  const auto offset = [&](const char* at) { return static_cast<uint32_t>(at - source.data()); };
  bool isInTarget = false;
  for (lexer.next(token); token.type != Token::kEnd; before = token, lexer.next(token)) {
    if (token.type == PtxLexer::TARGET)
      isInTarget = true;
    else if (token.type != PtxLexer::WORD && token.type != PtxLexer::COMMA)
      isInTarget = false;
    if (isInTarget && before.type == PtxLexer::COMMA && token.view() == "debug")
      cuts.push_back({offset(before.begin), offset(token.begin) + token.length});
  }
}

// The whole line where nothing else stands on it.
SourceRange withLine(std::string_view source, SourceRange cut) {
  const auto isBlank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  uint32_t begin = cut.begin, end = cut.end;
  while (begin > 0 && isBlank(source[begin - 1])) --begin;
  while (end < source.size() && isBlank(source[end])) ++end;
  const bool isWhole = (begin == 0 || source[begin - 1] == '\n') && (end == source.size() || source[end] == '\n');
  if (!isWhole) return cut;
  return {begin, std::min<uint32_t>(end + 1, static_cast<uint32_t>(source.size()))};
}

}  // namespace

std::string withoutDebug(const Module& module) {
  std::vector<SourceRange> cuts;
  for (const Item& item : module.items)
    if ((item.kind == ItemKind::Section || item.kind == ItemKind::Directive) &&
        isDebugItem(module.text(item.source)))
      cuts.push_back(item.source);
  for (const Function& f : module.functions)
    for (const InstrId id : f)
      if (f[id].kind == InstrKind::Loc) cuts.push_back({f[id].sourceBegin, f[id].sourceEnd});
  findDebugWords(module.source, cuts);
  std::ranges::sort(cuts, {}, &SourceRange::begin);
  std::string text;
  uint32_t at = 0;
  for (const SourceRange& cut : cuts) {
    const SourceRange range = withLine(module.source, cut);
    if (range.begin > at) text += module.source.substr(at, range.begin - at);
    at = std::max(at, range.end);
  }
  return text += module.source.substr(at);
}

std::string withoutDebug(std::string_view source, const std::string& fileName, bool optix) {
  const auto parsed = parse(source, fileName, optix);
  const auto* module = std::get_if<std::unique_ptr<Module>>(&parsed);
  return module == nullptr ? std::string(source) : withoutDebug(**module);
}

std::string withHeader(std::string_view source, std::string_view version, std::string_view target) {
  std::string text;
  const char* at = source.data();
  Lexer lexer(source);
  Token token;
  uint16_t before = 0;
  bool hasVersion = false, hasTarget = false;
  for (lexer.next(token); token.type != Token::kEnd && !(hasVersion && hasTarget); lexer.next(token)) {
    const bool isVersion = before == PtxLexer::VERSION && !hasVersion;
    const bool isTarget = before == PtxLexer::TARGET && !hasTarget;
    if (isVersion || isTarget) {
      const std::string_view with = isVersion ? version : target;
      text.append(at, token.begin);
      text += with.empty() ? token.view() : with;
      at = token.begin + token.length;
      (isVersion ? hasVersion : hasTarget) = true;
    }
    before = static_cast<uint16_t>(token.type);
  }
  return text.append(at, source.data() + source.size());
}

}  // namespace ptxopt::text
