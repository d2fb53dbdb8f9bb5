// What lsr makes of a loop: the forms that its groups of addresses may take, and what is chosen.
#pragma once

#include "passes/addressing/carry_test.h"
#include "passes/addressing/loop_report.h"
#include "passes/addressing/pointer_test.h"

namespace ptxopt {

// The step of an induction variable, as a product.
struct StepPlan {
  InductionVariable iv;
  UnitSteps::Increment increment;
  StepProduct product;
  UnitSteps::Start start = UnitSteps::Start::Aligned;
  unsigned setup = 0;  // machine instructions before the loop
};

struct LoopPlan {
  LoopId loop;
  ExpansionPlace preheader;
  LoopUses uses;
  std::vector<GroupForms> groups;                 // of uses.groups
  std::vector<SkippedGroup> skipped;              // the others
  std::vector<std::optional<StepPlan>> ownSteps;  // by group: of the pointer that it reads
  std::vector<Counter> counters;                  // that may be made
  bool mayEndOtherwise = true;                    // ptxas need not find the number of iterations in the test
  bool mayTestPointer = true;
  // What was chosen beside the forms of the groups.
  std::vector<StepPlan> steps;
  std::optional<Counter> counter;
  std::optional<PointerTest> test;
  std::optional<CarryTest> carry;

  void clearChoice();
  // Whether anything changes that may need registers. A counter that goes down takes the place of another one.
  bool changesForms() const;
  int registers() const;  // of 32 bits, that it adds to the loop
  void add(const StepPlan& step);
  // The operands that the chosen forms no longer read.
  std::vector<uint32_t> replaced() const;
  // Rejects the chosen form that takes most registers, or all forms. To be chosen anew.
  void rejectDearest();
  void rejectAll();
};

}  // namespace ptxopt
