#include "ir/aliases.h"

#include <numeric>

namespace ptxopt {

std::vector<uint32_t> findCalledFunctions(const Module& module) {
  std::vector<uint32_t> called(module.functions.size());
  std::iota(called.begin(), called.end(), 0u);
  std::vector<const Symbol*> aliases;
  for (const Symbol& s : module.symbols)
    if (s.kind == SymbolKind::Alias && s.index != s.name.value) aliases.push_back(&s);
  if (aliases.empty()) return called;

  constexpr uint32_t kNone = UINT32_MAX;
  std::vector<uint32_t> functionOf(module.names.size(), kNone);  // by NameId
  for (const Symbol& s : module.symbols)
    if (s.kind == SymbolKind::Function) functionOf[s.name.value] = s.index;
  for (const Symbol* a : aliases)
    if (functionOf[a->name.value] != kNone && functionOf[a->index] != kNone)
      called[functionOf[a->name.value]] = functionOf[a->index];
  // ptxas takes aliases of each other, too, which end nowhere.
  for (uint32_t& c : called)
    for (std::size_t steps = 0; steps < aliases.size() && called[c] != c; ++steps) c = called[c];
  return called;
}

}  // namespace ptxopt
