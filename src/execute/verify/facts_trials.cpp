// Each chosen value is kept where the fact holds, and otherwise replaced by one that depends on it and is a multiple
// within the range. Components of a block become their least from z to x until the block fits.
#include "verify/facts_trials.h"

#include <algorithm>

namespace ptxopt::verify {
namespace {

constexpr int64_t kMostThreads = 1024;

// A value for which the fact holds: `value` itself, or another one that depends on it.
int64_t kept(const NumberFact& fact, int64_t value) {
  if (fact.holds(value)) return value;
  const auto step = static_cast<int64_t>(fact.multiple);
  // The ends are multiples where they are said; without them zero is one.
  const int64_t from = fact.least != INT64_MIN ? fact.least : fact.most != INT64_MAX ? fact.most : 0;
  if (fact.exact()) return from;
  constexpr uint64_t kSpread = 1000;
  // Away from that end, as far as there are multiples.
  const bool isDown = fact.least == INT64_MIN;
  const uint64_t room = isDown ? static_cast<uint64_t>(from) - static_cast<uint64_t>(INT64_MIN)
                               : static_cast<uint64_t>(fact.most) - static_cast<uint64_t>(from);
  const uint64_t steps = static_cast<uint64_t>(value) % kSpread % (std::min(room / fact.multiple, kSpread) + 1);
  return isDown ? from - static_cast<int64_t>(steps) * step : from + static_cast<int64_t>(steps) * step;
}

void keep(exec::Dim3& size, const std::array<NumberFact, 3>& facts) {
  size.x = static_cast<uint32_t>(kept(facts[0], size.x));
  size.y = static_cast<uint32_t>(kept(facts[1], size.y));
  size.z = static_cast<uint32_t>(kept(facts[2], size.z));
}

bool isWithin(const exec::Dim3& block, uint64_t most) {
  return block.count() <= std::min<uint64_t>(most, kMostThreads);
}

// The bits that stand for the number that the fact means.
uint64_t keptBits(const NumberFact& fact, uint64_t bits, unsigned width, bool isSigned) {
  const uint64_t mask = width == 64 ? UINT64_MAX : (uint64_t{1} << width) - 1;
  bits &= mask;
  if (isSigned || fact.least < 0) {
    const uint64_t sign = uint64_t{1} << (width - 1);
    return static_cast<uint64_t>(kept(fact, static_cast<int64_t>((bits ^ sign) - sign))) & mask;
  }
  if (bits > INT64_MAX && fact.most == INT64_MAX && bits % fact.multiple == 0) return bits;
  return static_cast<uint64_t>(kept(fact, static_cast<int64_t>(bits & INT64_MAX))) & mask;
}

}  // namespace

void keepToFacts(Trial& t, const Module& module, const Function& kernel, const KernelUse& use,
                 const ShapeLimits& limits) {
  if (module.facts.empty()) return;
  const KernelFacts& facts = module.facts[kernel.index];
  keep(t.block, facts.block);
  // The smallest sizes fit into a block: the largest component goes first.
  for (const auto component : {&exec::Dim3::z, &exec::Dim3::y, &exec::Dim3::x}) {
    if (isWithin(t.block, limits.most)) break;
    const std::size_t i = component == &exec::Dim3::x ? 0 : component == &exec::Dim3::y ? 1 : 2;
    t.block.*component = static_cast<uint32_t>(facts.block[i].least);
  }
  const exec::Dim3 before = t.grid;
  keep(t.grid, facts.grid);
  if (t.grid.x != before.x || t.grid.y != before.y || t.grid.z != before.z) t.firstCluster = 0;
  const exec::Dim3& c = t.cluster;
  if (limits.cluster.count() <= 1 && (t.grid.x % c.x != 0 || t.grid.y % c.y != 0 || t.grid.z % c.z != 0))
    t.cluster = {};
  for (std::size_t k = 0; k < use.fields.size(); ++k) {
    const Field& field = use.fields[k];
    if (field.place != Field::Place::Parameter) continue;
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
      const Variable& v = kernel.variables[kernel.parameters[i].value];
      const DeclarationForm& form = module.declarationForms[v.form];
      if (module.text(v.name) != field.parameter || !isInteger(form.type) ||
          info(form.type).bits != field.bytes * 8)
        continue;
      // An address is made up together with the memory, and no two are of the same; here is how far from its beginning
      // it points.
      if (t.fields[k].isPointer && !facts.parameters[i].exact()) {
        t.fields[k].bits -= t.fields[k].bits % facts.parameters[i].multiple;
        continue;
      }
      t.fields[k].isPointer = t.fields[k].isPointer && !facts.parameters[i].exact();
      // A number that leads nowhere meets no other address.
      if (facts.pointers[i].isNoalias) t.fields[k].bits = 0;
      t.fields[k].bits =
          keptBits(facts.parameters[i], t.fields[k].bits, info(form.type).bits, isSignedType(form.type));
    }
  }
}

}  // namespace ptxopt::verify
