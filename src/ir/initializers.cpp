#include "ir/initializers.h"

#include <array>
#include <cctype>
#include <unordered_map>

namespace ptxopt {

namespace {

// Most of a large initializer are decimal numbers. Not the first character of a name, in so many of the text.
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

}  // namespace

// Names in initializers are those of variables and functions. A name may begin with `%`; `5%f` is no remainder
// for ptxas, either.
std::vector<uint32_t> functionsInInitializers(const Module& module) {
  std::unordered_map<std::string_view, uint32_t> functions;
  for (const Symbol& s : module.symbols)
    if (s.kind == SymbolKind::Function) functions.emplace(module.text(s.name), s.index);
  static const auto words = [] {
    std::array<bool, 256> is{};
    for (std::size_t c = 0; c < is.size(); ++c) is[c] = std::isalnum(static_cast<int>(c)) || c == '_' || c == '$';
    return is;
  }();
  const auto isWord = [](char c) { return words[static_cast<unsigned char>(c)]; };
  std::vector<uint32_t> found;
  const auto scan = [&](const Declarator& d) {
    const std::string_view text = module.text(d.initializer);
    std::size_t next = 0;  // where to look at a whole chunk again
    for (std::size_t at = 0; at < text.size();) {
      if (at >= next && text.size() - at >= kChunk) {
        next = at + kChunk;
        if (hasOnlyNumbers(text.data() + at)) {
          at = next;
          // A number goes on: its letters are no name.
          while (at < text.size() && isWord(text[at - 1]) && isWord(text[at])) ++at;
          continue;
        }
      }
      std::size_t end = at + (text[at] == '%' ? 1 : 0);
      while (end < text.size() && isWord(text[end])) ++end;
      if (end > at && (text[at] < '0' || text[at] > '9'))
        if (const auto named = functions.find(text.substr(at, end - at)); named != functions.end())
          found.push_back(named->second);
      at = std::max(end, at + 1);
    }
  };
  for (const Variable& v : module.variables) scan(v.declarator);
  for (const Function& f : module.functions)
    for (const Declarator& d : f.declarators) scan(d);
  return found;
}

}  // namespace ptxopt
