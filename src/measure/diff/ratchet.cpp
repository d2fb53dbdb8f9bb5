// The two sides are matched as for a comparison; each function of the new side then takes over the old figures where a
// measure got worse.
#include "diff/ratchet.h"

#include <algorithm>

namespace ptxopt::diff {
namespace {

// < 0: better; > 0: worse; 0: the same, or not known. For a clock, what is within the tolerance is the same.
int signOf(const ptxas::FunctionMeasures& before, const ptxas::FunctionMeasures& after, const Limit& limit) {
  const ptxas::Measure m = limit.measure;
  if (m == ptxas::Measure::Notes) return ptxas::compareNotes(before, after).sign;
  const auto a = value(before, m), b = ptxas::valueAfter(before, after, m);
  if (!a || !b || *a == *b) return 0;
  if (m == ptxas::Measure::CompileTime) return limit.isExceeded(*a, *b) ? 1 : limit.isExceeded(*b, *a) ? -1 : 0;
  return (*a < *b) == ptxas::isMoreBetter(m) ? -1 : 1;
}

// Puts back a function that is gone.
void restore(const Unit& oldUnit, const ptxas::FunctionMeasures& f, Side& side) {
  auto unit = std::find_if(side.units.begin(), side.units.end(), [&](const Unit& u) {
    return u.file == oldUnit.file && u.measures.architecture == oldUnit.measures.architecture;
  });
  if (unit == side.units.end()) {
    unit = side.units.insert(unit, Unit{});
    unit->file = oldUnit.file;
    unit->measures.architecture = oldUnit.measures.architecture;
  }
  unit->measures.functions.push_back(f);
}

}  // namespace

Ratcheted ratchet(const Side& old, const Side& now, const FailOn& failOn) {
  Ratcheted result{now};
  for (const Match& m : match(old, now).matches) {
    if (m.before == nullptr) continue;
    if (m.after == nullptr) {
      if (failOn.missing && m.before->isKernel) restore(*m.beforeUnit, *m.before, result.side);
      continue;
    }
    // The copy's function at the same place.
    const auto unit = static_cast<std::size_t>(m.afterUnit - now.units.data());
    const auto function = static_cast<std::size_t>(m.after - m.afterUnit->measures.functions.data());
    ptxas::FunctionMeasures& f = result.side.units[unit].measures.functions[function];
    bool isBetter = false, isWorse = false;
    for (const Limit& limit : failOn.limits) {
      if (limit.measure == ptxas::Measure::Code) continue;
      const int sign = signOf(*m.before, *m.after, limit);
      isBetter = isBetter || sign < 0;
      isWorse = isWorse || sign > 0;
    }
    // As in diff: what is not asked for fails nothing that is better to the guard.
    if (failOn.isUsual && isBetter && compare(*m.before, *m.after, ptxas::GuardRule::Time).sign < 0)
      isWorse = false;
    if (isWorse) {
      const std::string name = f.name;
      f = *m.before;
      f.name = name;
      ++result.kept;
    } else if (isBetter) {
      ++result.tightened;
    }
  }
  for (Unit& unit : result.side.units)
    std::sort(unit.measures.functions.begin(), unit.measures.functions.end(),
              [](const ptxas::FunctionMeasures& a, const ptxas::FunctionMeasures& b) { return a.name < b.name; });
  result.side.sortUnits();
  return result;
}

}  // namespace ptxopt::diff
