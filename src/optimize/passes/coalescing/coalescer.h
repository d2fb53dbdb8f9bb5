// The state of copy coalescing in one function: which values share a register, and what may still join.
//
// What is joined are webs, the connected values of one register (a register that serves two unrelated purposes has
// two), of the registers that copies mention. Two webs may share a register when no place holds different values of
// them (copy_values.h), they are of one class, and at most one has a fixed name. Then the copy between them says
// `mov r, r` and goes. Webs of one register that were not drawn apart come together again at the end, so that as
// few names change as may be.
// Not touched at all: registers of asynchronous and convergent instructions (wgmma, tcgen05), of tied operands, of
// opcodes that are not in the table, of 8 and 128 bits, and vector registers. A web that is stored narrowly and one
// that may hold a number stay apart (ir/stored_numbers.h): no pass may make a store that converts. A register in
// `%r1 + 4` is read like any other, and is not a copy's source.
// Cost: making it is linear in the operands and in the live ranges of the registers that copies mention; a join is
// as large as the smaller side, times a logarithm.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "passes/coalescing/copy_values.h"
#include "passes/coalescing/joined_range.h"
#include "passes/manager/pass.h"
#include "support/union_find.h"

namespace ptxopt {

// Why a copy stays; `Joined` and `Same` (its sides had been joined already) are why not.
// `Tuple`: it is a lane of an instruction that stays for another one; `Convergent`: a register of an asynchronous
// or convergent instruction; `Phi`: an address or 64 bits that differ by the way that control took.
// clang-format off
enum class Verdict : uint8_t {
  Joined, Same, Interferes, Classes, Tied, Fixed, Partial, LargeInterval, Budget, Tuple, Convergent, Phi,
  CriticalEdge
};
// clang-format on
inline constexpr std::size_t kVerdicts = 13;
std::string_view name(Verdict verdict);

class Coalescer {
 public:
  struct Limits {
    // A web of more values than this is joined at most so often, but with those of one piece.
    uint64_t largeSize = UINT64_MAX, largeFrequency = UINT64_MAX;
    // Copies beyond that many are not looked at; joins beyond that many are not made.
    uint64_t mostCopies = UINT64_MAX, mostJoins = UINT64_MAX;
    // Whether webs with a definition under a guard are joined. ptxas gives registers in another order then.
    bool joinPartial = true;
    // Whether copies are joined that lie on one way out of a block only (isOnCriticalEdge). ptxas makes other code
    // then.
    bool joinCriticalEdges = true;
    // Webs interfere wherever both live, whatever they hold there.
    bool byRangeOnly = false;
  };

  // `copies` are all of the families that the pass takes; those in unreachable blocks are dropped.
  Coalescer(Function& f, PassContext& context, std::vector<Copy> copies, Limits limits);

  // Joined where a register may be joined, Tied or Convergent where it may not.
  static Verdict frozen(const CopyFacts& facts, RegId r) {
    return facts.isOpaque(r) ? Verdict::Convergent : facts.isTied(r) ? Verdict::Tied : Verdict::Joined;
  }

  std::span<const Copy> copies() const { return copies_; }
  bool isCandidate(RegId r) const { return values_->firstOf(r) != CopyValues::kNone; }
  const LiveIntervals& intervals() const { return **intervals_; }
  // Where a candidate lives; nowhere, of another register.
  const LiveRange& rangeOf(RegId r) const { return isCandidate(r) ? (**intervals_)[r] : kNowhere; }
  const CopyValues& values() const { return *values_; }

  // Joins the sides of a copy if that may be.
  Verdict tryJoin(const Copy& copy);
  // What would come of it; joins nothing.
  Verdict check(const Copy& copy);
  // Whether what a copy before a branch writes is needed on some ways only, while other instructions read its
  // source.
  bool isOnCriticalEdge(const Copy& copy) const;
  // Whether both sides of a copy live in its block only.
  bool isLocal(const Copy& copy) const;
  // Whether all webs of these values may become one, and if not why; joins nothing.
  Verdict checkAll(std::span<const CopyValues::Number> values);
  // Joins the webs of two values if that may be.
  Verdict tryJoin(CopyValues::Number a, CopyValues::Number b) { return join(a, b, true); }
  // Whether nothing reads what a copy writes.
  bool isDead(const Copy& copy) const;
  // Whether a place holds different values of two webs, given by one of their values.
  bool interfere(CopyValues::Number a, CopyValues::Number b);
  // A value that the copy writes, and the one that it reads.
  CopyValues::Number written(const Copy& copy) const { return noted(copy).written; }
  CopyValues::Number read(const Copy& copy) const { return noted(copy).read; }
  CopyValues::Number find(CopyValues::Number n) { return sets_.find(n); }
  const JoinedRange& range(CopyValues::Number n) { return webs_[find(n)].range; }
  ScalarType typeOf(CopyValues::Number n) { return webs_[find(n)].type; }

  // Brings webs of one register together that nothing drew apart.
  void joinSameRegisters();
  // Lets the reads of values that copy `c` left in a register of their own read them where they came from, if they
  // are there at each of these reads. The copy is gone then. Says whether it did.
  bool forward(const Copy& c);
  // Lets a copy of a constant write the constant itself.
  bool rematerialize(const Copy& c);

  // Renames the operands and takes out the copies that write what they read. Whether anything changed.
  struct Applied {
    std::size_t erased = 0, renamed = 0;
    bool any() const { return erased != 0 || renamed != 0; }
  };
  Applied apply();

 private:
  using Number = CopyValues::Number;
  struct Web {
    JoinedRange range;
    ScalarType type = ScalarType::None;
    RegId fixed;  // a register of the parameter or return list, which keeps its name
    uint32_t values = 0;
    uint32_t joins = 0;
    bool hasPartial = false;
    bool hasPhi = false;
    bool isPlace = false;   // reads were moved here: its definitions stay
    bool isRobbed = false;  // copies into it are gone: its range says too much
    bool isStoredNarrowly = false;
    bool mayBeNumber = false;
  };
  // The values of one root in one web: members_[first, last).
  struct Group {
    uint32_t first = 0, last = 0;
    uint32_t looks = 0;      // copies for which it was tried to move the reads of the group
    bool isOfCopies = true;  // all come from copies, and go nowhere but to reads
  };
  struct Read {
    Number value;
    InstrId instruction;
    uint32_t operand;
  };
  // What becomes `_`.
  struct Sink {
    InstrId instruction;
    uint32_t operand;
  };

  struct CopyNumbers {
    Number written, read;
  };

  static constexpr uint32_t kMostLooks = 8;
  static const LiveRange kNowhere;

  CopyNumbers numbersOf(const Copy& copy) const;
  CopyNumbers noted(const Copy& copy) const {
    const bool isOwn =
        !std::less<>()(&copy, copies_.data()) && std::less<>()(&copy, copies_.data() + copies_.size());
    return isOwn ? numbers_[static_cast<std::size_t>(&copy - copies_.data())] : numbersOf(copy);
  }

  Verdict frozen(RegId r);
  Verdict frozen(const Copy& copy);
  Verdict tryJoin(const Copy& copy, bool really);
  bool beginsAt(InstrId id, Number root) const;
  bool makeBridge(const Copy& copy, JoinedRange& bridge);
  Verdict joinAcross(const Copy& copy, bool really);
  bool isGone(const Copy& copy);
  void settleLanes(std::vector<InstrId>& superfluous, std::vector<Sink>& sinks);
  void makeWebs();
  bool isArgument(RegId r) const;
  Verdict join(Number a, Number b, bool really, bool isLimited = true);
  bool isTooLarge(const Web& web) const;
  // Whether a narrow store of `stored` would convert what `value` holds.
  static bool convertsAfter(const Web& stored, const Web& value) {
    return stored.isStoredNarrowly && value.mayBeNumber;
  }
  ScalarType commonType(ScalarType a, ScalarType b) const;
  void findReads();
  std::span<const Read> readsOf(Number n) const;
  bool canRead(std::span<const Number> group, Number place);
  void nameWebs();
  void eraseUnusedDeclarations();
  void findNestedNames();
  bool isVisibleEverywhere(RegId r);
  void renameOperands(Applied& applied);

  Function& f_;
  PassContext& context_;
  const Cfg& cfg_;
  const SlotIndexes& slots_;
  Limits limits_;
  uint64_t joins_ = 0;
  std::vector<Copy> copies_;
  const CopyFacts& facts_;
  std::vector<CopyNumbers> numbers_;  // by copy
  std::vector<bool> across_;    // by copy: its sides hold the value from where it was read to where it is copied
  std::vector<Number> byRoot_;  // all values, sorted by root, when a copy was joined across instructions
  std::vector<RegId> candidates_;
  std::unique_ptr<CandidateIntervals> intervals_;
  std::unique_ptr<CopyValues> values_;
  UnionFind sets_;                   // of values in one web
  std::vector<Web> webs_;            // by Number; meaningful at the roots of the sets
  std::vector<Number> moved_;        // by Number: reads of it were moved to the web of that value
  std::vector<Read> reads_;          // by value, and in the order of the text
  std::vector<uint32_t> readStart_;  // by Number, and the end of the last
  std::vector<Number> members_;      // all values, sorted by web and root, when reads_ were found
  std::vector<Group> groups_;
  std::vector<uint32_t> groupOf_;  // by Number
  std::vector<InstrId> gone_;      // copies that `forward` made superfluous
  std::vector<RegId> nameOf_;      // by Number, at the roots
  // By NameId: declared, alone or as the prefix of a range, in a nested scope or after an instruction; empty: none is.
  std::optional<std::vector<bool>> nestedName_;  // when first asked for
};

}  // namespace ptxopt
