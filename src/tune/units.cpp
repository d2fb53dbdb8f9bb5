#include "tune/units.h"

#include <numeric>

namespace ptxopt {

Units::Units(const std::vector<FunctionOutcome>& functions) : unitOf(functions.size()) {
  // The parent of each function is the same or an earlier one, so that the root is the first member.
  std::vector<uint32_t> parent(functions.size());
  std::iota(parent.begin(), parent.end(), 0u);
  const auto root = [&](uint32_t f) {
    while (parent[f] != f) f = parent[f] = parent[parent[f]];
    return f;
  };
  for (uint32_t f = 0; f < functions.size(); ++f)
    for (const uint32_t to : functions[f].mentions) {
      const uint32_t a = root(f), b = root(to);
      parent[std::max(a, b)] = std::min(a, b);
    }
  for (uint32_t f = 0; f < functions.size(); ++f) {
    const uint32_t r = root(f);
    if (r == f) {
      unitOf[f] = static_cast<uint32_t>(members.size());
      members.emplace_back();
    } else {
      unitOf[f] = unitOf[r];
    }
    members[unitOf[f]].push_back(f);
  }
}

}  // namespace ptxopt
