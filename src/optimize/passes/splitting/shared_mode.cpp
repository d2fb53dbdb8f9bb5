#include "passes/splitting/shared_mode.h"

#include <algorithm>

namespace ptxopt {

std::string_view SharedMode::whyNot(const RegisterSplit& s, const HighPoints& high) const {
  const uint32_t bits = info(source_.f.registers[s.reg.value].type).bits;
  if (bits != 32 && bits != 64) return "not-32-or-64-bits";
  return s.deepest == 0 || relievesDeeper(s, high) ? "" : "in-inner-loop";
}

bool SharedMode::relievesDeeper(const RegisterSplit& s, const HighPoints& high) const {
  return std::ranges::any_of(source_.intervals[s.reg].segments(), [&](const Segment& g) {
    return high.betweenDeeper(source_.firstOf(g), source_.endOf(g), s.deepest) != 0;
  });
}

bool SharedMode::mayPick(const RegisterSplit& s, const PickedRegisters&, MissedRemarks& missed) const {
  const std::string_view why = !slots_.hasRoom(s.units) ? "no-shared-memory"
                               : !fitsTogether(s)       ? "loads-together"
                                                        : "";
  if (!why.empty()) missed.add(why);
  return why.empty();
}

void SharedMode::pick(RegisterSplit& s, PickedRegisters&) {
  s.carrier = slots_.add(s.units);
  forEachAccess(s, [&](std::size_t place) { together_[place] += s.units; });
}

// ptxas brings the loads of a block together, those of the slots and those whose results go there. All of them would
// be live at a time, so there must be no more than the step allows.
bool SharedMode::fitsTogether(const RegisterSplit& s) const {
  bool fits = true;
  forEachAccess(s, [&](std::size_t place) { fits &= together_[place] + s.units <= most_; });
  return fits;
}

void SharedMode::forEachAccess(const RegisterSplit& s, const auto& visit) const {
  for (const InstrId id : s.defs) visit(2 * std::size_t{source_.cfg.blockOf(id).value});
  for (const InstrId id : s.uses) visit(2 * std::size_t{source_.cfg.blockOf(id).value} + 1);
}

void SharedMode::takeOver(Function& f, const RegisterSplit& s, InstrId place) {
  slots_.access(source_.module, f, s.reg, s.carrier, true, place);
}

void SharedMode::writeAgain(Function& f, const RegisterSplit& s, InstrId place) {
  slots_.access(source_.module, f, s.reg, s.carrier, false, place);
}

}  // namespace ptxopt
