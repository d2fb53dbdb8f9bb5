// The text of initializers is scanned for words that begin as names do. Chunks of 64 characters that hold only numbers
// are skipped at once, because large tables are mostly that.
#include "ir/initializers.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <unordered_map>
#include <unordered_set>

namespace ptxopt {

namespace {

// Most of a large initializer are decimal numbers. Not the first character of a name, in that many of the text.
constexpr std::size_t kChunk = 64;

bool hasOnlyNumbers(const char* text) {
  unsigned char found = 0;
  for (std::size_t k = 0; k < kChunk; ++k) {
    const auto c = static_cast<unsigned char>(text[k]);
    found |= static_cast<unsigned char>(static_cast<int>(c >= 'A') | static_cast<int>(c == '$') |
                                        static_cast<int>(c == '%'));
  }
  return found == 0;
}

// Calls `note(name)` for each name in an initializer: of variables and functions, and the operator `generic`. A name may
// begin with `%`; `5%f` is not a remainder for ptxas, either.
template <typename Note>
void forEachName(std::string_view text, Note note) {
  static const auto words = [] {
    std::array<bool, 256> is{};
    for (std::size_t c = 0; c < is.size(); ++c) is[c] = std::isalnum(static_cast<int>(c)) || c == '_' || c == '$';
    return is;
  }();
  const auto isWord = [](char c) { return words[static_cast<unsigned char>(c)]; };
  std::size_t next = 0;  // where to look at a whole chunk again
  for (std::size_t at = 0; at < text.size();) {
    if (at >= next && text.size() - at >= kChunk) {
      next = at + kChunk;
      if (hasOnlyNumbers(text.data() + at)) {
        at = next;
        // A number goes on: its letters are not a name.
        while (at < text.size() && isWord(text[at - 1]) && isWord(text[at])) ++at;
        continue;
      }
    }
    std::size_t end = at + (text[at] == '%' ? 1 : 0);
    while (end < text.size() && isWord(text[end])) ++end;
    if (end > at && (text[at] < '0' || text[at] > '9')) note(text.substr(at, end - at));
    at = std::max(end, at + 1);
  }
}

template <typename Note>
void forEachName(const Module& module, Note note) {
  for (const Variable& v : module.variables) forEachName(module.text(v.declarator.initializer), note);
  for (const Function& f : module.functions)
    for (const Declarator& d : f.declarators) forEachName(module.text(d.initializer), note);
}

}  // namespace

std::vector<uint32_t> functionsInInitializers(const Module& module) {
  std::unordered_map<std::string_view, uint32_t> functions;
  for (const Symbol& s : module.symbols)
    if (s.kind == SymbolKind::Function) functions.emplace(module.text(s.name), s.index);
  std::vector<uint32_t> found;
  forEachName(module, [&](std::string_view name) {
    if (const auto named = functions.find(name); named != functions.end()) found.push_back(named->second);
  });
  return found;
}

std::unordered_set<std::string_view> variablesWithAddresses(const Module& module) {
  std::unordered_set<std::string_view> found;
  const auto look = [&](NameId name, const Declarator& d) {
    if (name.valid())
      forEachName(module.text(d.initializer), [&](std::string_view) { found.insert(module.text(name)); });
  };
  for (const Variable& v : module.variables) look(v.name, v.declarator);
  for (const Function& f : module.functions)
    for (const Declarator& d : f.declarators) look(d.name, d);
  return found;
}

bool initializersPointToConstants(const Module& module) {
  std::unordered_set<std::string_view> constants;
  const auto collect = [&](const Variable& v) {
    if (v.name.valid() && module.declarationForms[v.form].space == DeclaredSpace::Const)
      constants.insert(module.text(v.name));
  };
  std::ranges::for_each(module.variables, collect);
  for (const Function& f : module.functions) std::ranges::for_each(f.variables, collect);
  if (constants.empty()) return false;
  // Which name the operator is applied to does not matter: comments may stand between the two.
  bool isGeneric = false, isConstant = false;
  forEachName(module, [&](std::string_view name) {
    isGeneric |= name == "generic";
    isConstant |= constants.contains(name);
  });
  return isGeneric && isConstant;
}

}  // namespace ptxopt
