// Which 64-bit values are 32-bit numbers, extended.
//
// A value is narrow at an instruction when all that it can be there lies within 32 bits, signed or unsigned: then
// it is the extension of its lower half, whatever computed it. That is known of what conversions, masks, shifts and
// narrow loads make, of phis of such values, of sums and products that cannot leave 32 bits, and below branches
// that compare with such values (value_range.h); of counters by the tests of their loops (scalar_evolution.h). The
// lower half is a register that is there already when the value is the conversion, the copy or the pack of it. Else
// a conversion reads it. That is free: ptxas computes the halves of 64-bit registers separately and drops those that
// nobody reads, around loops, too. Only integer registers of 64 bits are looked at (ir/register_types.h):
// what reads their halves takes no .f64 register. Cost: that of the analyses, which note their results.
#pragma once

#include <optional>

#include "passes/addressing/address_opcodes.h"
#include "passes/addressing/address_values.h"
#include "passes/arithmetic/wide/edits.h"
#include "passes/loops/unrolling.h"
#include "passes/util/register_scopes.h"

namespace ptxopt {

struct Narrow {
  bool isSigned = false;    // within [-2^31, 2^31)
  bool isUnsigned = false;  // within [0, 2^32)
  bool any() const { return isSigned || isUnsigned; }
};
inline Narrow operator&(Narrow a, Narrow b) { return {a.isSigned && b.isSigned, a.isUnsigned && b.isUnsigned}; }

class NarrowValues {
 public:
  NarrowValues(const Function& f, PassContext& context, const AddressValues& values)
      : f_(f),
        module_(context.module),
        cfg_(context.analyses.cfg()),
        ranges_(context.analyses.valueRanges()),
        analyses_(context.analyses),
        values_(values),
        context_(context),
        unrolling_(context.analyses.loops().size()),
        reaches_(context.module, f) {}

  // For a register or an immediate that instruction `at` reads.
  Narrow of(const Operand& o, InstrId at);
  // The number that it always is there, if it is one.
  std::optional<int64_t> constant(const Operand& o, InstrId at);
  // For what an unguarded instruction leaves in its result.
  Narrow made(const Operand& result, InstrId at);
  // The lower half of what `at` reads, for `place`, which may read it too, as a source that is not the first.
  Operand lower(const Operand& o, InstrId at, InstrId place, Edits& edits) const;
  // The instruction that extends it to 64 bits for `at`, through copies; none when it is something else.
  InstrId extension(const Operand& o, InstrId at) const;

  // Whether ptxas may unroll the innermost loop that has it as a counter of 64 bits, where no register has the lower
  // half already. ptxas counts by such a counter, and adds constants for the copies of an iteration; it does neither by
  // its lower half.
  Unrolling unrollingOf(const Operand& o, InstrId at);

  // Whether `at` may read the value.
  bool mayRead(ValueKey k, InstrId at, bool& extends) const {
    if (!values_.reaches(k, at, extends)) return false;
    return reaches_(values_.reg(k), at);
  }

 private:
  static constexpr unsigned kMostCopies = 4;

  static Narrow fits(const IntegerRange& r);
  const OpcodeForm& form(InstrId id) const { return module_.form(f_[id]); }
  InstrId origin(const Operand& o, InstrId at) const;
  // What the instruction makes 64 bits of, as its lower half; nullptr for other instructions.
  const Operand* widened(InstrId id) const;

  const Function& f_;
  const Module& module_;
  const Cfg& cfg_;
  ValueRanges& ranges_;
  Analyses& analyses_;
  const AddressValues& values_;
  PassContext& context_;
  std::vector<std::optional<Unrolling>> unrolling_;  // by LoopId, as far as asked
  mutable RegisterReach reaches_;                    // made when first asked for
};

}  // namespace ptxopt
