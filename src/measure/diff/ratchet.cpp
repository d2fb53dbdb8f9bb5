#include "diff/ratchet.h"

#include <algorithm>

namespace ptxopt::diff {
namespace {

void set(ptxas::FunctionMeasures& f, ptxas::Measure m, const ptxas::FunctionMeasures& from) {
  switch (m) {
    case ptxas::Measure::Notes: f.notes = from.notes; break;
    case ptxas::Measure::Spills:
      f.spillStores = from.spillStores;
      f.spillLoads = from.spillLoads;
      break;
    case ptxas::Measure::Warps: f.warps = from.warps; break;
    case ptxas::Measure::Instructions: f.instructions = from.instructions; break;
    case ptxas::Measure::Inner:
      f.inner = from.inner;
      f.innerLoops = from.innerLoops;
      break;
    case ptxas::Measure::Cycles: f.time = from.time; break;
    case ptxas::Measure::Registers: f.registers = from.registers; break;
    case ptxas::Measure::Stack: f.stack = from.stack; break;
    case ptxas::Measure::Code: break;  // that of its figures
  }
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
      const auto before = value(*m.before, limit.measure),
                 after = ptxas::valueAfter(*m.before, *m.after, limit.measure);
      if (!before || !after || *before == *after) continue;
      if ((*before < *after) == ptxas::isMoreBetter(limit.measure)) {
        isBetter = true;
        continue;
      }
      isWorse = true;
      set(f, limit.measure, *m.before);
    }
    if (isBetter) ++result.tightened;
    if (isWorse) ++result.kept;
  }
  for (Unit& unit : result.side.units)
    std::sort(unit.measures.functions.begin(), unit.measures.functions.end(),
              [](const ptxas::FunctionMeasures& a, const ptxas::FunctionMeasures& b) { return a.name < b.name; });
  result.side.sortUnits();
  return result;
}

}  // namespace ptxopt::diff
