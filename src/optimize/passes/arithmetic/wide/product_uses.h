// What ptxas makes of a product of 64 bits depends on the additions that read it.
//
// It fuses mul.wide with each addition that reads it into one IMAD.WIDE, wherever that addition is; so the product
// moves into the loop that the addition is in. That saves an instruction where the other summand is a pair of
// registers (the factor is an immediate then) or a parameter (the factor is in a register then, which all products
// with it share). It saves none
//   where the other summand is in uniform registers: IADD3 and LEA can read one, IMAD.WIDE cannot, and both halves
//   are moved first;
//   where the addition is the step of a recurrence and both factors are registers: ptxas may copy the factors, and
//   move the halves of the sum, in each iteration.
// A product of two registers that is needed as it is there is written as its two halves, which are two instructions
// where the product of 64 bits is four, and are not taken into additions.
//
// Cost: linear in the uses of products; register files when first asked for.
#pragma once

#include "passes/addressing/address_values.h"

namespace ptxopt {

class ProductUses {
 public:
  ProductUses(const Function& f, PassContext& context, const AddressValues& values)
      : f_(f), context_(context), module_(context.module), values_(values) {}

  struct Counts {
    unsigned pairs = 0;       // additions to a pair of registers
    unsigned parameters = 0;  // additions to a parameter
    unsigned uniform = 0;     // additions to uniform registers
    unsigned steps = 0;       // steps of recurrences, in loops around which the product is made
    unsigned others = 0;      // all else that reads it
  };
  // For the result of product `id`.
  Counts of(const Operand& result, InstrId id);
  // For one addition, to `other`, of a product made in block `home`.
  Counts ofAddition(const Operand& other, InstrId at, BlockId home);
  // Whether it holds one value for all threads of a block.
  bool isUniform(RegId reg);

 private:
  static constexpr unsigned kMostCopies = 4;

  bool isParameter(RegId reg, InstrId at) const;
  bool isRecurrence(RegId reg, InstrId at, BlockId outside);

  const Function& f_;
  PassContext& context_;
  const Module& module_;
  const AddressValues& values_;
};

}  // namespace ptxopt
