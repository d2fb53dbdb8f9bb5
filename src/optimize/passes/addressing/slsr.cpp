// slsr: addresses from other addresses.
//
// What:       Addresses that differ by a constant from one that is there already take it as `[reg+imm]`, and what
//             computed them is no longer needed. ptxas folds a constant only where it is what was added last; it
//             does not see that (b + x) + y and b + (x + y), or base + 8*(i + 1) and base + 8*i, are neighbours.
// Algorithm:  The values of registers are grouped by their expression (scalar evolution, modulo two to the width)
//             without its constant. In each group, from the last value to the first, an address takes the first
//             value that dominates its uses and whose register still holds it there: the leader of the group. All
//             uses of a value are moved or none, so that its definition dies; uses in arithmetic move where the
//             constants are equal. What dies takes its sources with it, which may free the next.
// Same code:  where all that happened is that a constant which was added last went into addresses (same_code.h).
// Invariants: memory accesses stay where they are and access the same addresses. PTX adds the immediate modulo two
//             to the width of the register, as the machine does (checked: ptxas makes one code of both, also where
//             the sign of the register is not known), so no proof against wrapping is needed.
// Cost:       linear in operands, plus values times the few leaders that are tried.
// Declines:   too-large; for addresses: used-otherwise (its definition would stay), immediate-range, no-leader-here
//             (no value of the group dominates all uses and still is in its register), pressure (a longer life of
//             the leader could cost resident blocks).
#include <algorithm>

#include "passes/addressing/address_edits.h"
#include "passes/addressing/address_opcodes.h"
#include "passes/addressing/address_rebuild.h"
#include "passes/addressing/address_values.h"
#include "passes/util/missed_remarks.h"
#include "passes/util/range_register_budget.h"
#include "passes/util/register_scopes.h"
#include "passes/util/same_code.h"

namespace ptxopt {
namespace {

class AddressReuse {
 public:
  AddressReuse(Function& f, PassContext& context)
      : f_(f),
        context_(context),
        module_(context.module),
        slots_(context.analyses.slotIndexes()),
        intervals_(context.analyses.liveIntervals()),
        evolution_(context.analyses.scalarEvolution()),
        expressions_(evolution_.expressions()),
        values_(f, context),
        budget_(f, context, RangeRegisterBudget::Estimate::Plain) {}

  bool run() {
    if (!values_.addresses().empty()) {
      collect();
      for (std::size_t k = members_.size(); k-- > 0;) reuse(members_[k]);
      rebuild();
    }
    missed_.tell(context_, "value");
    if (reused_ != 0) context_.count("addresses-reused", reused_);
    if (replaced_ != 0) context_.count("values-replaced", replaced_);
    if (reused_ != 0 && isFolding_ && replaced_ == 0 && !rebuilt_)
      noteSameCode(context_, "ptxas takes these constants into addresses by itself");
    return !edits_.empty() || rebuilt_;
  }

 private:
  static constexpr std::size_t kMostLeaders = 8;  // that are tried

  struct Member {
    ValueKey key;
    ExprId expr;  // without the constant
    uint64_t constant = 0;
    uint32_t group = 0;
    SlotIndex place;
  };

  unsigned widthOf(ValueKey k) const { return info(f_.registers[values_.reg(k).value].type).bits; }

  // ---- groups ----

  void collect() {
    const auto whole = [&](ValueKey k) { return evolution_.of(values_.reg(k), values_.value(k)); };
    std::vector<ExprId> exprs(values_.size());  // without their constants; none for what is one
    for (uint32_t k = 0; k < values_.size(); ++k)
      if (const ExprId e = whole(ValueKey(k)); e.valid() && !expressions_.isConstant(e))
        exprs[k] = expressions_.constantPart(e) == 0 ? e : expressions_.withoutConstant(e);
    // Only groups of two or more matter.
    std::vector<uint32_t> sizes(expressions_.size());
    for (const ExprId e : exprs)
      if (e.valid()) ++sizes[e.value];
    for (uint32_t k = 0; k < exprs.size(); ++k)
      if (const ValueKey key(k); exprs[k].valid() && sizes[exprs[k].value] >= 2)
        members_.push_back({key, exprs[k], expressions_.constantPart(whole(key)), 0, values_.place(key)});
    // By group in the order of the text; the groups are worked on as their members come in the text.
    std::vector<uint32_t> groupOf(expressions_.size(), UINT32_MAX);
    std::ranges::sort(members_, [](const Member& a, const Member& b) {
      return a.place != b.place ? a.place < b.place : a.key < b.key;
    });
    for (uint32_t m = 0; m < members_.size(); ++m) {
      uint32_t& group = groupOf[members_[m].expr.value];
      if (group == UINT32_MAX) {
        group = static_cast<uint32_t>(groupStart_.size());
        groupStart_.push_back(0);
      }
      members_[m].group = group;
      ++groupStart_[group];
    }
    // One after the other: the ends become beginnings as the members are put down, from the last.
    for (std::size_t g = 1; g < groupStart_.size(); ++g) groupStart_[g] += groupStart_[g - 1];
    groupStart_.push_back(static_cast<uint32_t>(members_.size()));
    grouped_.resize(members_.size());
    for (auto m = static_cast<uint32_t>(members_.size()); m-- > 0;) grouped_[--groupStart_[members_[m].group]] = m;
  }

  // In the order of the text.
  std::span<const uint32_t> groupOf(const Member& m) const {
    return std::span(grouped_).subspan(groupStart_[m.group], groupStart_[m.group + 1] - groupStart_[m.group]);
  }

  void rebuild() {
    AddressRebuild rebuild(f_, context_, values_, edits_, budget_, reaches_, missed_);
    rebuilt_ = rebuild.fromNeighbours();
    edits_.apply(f_);
    rebuild.apply();
  }

  // ---- one value ----

  void reuse(const Member& m) {
    const std::span<const ValueUse> uses = values_.uses(m.key);
    if (uses.empty() || !values_.isAlone(m.key) || !canDie(m.key)) return;
    const bool isAddress = values_.isAddress(m.key);
    if (isDeclined(m.key)) return missed_.add(kAsked);
    std::string_view why = "no-leader-here";
    std::size_t tried = 0;
    for (const uint32_t at : groupOf(m)) {
      const Member& leader = members_[at];
      if (leader.place >= m.place || tried++ == kMostLeaders) break;
      if (leader.key == m.key || widthOf(leader.key) != widthOf(m.key)) continue;
      const InstrId definition = values_.definition(leader.key);
      if (definition.valid() && values_.isRetired(definition)) continue;
      const std::string_view whyNot = take(m, leader);
      if (whyNot.empty()) return;
      if (whyNot != "no-leader-here") why = whyNot;
    }
    if (isAddress && tried != 0) missed_.add(why);
  }

  bool isDeclined(ValueKey k) const {
    return context_.isDeclined(values_.definition(k)) ||
           std::ranges::any_of(values_.uses(k), [&](const ValueUse& u) { return context_.isDeclined(u.at); });
  }

  // Whether the definition goes when nobody reads it, and computes something: a copy or a constant is nothing.
  bool canDie(ValueKey k) const {
    const InstrId id = values_.definition(k);
    if (!id.valid()) return false;
    const OpcodeForm& form = module_.form(f_[id]);
    return (form.effects & effect::kKeep) == 0 && !form.is(effect::Read) && !isFreeCopy(form);
  }

  std::string_view take(const Member& m, const Member& leader) {
    const auto distance = static_cast<int64_t>(m.constant - leader.constant);
    const int64_t d = widthOf(m.key) == 64 ? distance : static_cast<int32_t>(distance);
    const RegId to = values_.reg(leader.key);
    const ExprId whole = evolution_.of(to, values_.value(leader.key));
    const ExprId own = evolution_.of(values_.reg(m.key), values_.value(m.key));
    SlotIndex last;
    for (const ValueUse& u : values_.uses(m.key)) {
      if (u.isAddress && u.space == MemorySpace::Local) return "local-memory";
      if (!u.isAddress && (d != 0 || !mayReplace(u, leader.key, m.key))) return "used-otherwise";
      if (u.isAddress && !AddressValues::fits(u.immediate + d)) return "immediate-range";
      bool extends = false;
      if (!values_.reaches(leader.key, u.at, extends)) return "no-leader-here";
      const BlockId block = context_.analyses.cfg().blockOf(u.at);
      // After a loop both hold what its last iteration left, which no expression says.
      if (evolution_.seenFrom(to, values_.value(leader.key), block) != whole ||
          evolution_.seenFrom(values_.reg(m.key), values_.value(m.key), block) != own)
        return "no-leader-here";
      if (!reaches_(to, u.at)) return "scope";
      if (extends && (!last.valid() || last < slots_[u.at])) last = slots_[u.at];
    }
    if (last.valid() && !mayExtend(m, leader, last)) return "pressure";
    isFolding_ &= withoutLastConstant(m.key) == withoutLastConstant(leader.key);
    for (const ValueUse& u : values_.uses(m.key)) {
      ValueUse moved = u;
      moved.immediate = static_cast<int32_t>(u.immediate + (u.isAddress ? d : 0));
      values_.addUse(leader.key, moved);
      edits_.add({u.at, u.operand, to, moved.immediate, u.isAddress});
      ++(u.isAddress ? reused_ : replaced_);
    }
    values_.clearUses(m.key);
    values_.retire(m.key);
    return {};
  }

  // What a constant is added to, where that is all that the value is; else the value itself.
  ValueKey withoutLastConstant(ValueKey k) const {
    const InstrId id = values_.definition(k);
    if (!id.valid()) return k;
    const OpcodeForm& form = module_.form(f_[id]);
    if (!isAddition(form) && !form.isExactly(Op::Add, ScalarType::s32) && !form.isExactly(Op::Add, ScalarType::u32))
      return k;
    const auto operands = f_.operandsOf(f_[id]);
    if (operands.size() != 3 || !operands[1].isRegister() || !immediate(f_, operands[2])) return k;
    const ValueKey to = values_.read(operands[1].reg(), id);
    return to.valid() ? to : k;
  }

  // Whether a use outside addresses may read the leader, which holds the same. The leader must be live there, and
  // the result must be for the loop where it is computed: what is made for another loop lives through that, and
  // ptxas finds more in common with what it makes for other loops.
  bool mayReplace(const ValueUse& u, ValueKey leader, ValueKey k) const {
    const RegId to = values_.reg(leader), from = values_.reg(k);
    if (!u.isPlain || f_.registers[to.value].type != f_.registers[from.value].type) return false;
    const auto operands = f_.operandsOf(f_[u.at]);
    if (!operands[0].isRegister() || operands[0].role != Role::Def) return false;
    const ValueKey made = values_.written(operands[0].reg(), u.at);
    bool extends = false;
    if (!made.valid() || !values_.reaches(leader, u.at, extends) || extends) return false;
    const Loops& loops = context_.analyses.loops();
    const Cfg& cfg = context_.analyses.cfg();
    const LoopId loop = loops.of(cfg.blockOf(u.at));
    for (const ValueUse& next : values_.uses(made))
      if (loops.of(cfg.blockOf(next.at)) != loop) return false;
    return true;
  }

  // The leader takes the register of the value that dies from where that is defined. Before that it lives longer.
  bool mayExtend(const Member& m, const Member& leader, SlotIndex last) {
    const RegId reg = values_.reg(leader.key);
    const LiveRange& range = intervals_[reg];
    SlotIndex end;
    for (const Segment& s : range.segments()) end = s.value == values_.value(leader.key) ? s.end : end;
    const bool isNear = slots_.blockAt(m.place) == slots_.blockAt(last.base());
    const SlotIndex to = isNear ? m.place : last;
    if (to <= end) return true;
    return budget_.grant(widthOf(m.key) / 32, end, to);
  }

  Function& f_;
  PassContext& context_;
  const Module& module_;
  const SlotIndexes& slots_;
  const LiveIntervals& intervals_;
  ScalarEvolution& evolution_;
  ScevExpressions& expressions_;
  AddressValues values_;
  RangeRegisterBudget budget_;
  MissedRemarks missed_;
  RegisterReach reaches_{module_, f_};
  std::vector<Member> members_;       // in the order of the text
  std::vector<uint32_t> grouped_;     // members by group
  std::vector<uint32_t> groupStart_;  // by group, and the end of the last: in grouped_
  AddressEdits edits_;
  bool rebuilt_ = false;
  bool isFolding_ =
      true;  // so far, addresses took constants that were added last, and nothing else happened to them
  uint64_t reused_ = 0, replaced_ = 0;
};

}  // namespace

bool slsr(Function& f, PassContext& context) {
  if (!context.hasUsableIntervals()) return false;
  return AddressReuse(f, context).run();
}

}  // namespace ptxopt
