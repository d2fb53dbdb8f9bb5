#include "tune/units.h"

#include "support/union_find.h"

namespace ptxopt::tune {

Units::Units(const std::vector<FunctionOutcome>& functions) : unitOf(functions.size()) {
  // The root of a set is its first member.
  UnionFind sets(functions.size());
  for (uint32_t f = 0; f < functions.size(); ++f)
    for (const uint32_t to : functions[f].mentions) sets.unite(f, to);
  for (uint32_t f = 0; f < functions.size(); ++f) {
    const uint32_t r = sets.find(f);
    if (r == f) {
      unitOf[f] = static_cast<uint32_t>(members.size());
      members.emplace_back();
    } else {
      unitOf[f] = unitOf[r];
    }
    members[unitOf[f]].push_back(f);
  }
}

}  // namespace ptxopt::tune
