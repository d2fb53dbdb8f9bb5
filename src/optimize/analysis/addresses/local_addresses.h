// Which local variables of a function are only ever loaded and stored, and where in them.
//
// What:       for each 64-bit value whether it is the address of a variable in local memory plus a constant, as
//             the space counts it or generic; all accesses through such values; and of each local variable why
//             an address of it gets out of sight, if one does. Copies, cvta.local, cvta.to.local, sums with
//             constants, phis and guarded definitions that agree are followed.
// Algorithm:  from below (no address, a known one, lost) in sweeps over the blocks in reverse post-order. An
//             address that something else reads than what is followed, or that meets another value, is lost,
//             and its variable is pinned: so nothing can reach a variable that is not pinned but the accesses
//             listed. An address that is stored in a local variable, and only read back from there as a whole,
//             is followed, too. A sum with what is not a constant is followed as a constant and a list of such
//             addends; where an access through it goes is for the reader to find out.
// Registers:  addresses are followed through whole integer registers of 64 bits. One that goes to a register of another
//             class (.f64, a component of a vector, half of a pair, a predicate by a comparison), that has a constant
//             added as part of an operand (`%rd1 + 8`), or that comes back from memory into such a register, or into
//             one that holds something else where the load is guarded or ways join, pins its variable. What is loaded
//             and stored at known places may have scalar registers of any class but predicates and 8 and 128 bits.
//             Constants may be expressions, and a register of an integer type may have a constant added; vectors have
//             plain registers and constants only.
// Spaces:     an access counts if it names .local or no space. One that names another space, with a number that is an
//             address of a local variable, means whatever lies at that number there: the variable is pinned.
// Reasons:    escapes (stored, passed, packed), dynamic-index (other arithmetic than such sums, or several
//             addresses at a join), compared, atomic, volatile (any order beyond weak), unknown-opcode,
//             other-space, named-otherwise (in an expression that is not followed), out-of-bounds, wide (128 bits),
//             lanes (one register twice in a vector, or data that is neither such a register nor a constant), too-deep.
// Invariants: only reachable code counts; unreachable code may still name variables.
// Cost:       linear in operands for each sweep; there are as many as loops are deep, and two.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/addresses/address_arithmetic.h"
#include "analysis/dataflow/dominators.h"
#include "analysis/values/value_flow.h"

namespace ptxopt {

struct LocalAccess {
  InstrId at;
  VariableId variable;
  int64_t offset = 0;
  bool isStore = false;
  bool isSigned = false;  // a load extends the sign
  uint8_t bytes = 0;      // of one element
  uint8_t elements = 1;
  uint32_t firstElement = 0;  // in the instruction's operands: what is loaded into or stored
};

// An access at `offset` and what its addends hold.
struct IndexedAccess {
  struct Addend {
    InstrId at;  // the sum
    RegId index;
  };
  InstrId at;
  VariableId variable;
  int64_t offset = 0;
  uint32_t bytes = 0;  // all of them
  std::vector<Addend> addends;
};

// What a value is in LocalAddresses: not looked at yet, an address of a variable, or anything.
struct LocalAddress {
  static constexpr uint32_t kNoChain = UINT32_MAX;

  enum Kind : uint8_t { None, Known, Lost } kind = None;
  VariableId variable;
  int64_t offset = 0;
  uint32_t chain = kNoChain;  // what was added that is not a constant
  friend bool operator==(const LocalAddress&, const LocalAddress&) = default;

  // Farther from the variable nothing is known: no local memory is as large, and sums of few such offsets fit 64 bits.
  static constexpr int64_t kMostOffset = int64_t{1} << 32;
  LocalAddress plus(int64_t by) const {
    LocalAddress sum = *this;
    const bool isNear = by >= -kMostOffset && by <= kMostOffset;
    if (isNear) sum.offset += by;
    if (!isNear || sum.offset < -kMostOffset || sum.offset > kMostOffset) return {.kind = Lost};
    return sum;
  }
};

class LocalAddresses : ValueFlow<LocalAddresses, LocalAddress> {
 public:
  // All must live as long as this, and stay as they are.
  LocalAddresses(const Module& module, const Function& function, const Cfg& cfg, const SlotIndexes& slots,
                 const LiveIntervals& intervals);

  // The local variables of the function, in the order of their declarations.
  const std::vector<VariableId>& variables() const { return variables_; }
  // Empty when all that happens to it is among the accesses.
  std::string_view whyPinned(VariableId v) const { return why_[v.value]; }
  // Whether an address of it is kept in a local variable.
  bool isKeptInMemory(VariableId v) const { return isKept_[v.value]; }
  uint64_t bytesOf(VariableId v) const { return bytes_[v.value]; }
  // In the order of the text; those of pinned variables, too.
  const std::vector<LocalAccess>& accesses() const { return accesses_; }
  const std::vector<IndexedAccess>& indexed() const { return indexed_; }
  // The instructions that compute addresses of a variable.
  const std::vector<InstrId>& computations(VariableId v) const { return computations_[v.value]; }

 private:
  static constexpr unsigned kMostSweeps = 100;

  static constexpr uint32_t kNoChain = LocalAddress::kNoChain;
  using Address = LocalAddress;
  // An addend and those added before.
  struct Link {
    uint32_t before;
    IndexedAccess::Addend addend;
  };
  // What is stored in 64 bits of a variable, over the whole function.
  struct Kept {
    int64_t offset;
    Address value;
  };
  struct Contents {
    std::vector<Kept> kept;
    std::vector<std::pair<int64_t, int64_t>> others;  // bytes of accesses of other kinds
    bool isUnknown = false;                           // what happens to it is not all seen
  };

  // Following addresses through values, local_addresses.cpp.
  void collect();
  void follow();
  friend ValueFlow;
  static Address join(const Address& a, const Address& b);
  static Address unknown() { return {.kind = Address::Lost}; }
  Address entering(const FlowValue& v, BlockId b, bool isRoot) const;
  Address fromEdge(RegId r, ValueId v) const { return v.valid() ? at(r, v) : Address(); }
  Address made(InstrId id, const Operand& to, uint32_t number);
  bool visit(InstrId id) { return lookAtMemory(id); }
  std::optional<uint64_t> constant(const Operand* o, InstrId id) const;
  uint64_t alignmentOf(VariableId v) const;
  Address named(std::span<const Operand> operand) const;
  Address result(InstrId id);
  Address indexedBy(const Address& a, const Operand* index, InstrId id);
  bool isFollowed(InstrId id) const;
  void lookAtUses(InstrId id);
  void lookAtPhis(BlockId b);
  void pin(const Address& a, std::string_view why);

  // Loads and stores, local_addresses_memory.cpp.
  bool readAccess(InstrId id, LocalAccess& access, uint32_t& base, uint32_t& chain, std::string_view& whyNot) const;
  bool isWholeRegister(const Operand& o, unsigned bits) const;
  bool isStorable(InstrId id, ScalarType type) const;
  void addIndexed(const LocalAccess& access, uint32_t chain);
  bool distrust();
  Address keptAt(VariableId v, int64_t offset) const;
  bool lookAtMemory(InstrId id);
  Address loaded(InstrId id) const;
  bool isKept(InstrId id, const Address& a) const;

  std::vector<VariableId> variables_;
  std::vector<uint64_t> bytes_;        // by VariableId; 0 for what is not a local variable
  std::vector<std::string_view> why_;  // by VariableId
  std::vector<std::vector<InstrId>> computations_;
  std::vector<LocalAccess> accesses_;
  std::vector<IndexedAccess> indexed_;
  std::vector<Link> chains_;
  std::vector<bool> isKept_;                        // by VariableId
  std::vector<Contents> contents_;                  // by VariableId
  std::unordered_map<uint64_t, uint32_t> chainOf_;  // by the sum and the chain before
};

}  // namespace ptxopt
