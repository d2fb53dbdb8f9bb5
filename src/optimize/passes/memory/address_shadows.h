// Addresses of one state space beside the generic ones that registers hold.
//
// What:       For accesses and conversions of generic addresses that lie in shared, local or constant memory: a
//             second register, the shadow, for each register that holds such an address; it holds the same address
//             as the space itself counts. What made the generic address came from `cvta` of the other, so the
//             shadow takes that by a copy, and follows all arithmetic: each instruction that writes the register
//             gets one like it before it, on shadows. So the shadow is right wherever the register is, at phis and
//             under guards, and `cvta.to`, which ptxas does not see through, is needed only after a parameter.
// Invariants: a shadow is written where its register is, and only there; registers keep what they hold. A number
//             that may stand for an address (null) is copied as it is: nothing is accessed through it.
// Gain:       what stays of the generic arithmetic, because something else reads it, is computed twice; that is
//             weighed against the accesses, by the depths of their loops (isWorthIt).
// Cost:       linear in the values and their uses.
#pragma once

#include <vector>

#include "analysis/addresses/address_spaces.h"
#include "passes/manager/pass.h"

namespace ptxopt {

struct ShadowUse {
  InstrId at;
  uint32_t operand = 0;  // of the register, in the instruction's operands
  OpcodeId opcode;       // what the instruction becomes
};

class AddressShadows {
 public:
  // `space`: Shared, Local or Const.
  AddressShadows(Function& f, PassContext& context, const AddressSpaces& spaces, AddressKind space)
      : f_(f), context_(context), spaces_(spaces), space_(space) {}

  void add(const ShadowUse& use) { uses_.push_back(use); }
  AddressKind space() const { return space_; }
  const std::vector<ShadowUse>& uses() const { return uses_; }
  // Finds what has to be made; whether that costs less than the uses gain.
  bool isWorthIt();
  // Makes the shadows and lets the uses read them.
  void apply();

 private:
  enum class How : uint8_t {
    Unneeded,
    Nothing,  // a phi, or never written
    Mirror,   // an instruction like it, before it
    Copy,     // of the register, after it
    Convert,  // cvta.to, after it
  };
  struct ValueAt {
    RegId reg;
    ValueId value;
  };

  InstrId definition(const ValueAt& v) const;
  How howTo(const ValueAt& v) const;
  bool isShadowed(const Operand& o, InstrId id) const;
  void need(RegId r, ValueId v);
  // Calls `visit` for the values that the shadow of `v` is made from.
  void forEachSource(const ValueAt& v, auto&& visit) const;
  void findNeeded();
  void findKept();
  uint64_t weightAt(InstrId id) const;
  RegId shadowOf(RegId r);
  void mirror(const ValueAt& v);
  void insertAfter(const ValueAt& v, OpcodeId opcode);

  Function& f_;
  PassContext& context_;
  const AddressSpaces& spaces_;
  const AddressKind space_;
  std::vector<ShadowUse> uses_;
  std::vector<ValueAt> needed_;
  std::vector<How> how_;        // by AddressSpaces::index
  std::vector<bool> isKept_;    // ... something reads the generic address
  std::vector<RegId> shadows_;  // by RegId
};

}  // namespace ptxopt
