// Through which parameters of a kernel its accesses reach memory.
//
// What:       For each value of a register that can hold an address, the set of the parameters that it is made of: those whose
//             value, with numbers added, it may be. Also which parameters the kernel writes through, and which escape: what is
//             made of them goes where this analysis does not follow.
// Numbers:    constants, special registers, what is extended from 32 bits, products and left shifts are made of no parameter:
//             nobody multiplies addresses, and who does lets the parameter escape. A sum, a difference, a mask and a choice
//             are made of what both operands are made of, also where one of them is an integer parameter of 64 bits.
// Other:      what is loaded, the address of a variable, results of calls and atomics, what is put together from halves, what
//             an operation gives that is not known. It is a member of the sets like a parameter.
// Escapes:    a parameter escapes where a value made of it is read by anything but the address of a load, a store or a
//             prefetch, a comparison, and an operation whose result is known to be made of it: stored as data, passed to a
//             call, packed, taken apart, converted to fewer bits. So does one that is read in part. All do where the address
//             of a parameter is taken, a load goes beyond one, or control comes from elsewhere.
// Writes:     a parameter is written where a store's address is made of it, and where any other instruction than a weak load
//             or a prefetch has such an address: atomics, asynchronous and tensor copies, ordered and volatile loads.
// Invariants: if a parameter neither escapes nor is written, then no write of the kernel or of what it calls has an address
//             that is computed from its value. Only reachable code counts.
// Algorithm:  sets of bits, from below, in sweeps over the blocks in reverse post-order until nothing changes.
// Cost:       linear in operands for each sweep. Parameters after the 63rd are Other.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/addresses/address_arithmetic.h"
#include "analysis/values/value_flow.h"

namespace ptxopt {

class ParameterMemory : ValueFlow<ParameterMemory, uint64_t> {
 public:
  using Set = uint64_t;  // bit p: parameter p
  static constexpr Set kOther = Set{1} << 63;

  // For a kernel. All must live as long as this, and stay as they are. `cfg` is complete().
  ParameterMemory(const Module& module, const Function& kernel, const Cfg& cfg, const SlotIndexes& slots,
                  const LiveIntervals& intervals);

  // What the address of access `id` is made of, `[r]` or `[r+4]`; Other for other forms. Empty: of numbers.
  Set accessed(InstrId id) const;
  Set written() const { return written_; }
  Set escaped() const { return escaped_; }

 private:
  static constexpr unsigned kMostSweeps = 100;

  friend ValueFlow;

  static Set join(Set a, Set b) { return a | b; }
  static Set unknown() { return 0; }  // nobody wrote it
  static Set entering(const FlowValue&, BlockId, bool) { return 0; }
  Set fromEdge(RegId r, ValueId v) const { return at(r, v); }
  Set made(InstrId id, const Operand&, uint32_t) const { return left(id); }
  Set source(std::span<const Operand> operand, InstrId id) const;
  Set result(InstrId id) const;
  Set loaded(InstrId id) const;
  Set product(InstrId id, const class PlainOperands& operands) const;
  Set left(InstrId id) const;
  void noteUses(InstrId id);
  void noteParameters(InstrId id);
  bool staysInside(const Instruction& load, const Variable& v) const;

  Set written_ = 0, escaped_ = 0;
};

}  // namespace ptxopt
