// The lowest bits of integers, value by value: what they are divisible by, and what is left over.
//
// What:       of each value the lowest bits that are the same in all launches and iterations, up to kMost of them:
//             `value` modulo 2^count. 2 and 0: it is a multiple of four.
// From:       constants; parameters and sizes by what the user says (Module::facts: values and multiples); parameters declared
//             with `.ptr .align`; the addresses of variables; sums, differences, products, masks, left shifts, right shifts by
//             a constant, conversions, choices, whatever wraps: of 2^32 the lowest bits are none of it. A phi, and what is
//             written under a guard, has the bits in which what comes together agrees.
// Algorithm:  from above: all bits are known until a source says otherwise, in sweeps over the blocks in reverse post-order
//             until nothing changes. So a pointer that moves by 16 in each iteration is as aligned as it was.
// Invariants: only reachable code counts. What this does not understand, and what nobody wrote, has no known bits.
// Cost:       linear in operands for each sweep; kMost times the depth of loops at most, seldom more than three.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/values/range_operation.h"
#include "analysis/values/value_flow.h"
#include "ir/module.h"

namespace ptxopt {

struct KnownLowBits {
  uint8_t count = 0;
  uint8_t value = 0;  // below 2^count

  bool isMultipleOf(unsigned powerOfTwo) const { return powerOfTwo <= (1u << count) && value % powerOfTwo == 0; }
  friend bool operator==(const KnownLowBits&, const KnownLowBits&) = default;
};

class LowBits : ValueFlow<LowBits, KnownLowBits> {
 public:
  static constexpr unsigned kMost = 7;

  // All must live as long as this, and stay as they are. `cfg` is complete().
  LowBits(const Module& module, const Function& function, const Cfg& cfg, const SlotIndexes& slots,
          const LiveIntervals& intervals);

  KnownLowBits read(RegId r, InstrId id) const;
  // For the address of access `id`: `[r]`, `[r+4]`, `[variable+4]`; nothing of other forms.
  KnownLowBits address(InstrId id) const;

 private:
  static constexpr unsigned kMostSweeps = 64;
  friend ValueFlow;

  static KnownLowBits join(KnownLowBits a, KnownLowBits b);
  static KnownLowBits unknown() { return {}; }
  KnownLowBits entering(const FlowValue& v, BlockId b, bool isRoot) const;
  KnownLowBits fromEdge(RegId r, ValueId v) const { return at(r, v); }
  KnownLowBits made(InstrId id, const Operand& to, uint32_t number);
  KnownLowBits result(InstrId id, const Operand& to);
  KnownLowBits loaded(InstrId id) const;
  KnownLowBits source(const Operand* o, InstrId id) const;
  KnownLowBits ofVariable(const Operand& o) const;
  KnownLowBits ofSize(std::string_view name) const;

  std::vector<RangeOperation> operations_;  // by OpcodeId
};

}  // namespace ptxopt
