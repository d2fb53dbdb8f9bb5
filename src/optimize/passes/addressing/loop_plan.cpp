// A plan holds one chosen formula for each group, 0 for what is there. Where registers do not suffice, the dearest
// choice is rejected and the search begins again.
#include "passes/addressing/loop_plan.h"

#include <algorithm>

namespace ptxopt {
namespace {
constexpr int kTestRegisters = 2;  // the limit of the test of a pointer
}

void LoopPlan::clearChoice() {
  for (GroupForms& g : groups) g.chosen = 0;
  steps.clear();
  counter.reset();
  test.reset();
  carry.reset();
}

bool LoopPlan::changesForms() const {
  return !steps.empty() || test || std::ranges::any_of(groups, [](const GroupForms& g) { return g.chosen != 0; });
}

int LoopPlan::registers() const {
  int all = test ? kTestRegisters : 0;
  for (const GroupForms& g : groups) all += std::max(g.formulas[g.chosen].registers, 0);
  return all;
}

// Groups of two spaces may read one pointer.
void LoopPlan::add(const StepPlan& step) {
  if (std::ranges::none_of(
          steps, [&](const StepPlan& s) { return s.increment.instruction == step.increment.instruction; }))
    steps.push_back(step);
}

std::vector<uint32_t> LoopPlan::replaced() const {
  std::vector<uint32_t> all;
  for (const GroupForms& g : groups)
    if (g.chosen != 0 && g.formulas[g.chosen].kind != FormulaKind::UnitStep)
      for (const AddressUse& u : g.group->uses) all.push_back(u.operand);
  if (counter && counter->test) all.push_back(counter->tested);
  return all;
}

void LoopPlan::rejectDearest() {
  Formula* dearest = nullptr;
  for (GroupForms& g : groups)
    if (g.chosen != 0 && (dearest == nullptr || g.formulas[g.chosen].registers > dearest->registers))
      dearest = &g.formulas[g.chosen];
  if (test && (dearest == nullptr || dearest->registers <= kTestRegisters))
    mayTestPointer = false;
  else if (dearest != nullptr)
    dearest->bad = kNoRoom;
}

void LoopPlan::rejectAll() {
  mayTestPointer = false;
  for (GroupForms& g : groups)
    for (Formula& f : std::span(g.formulas).subspan(1))
      if (f.bad.empty()) f.bad = kNoRoom;
}

}  // namespace ptxopt
