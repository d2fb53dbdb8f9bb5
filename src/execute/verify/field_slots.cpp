#include <numeric>

#include "support/union_find.h"
#include "verify/field_facts.h"

namespace ptxopt::verify {
namespace {

std::vector<Slot> slotsOf(const FieldFacts& facts) {
  std::vector<Slot> slots;
  for (const auto& [pair, spot] : facts.spots) {
    const auto& [holder, target] = pair;
    if (!facts.sure.contains(target)) continue;
    Slot slot{holder, target, spot.at, spot.stride};
    // Accesses at any byte are to an array of pointers.
    if (slot.stride != 0 && slot.stride % 8 != 0) slot.stride = 8, slot.at = 0;
    slots.push_back(slot);
  }
  return slots;
}

bool overlap(const Slot& a, const Slot& b) {
  const uint64_t g = std::gcd(a.stride, b.stride);
  const auto apart = static_cast<uint64_t>(a.at < b.at ? b.at - a.at : a.at - b.at);
  return g == 0 ? apart == 0 : apart % g == 0;
}

}  // namespace

std::vector<Slot> joinSlots(FieldFacts& facts) {
  UnionFind same(facts.fields.size());
  const auto of = [&](uint32_t k) { return same.find(k); };
  std::vector<Slot> slots = slotsOf(facts);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t x = 0; x < slots.size(); ++x)
      for (std::size_t y = x + 1; y < slots.size(); ++y) {
        Slot &a = slots[x], &b = slots[y];
        if (of(a.holder) != of(b.holder) || !overlap(a, b)) continue;
        const uint32_t first = std::min(of(a.target), of(b.target)), last = std::max(of(a.target), of(b.target));
        same.unite(first, last);
        if (first != last)
          for (const auto& [type, count] : facts.elements[last]) facts.elements[first][type] += count;
        const Spot all = together({a.at, a.stride}, {b.at, b.stride});
        a.at = all.at;
        a.stride = all.stride;
        slots.erase(slots.begin() + static_cast<std::ptrdiff_t>(y));
        changed = true;
        --y;
      }
  }
  for (Slot& slot : slots) slot.holder = of(slot.holder), slot.target = of(slot.target);
  return slots;
}

}  // namespace ptxopt::verify
