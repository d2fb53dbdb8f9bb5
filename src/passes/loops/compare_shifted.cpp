// compare-shifted: a test of a counter that a round halves reads the half.
//
// What:       of  for (s = n / 2; s > 0; s /= 2)  compilers make  next = s >> 1; ...; test s > 1; s = next. The test keeps the old number
//             beside the new one, so that ptxas copies one of them in each round. The same test of the new number needs one register.
// Algorithm:  for each shift to the right by a constant in a loop, of a register that holds what meets at the head of a loop: the
//             comparisons that read the old value for the last time, while the new one is live.
// Invariants: with k the shift, x > c says x >= c + 1. Where c + 1 is a multiple of two to the k, that is (x >> k) >= (c + 1) >> k, for
//             numbers with and without a sign, if the shift is one of the same kind. So is x >= c where c is such a multiple, and what
//             either denies. The shift reads the value that the comparison read, and its result is the value that is live there.
// Cost:       linear, with a look-up in live ranges for each shift and comparison.
// Declines:   too-large; by shift: amount (not a constant below the width), overwritten (another value is at the comparison), still-read (something
//             else reads the old value while the new one is live), bound (no such multiple), sign (shift and comparison differ), scope (the result
//             of the shift has no name, or another one, where the comparison stands), no-comparison.
#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "ir/opcode_predicates.h"
#include "ir/register_types.h"
#include "passes/util/function_pass.h"
#include "passes/util/missed_remarks.h"
#include "passes/util/register_scopes.h"

namespace ptxopt {
namespace {

enum class BoundKind : uint8_t { None, Above, AtLeast };  // x > c and x <= c; x >= c and x < c

BoundKind boundKind(ComparisonOperator c) {
  switch (c) {
    case ComparisonOperator::Gt:
    case ComparisonOperator::Le:
    case ComparisonOperator::Hi:
    case ComparisonOperator::Ls: return BoundKind::Above;
    case ComparisonOperator::Ge:
    case ComparisonOperator::Lt:
    case ComparisonOperator::Hs:
    case ComparisonOperator::Lo: return BoundKind::AtLeast;
    default: return BoundKind::None;
  }
}

// Lo, Ls, Hi and Hs compare without a sign whatever the type says.
bool isUnsignedOperator(ComparisonOperator c) {
  return c == ComparisonOperator::Lo || c == ComparisonOperator::Ls || c == ComparisonOperator::Hi ||
         c == ComparisonOperator::Hs;
}

// The number to compare `x >> amount` with in place of x with `bound`; both are of 32 bits.
std::optional<int32_t> shiftedBound(BoundKind kind, uint64_t bound, uint64_t amount, bool isSigned) {
  int64_t least = isSigned ? static_cast<int32_t>(bound) : static_cast<int64_t>(static_cast<uint32_t>(bound));
  if (kind == BoundKind::Above) ++least;
  if (least > (isSigned ? int64_t{INT32_MAX} : int64_t{UINT32_MAX})) return std::nullopt;
  if ((least & ((int64_t{1} << amount) - 1)) != 0) return std::nullopt;
  least >>= amount;
  if (kind == BoundKind::Above) --least;
  return static_cast<int32_t>(least);
}

class ShiftedComparison : IntervalPass {
 public:
  ShiftedComparison(Function& f, PassContext& context) : IntervalPass(f, context), reaches_(context.module, f) {}

  bool run() {
    findShifts();
    if (!shifts_.empty()) findReads();
    for (const Shift& s : shifts_) look(s);
    missed_.tell(context_, "shift");
    return changed_ != 0;
  }

 private:
  struct Shift {
    InstrId id;
    RegId from, to;
    uint64_t amount;
    bool isSigned;
  };
  struct Read {
    RegId reg;
    SlotIndex at;
    InstrId id;
  };

  void findShifts() {
    const Loops& loops = context_.analyses.loops();
    for (const InstrId id : f_) {
      if (!f_[id].isInstruction() || !slots_[id].valid() || f_[id].is(Instruction::Guarded)) continue;
      const OpcodeForm& form = module_.form(f_[id]);
      const bool isSigned = form.isExactly(Op::Shr, ScalarType::s32);
      if (!isSigned && !form.isExactly(Op::Shr, ScalarType::u32) && !form.isExactly(Op::Shr, ScalarType::b32))
        continue;
      if (!loops.of(cfg_.blockOf(id)).valid()) continue;
      const auto operands = f_.operandsOf(f_[id]);
      if (operands.size() != 3 || !isIntegerRegister(f_, operands[0], 32) ||
          !isIntegerRegister(f_, operands[1], 32))
        continue;
      const RegId to = operands[0].reg(), from = operands[1].reg();
      if (to == from) continue;
      const LiveRange& range = intervals_[from];
      const ValueId v = range.valueIn(slots_[id]);
      if (!v.valid() || range[v].kind != ValueKind::Phi) continue;
      const auto amount = immediate(f_, operands[2]);
      if (!amount || *amount == 0 || *amount >= 32) {
        missed_.add("amount");
        continue;
      }
      shifts_.push_back({id, from, to, *amount, isSigned});
    }
  }

  // Of the registers that are shifted.
  void findReads() {
    std::vector<bool> isShifted(f_.registers.size());
    for (const Shift& s : shifts_) isShifted[s.from.value] = true;
    for (const InstrId id : f_) {
      if (!f_[id].isInstruction() || !slots_[id].valid()) continue;
      for (const Operand& o : f_.operandsOf(f_[id]))
        if (o.isRegister() && o.reads() && isShifted[o.payload]) reads_.push_back({o.reg(), slots_[id], id});
    }
    std::ranges::sort(reads_, {}, [](const Read& r) { return std::pair(r.reg, r.at); });
  }

  void look(const Shift& s) {
    const LiveRange &before = intervals_[s.from], &after = intervals_[s.to];
    const ValueId from = before.valueIn(slots_[s.id]), to = after.valueOut(slots_[s.id]);
    if (!to.valid()) return missed_.add("no-comparison");
    std::vector<InstrId> comparisons;
    // What reads the old value while the new one is live.
    for (const uint32_t at : segmentsOf(s.to, to)) {
      const Segment& segment = after.segments()[at];
      const auto first = std::ranges::lower_bound(reads_, std::pair(s.from, segment.start), {},
                                                  [](const Read& r) { return std::pair(r.reg, r.at); });
      for (auto r = first; r != reads_.end() && r->reg == s.from && r->at < segment.end; ++r) {
        if (r->id == s.id || before.valueIn(r->at) != from || after.valueIn(r->at) != to) continue;
        if (const std::string_view why = whyNot(s, r->id); !why.empty()) return missed_.add(why);
        comparisons.push_back(r->id);
      }
    }
    if (comparisons.empty()) return missed_.add("no-comparison");
    for (const InstrId id : comparisons) apply(s, id);
  }

  // Where a value of the register is live: places in its segments.
  std::span<const uint32_t> segmentsOf(RegId r, ValueId v) {
    const auto [found, isNew] = segments_.try_emplace(r.value);
    std::vector<std::vector<uint32_t>>& byValue = found->second;
    const auto& all = intervals_[r].segments();
    if (isNew)
      for (uint32_t k = 0; k < all.size(); ++k) {
        if (byValue.size() <= all[k].value.value) byValue.resize(all[k].value.value + 1);
        byValue[all[k].value.value].push_back(k);
      }
    return v.value < byValue.size() ? std::span<const uint32_t>(byValue[v.value]) : std::span<const uint32_t>();
  }

  // The operands of a comparison without those that are its result.
  std::span<const Operand> compared(InstrId id) const {
    auto operands = f_.operandsOf(f_[id]).subspan(f_[id].is(Instruction::Guarded) ? 1 : 0);
    if (operands.size() > 1 && operands[1].join == Join::Pipe) operands = operands.subspan(1);
    return operands.size() == 3 ? operands.subspan(1) : std::span<const Operand>();
  }

  std::string_view whyNot(const Shift& s, InstrId id) {
    const OpcodeForm& form = module_.form(f_[id]);
    const auto operands = compared(id);
    if (form.op != Op::Setp || !form.hasOnly(field::Comparison) || operands.size() != 2 ||
        !isIntegerRegister(f_, operands[0], 32) || operands[0].reg() != s.from || !immediate(f_, operands[1]))
      return "still-read";
    if (boundKind(form.comparison) == BoundKind::None) return "still-read";
    const bool isSigned = form.type == ScalarType::s32 && !isUnsignedOperator(form.comparison);
    if ((form.type != ScalarType::s32 && form.type != ScalarType::u32) || isSigned != s.isSigned) return "sign";
    if (!shiftedBound(boundKind(form.comparison), *immediate(f_, operands[1]), s.amount, isSigned)) return "bound";
    if (!reaches_(s.to, id)) return "scope";
    return {};
  }

  void apply(const Shift& s, InstrId id) {
    const OpcodeForm& form = module_.form(f_[id]);
    const auto operands = compared(id);
    const auto bound = shiftedBound(boundKind(form.comparison), *immediate(f_, operands[1]), s.amount, s.isSigned);
    Operand* at = f_.operands.data() + (operands.data() - f_.operands.data());
    at[0].payload = s.to.value;
    at[1] = integerOperand(*bound, at[1].join);
    f_.touch(id);
    context_.count("comparisons");
    ++changed_;
  }

  std::vector<Shift> shifts_;
  RegisterReach reaches_;
  std::vector<Read> reads_;  // by register, in the order of the text
  std::unordered_map<uint32_t, std::vector<std::vector<uint32_t>>> segments_;  // by register and value
  MissedRemarks missed_;
  std::size_t changed_ = 0;
};

// A look at what few functions have: a shift to the right of a register that is compared with a number.
bool mayCompare(const Module& module, const Function& f) {
  std::vector<bool> isShifted;
  for (const InstrId id : f) {
    if (!f[id].isInstruction() || module.form(f[id]).op != Op::Shr) continue;
    isShifted.resize(f.registers.size());
    for (const Operand& o : f.operandsOf(f[id]))
      if (o.isRegister() && o.reads()) isShifted[o.payload] = true;
  }
  if (isShifted.empty()) return false;
  for (const InstrId id : f) {
    if (!f[id].isInstruction() || module.form(f[id]).op != Op::Setp) continue;
    const auto operands = f.operandsOf(f[id]);
    const std::size_t n = operands.size();
    if (n >= 3 && immediate(f, operands[n - 1]) && operands[n - 2].isRegister() &&
        isShifted[operands[n - 2].payload])
      return true;
  }
  return false;
}

}  // namespace

bool compareShifted(Function& f, PassContext& context) {
  if (!mayCompare(context.module, f)) return false;
  if (!context.hasUsableGraph() || context.analyses.loops().size() == 0) return false;
  if (!context.hasUsableIntervals()) return false;
  return ShiftedComparison(f, context).run();
}

}  // namespace ptxopt
