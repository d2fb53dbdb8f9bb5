#include "ir/initializers.h"

#include <array>
#include <cctype>
#include <unordered_map>

namespace ptxopt {

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
    for (std::size_t at = 0; at < text.size();) {
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
