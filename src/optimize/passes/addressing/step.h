// Steps of 64-bit induction variables that ptxas makes in one machine instruction.
//
// This is about the targets on which a step by a constant costs more than one by a product (target/target.h).
// ptxas adds a constant to a 64-bit register in two instructions, and where the register lives around a loop mostly
// in three, because the halves of the sum are not an aligned pair. It adds the 64-bit product of two 32-bit numbers
// in one (IMAD.WIDE), and keeps the pair. So the step is written as a product: of the constant and of a register
// that holds 1, without ptxas knowing it: the smaller of 1 and the number of blocks of the grid. That is
// right wherever it runs, since a grid has a block. The start must be an aligned pair as well: a start that does
// not end in a mul.wide and its addition is computed anew so, or gets a product added that ptxas does not
// know to be 0. Measured on ptxas 13.0, loops that it does not unroll, two pointers (whole loop): 12
// instructions by constants, 8 by products; the same with the pair broken at the start: 13 and 12. Where ptxas
// unrolls, constants are folded into the immediates of several iterations, and products are not: such loops do not
// change (unrolling.h). Nor do counters that are the same for all threads of a block, which go to the uniform
// registers, and addresses of .shared memory, where ptxas computes 32 bits only.
#pragma once

#include "passes/addressing/early_steps.h"
#include "passes/addressing/wide_sums.h"
#include "passes/util/expander.h"

namespace ptxopt {

// A step as a product; without a left factor it is that of the constant and the register that holds 1.
struct StepProduct : WideProduct {
  bool needsUnit() const { return !left.valid(); }
};
// None where the step is not such a product, or where that is not proved.
std::optional<StepProduct> stepProduct(ScalarEvolution& evolution, ExprId step, LoopId loop);

class UnitSteps {
 public:
  UnitSteps(Function& f, PassContext& context, Expander& expander, const WideSums& sums)
      : f_(f), context_(context), expander_(expander), sums_(sums) {}

  // The register that holds 1, made at the entry of the function when first asked for.
  RegId unit();
  // One that holds 0, in the same way.
  RegId zero();
  // `start` as an aligned pair: with a product of 0 added, before a place.
  void addPaired(RegId to, RegId start, InstrId before);
  // Machine instructions before the loop for the factors; Expander::kImpossible.
  unsigned cost(const StepProduct& p, const ExpansionPlace& preheader);
  // The factors, in registers that keep them through the loop.
  struct Factors {
    RegId left, right;  // right: none, `constant`
    int64_t constant = 0;
    bool isSigned = true;
  };
  Factors factors(const StepProduct& p, const ExpansionPlace& preheader);
  // Their product, before a place.
  RegId product(const Factors& f, InstrId before);

  // The only instruction of the loop that moves an induction variable on: it adds the step to a 64-bit register.
  struct Increment {
    InstrId instruction;
    uint32_t operand = 0;  // of the step, in Function::operands
  };
  std::optional<Increment> increment(const InductionVariable& iv, LoopId loop) const;
  // Whether ptxas adds 64 bits in one instruction, whose result is a pair.
  bool addsWhole() const { return context_.costs().add64 <= 1; }
  // How the start becomes an aligned pair, and with how many machine instructions before the loop.
  enum class Start : uint8_t { Aligned, Anew, Paired };
  Start howToStart(const InductionVariable& iv, LoopId loop, const ExpansionPlace& preheader, unsigned& cost);
  void rewrite(const InductionVariable& iv, const Increment& increment, const StepProduct& step, Start start,
               const ExpansionPlace& preheader);
  // Notes that `addition`, which stands directly after its product, adds a constant step to a pointer.
  void note(RegId pointer, const StepProduct& step, InstrId addition);
  // Those noted.
  std::span<const MadeStep> made() const { return made_; }

 private:
  Function& f_;
  PassContext& context_;
  Expander& expander_;
  const WideSums& sums_;
  RegId unit_, zero_;
  InstrId afterUnit_;  // before what the two are made
  std::vector<MadeStep> made_;
};

}  // namespace ptxopt
