// The forms that a group of addresses may take (forms.def), and what each costs.
//
// A pointer starts at the group's start; its uses differ by immediates.
// The order is that of the phases of cicc's solver:
//   1. initial forms, for each group as a whole;
//   2. offsets: they go to the immediates, or to the base if they do not fit; loop bounds go to the base of an index
//      that counts down;
//   3. strides: that of an index must divide the group's, without wrapping and without the least number;
//   4. reuse of existing induction variables.
// Not built: chains (a group computed from another one takes two instructions, a product step one), and formulas that
// several groups share, since all addresses that differ by constants are one group already. Forms that are too
// expensive or cannot be made are filtered here.
#pragma once

#include <climits>
#include <string_view>

#include "passes/addressing/loop_uses.h"
#include "passes/addressing/step.h"
#include "passes/util/expander.h"

namespace ptxopt {

enum class FormulaKind : uint8_t {
#define PTXOPT_ADDRESS_FORM(id, name, cost, waits, text) id,
#include "passes/addressing/forms.def"
};
// What waits for an address of the form in each iteration.
enum class Waits : uint8_t { Nothing, Access, Step };
struct AddressForm {
  std::string_view name;
  double target::Costs::*cost;  // what an iteration pays for 64 bits
  Waits waits;
};
const AddressForm& addressForm(FormulaKind kind);

constexpr uint32_t kNoCounter = UINT32_MAX;

// A 32-bit counter that may be made for a loop, from `start` by ones. It takes over the test that ends the loop
// where that lets another counter go.
struct Counter {
  ExprId start;           // of 32 bits
  ExprId expr;            // {start,+,1}
  bool isSigned = false;  // it passes the end of the signed numbers, or of the unsigned ones, in no iteration
  bool isUnsigned = false;
  std::optional<ExitTest> test;  // the test that it takes over
  ExprId limit;                  // what it is compared with
  bool isAhead = false;          // it is advanced before the test, and else at the end of the iteration
  uint32_t tested = 0;           // the operand that the test no longer reads
  unsigned setup = 1;
};

struct Formula {
  FormulaKind kind = FormulaKind::Keep;
  ExprId base;  // Pointer*: in the first iteration; Index: what the index is added to
  InductionVariable index;
  uint32_t counter = kNoCounter;  // Index: which of the counters that may be made, instead of `index`
  int64_t scale = 0;              // Index
  bool isSigned = false;          // Index: how the 32-bit number is extended
  StepProduct product;            // UnitPointer, StridePointer, UnitStep
  double perIteration = 0;        // machine instructions
  InstrId increment;              // UnitStep: the sum that moves the pointer on
  double instead = 0;             // UnitStep: what that costs as it is, in each iteration
  int setup = 0;                  // before the loop
  int saved = 0;                  // ... and the part of it that is no longer needed goes
  int registers = 0;              // 32-bit units that live through the loop
  std::string_view bad;           // why it cannot be chosen; empty when it can
};

// For a formula for which there are no registers.
inline constexpr std::string_view kNoRoom = "register-pressure";

inline bool needsUnitRegister(const Formula& f) {
  return (f.kind == FormulaKind::UnitPointer || f.kind == FormulaKind::UnitStep) && f.product.needsUnit();
}

struct FormulaTerms {
  const Function& f;
  PassContext& context;
  Expander& expander;
  UnitSteps& steps;
  LoopId loop;
  ExpansionPlace preheader;
  bool may64 = true;              // 64-bit recurrences may be made
  int room = INT_MAX;             // 32-bit units that a form may take
  bool filters = true;            // what takes more, or too many instructions before the loop, is not offered
  bool extends = true;            // indexes of 32 bits, extended to 64 by mul.wide, are offered
  bool creditsExtensions = true;  // a register that an index saves because it is of 32 bits counts
};

// The formulas of a group, Keep first (LoopCost gives its cost).
// `counters`: those that may be made.
std::vector<Formula> makeFormulas(const UseGroup& group, std::span<const InductionVariable> ivs,
                                  std::span<const Counter> counters, FormulaTerms& t);

// The counters that are worth a try in a loop: from 0, and from the numbers that group starts scale by their steps.
std::vector<Counter> makeCounters(std::span<const UseGroup> groups, FormulaTerms& t);

}  // namespace ptxopt
