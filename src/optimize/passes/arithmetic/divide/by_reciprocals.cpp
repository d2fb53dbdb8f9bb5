// What:       The reciprocal of a divisor is computed once, before the outermost loop that does not change it
//             or before the first division by it, and each division becomes a high multiplication and a
//             correction. ptxas makes 17 to 25 machine instructions of a division or remainder and takes
//             five of them out of a loop; of the reciprocal 10 and of each division by it 4 to 8.
// Algorithm:  Divisors are the same where scalar evolution says so, whatever registers hold them. In reverse
//             post-order each division takes a reciprocal whose place dominates it, or gets one at its own place.
//             Signed ones divide magnitudes; where value ranges prove a sign, nothing is done about it.
//             The formulas are those of formulas.h and PtxAlgebra::reciprocal.
// Invariants: the same results for every divisor but 0; nothing traps, so that it does not matter whether the loop
//             runs.
// Cost:       linear in the divisions, and in the reciprocals of one divisor.
// Declines:   single-division (no loop, and no other division by the divisor), divisor-not-available, no-preheader,
//             register-pressure.
#include "passes/arithmetic/divide/by_reciprocals.h"

#include <algorithm>
#include <map>

#include "passes/arithmetic/divide/division.h"
#include "passes/arithmetic/divide/ptx_algebra.h"
#include "passes/util/expander.h"
#include "passes/util/function_pass.h"
#include "passes/util/insertion_places.h"
#include "passes/util/loop_register_budget.h"
#include "passes/util/missed_remarks.h"
#include "passes/util/range_register_budget.h"

namespace ptxopt::division {
namespace {

constexpr std::size_t kMostReciprocals = 64;  // of one divisor that are looked at
constexpr int kRegisters = 2;                 // that a reciprocal takes; one more for the size of a signed divisor
constexpr int kLeastRoom = 3;                 // registers: what the estimate is wrong by more often than not

class ReciprocalDivisions : FunctionPass {
 public:
  ReciprocalDivisions(Function& f, PassContext& context)
      : FunctionPass(f, context),
        loops_(context.analyses.loops()),
        dominators_(context.analyses.dominators()),
        ranges_(context.analyses.valueRanges()),
        evolution_(context.analyses.scalarEvolution()),
        expander_(f, context),
        loopBudget_(f, context),
        rangeBudget_(f, context, RangeRegisterBudget::Estimate::Plain) {}

  bool run() {
    const std::vector<BlockId>& order = cfg_.postOrder();
    for (std::size_t n = order.size(); n-- > 0;) {
      if (!cfg_[order[n]].reachable || context_.isDeclined(order[n])) continue;
      for (const InstrId id : slots_.instructions(order[n]))
        if (const auto d = integerDivision(module_, f_, id); d && d->width == 32) collect(*d, order[n]);
    }
    for (Group& g : groups_) settle(g);
    for (Group& g : groups_)
      for (const Use& u : g.uses) rewrite(g, u);
    missed_.tell(context_, "division");
    return changed_;
  }

 private:
  struct Use {
    Division division;
    BlockId block;
    bool dividendIsPositive = false;  // never negative
  };
  // All divisions that take one reciprocal.
  struct Group {
    ExprId divisor;
    bool ofSize = false;  // the reciprocal is that of the divisor's size, which may be negative
    ExpansionPlace place;
    LoopId loop;  // before which it stands; none: before the first division
    std::vector<Use> uses;
    RegId value;  // the divisor as it is
    Reciprocal<RegId> reciprocal;
  };

  // ---- which, and where ----

  void collect(const Division& d, BlockId b) {
    if (!d.divisor.isRegister()) return;
    const auto rangeOf = [&](const Operand& o) {
      if (!o.isRegister()) return IntegerRange::constant(32, *immediate(f_, o) & UINT32_MAX);
      const ValueId v = ranges_.valueRead(o.reg(), d.at);
      return v.valid() ? ranges_.at(o.reg(), v, b) : IntegerRange::full(32);
    };
    const IntegerRange y = rangeOf(d.divisor);
    if (y.isConstant() || y.width() != 32) return;
    const ExprId e = evolution_.read(d.divisor.reg(), d.at);
    if (!e.valid()) return missed_.add("divisor-not-available");
    Use use{d, b, d.isSigned && rangeOf(d.dividend).isNeverNegative()};
    const bool ofSize = d.isSigned && !y.isNeverNegative();
    std::vector<std::size_t>& mine = byDivisor_[{e.value, ofSize}];
    if (mine.size() > kMostReciprocals) return missed_.add("too-many");
    for (const std::size_t g : mine)
      if (dominates(groups_[g], use)) {
        groups_[g].uses.push_back(use);
        return;
      }
    mine.push_back(groups_.size());
    groups_.push_back(placed(e, ofSize, use));
  }

  bool dominates(const Group& g, const Use& u) const {
    if (g.loop.valid()) return dominators_.dominates(g.place.block, u.block);
    const Use& first = g.uses.front();
    if (first.block == u.block) return slots_[first.division.at] <= slots_[u.division.at];
    // A place in a loop that the user is not in is left once an iteration: no harm, but the other way no gain.
    return dominators_.dominates(first.block, u.block);
  }

  Group placed(ExprId e, bool ofSize, const Use& use) {
    Group g{e, ofSize, {use.block, placeBefore(module_, f_, use.division.at)}, {}, {use}, {}, {}};
    bool wantsLoop = false;
    for (LoopId l = loops_.of(use.block); l.valid() && evolution_.expressions().isInvariant(e, l);
         l = loops_[l].parent) {
      wantsLoop = true;
      const BlockId entry = loops_.entry(cfg_, l);
      if (!entry.valid() || loops_[l].irreducible) continue;
      const ExpansionPlace place{entry, placeAtEnd(module_, f_, cfg_[entry])};
      if (!expander_.canExpand(e, place)) continue;
      g.place = place;
      g.loop = l;
    }
    if (wantsLoop && !g.loop.valid()) missed_.add("no-preheader");
    return g;
  }

  bool isInvariant(const Division& d, LoopId l) {
    if (!d.dividend.isRegister()) return true;
    const ExprId e = evolution_.read(d.dividend.reg(), d.at);
    return e.valid() && evolution_.expressions().isInvariant(e, l);
  }

  // Does not change what does not pay or does not fit.
  void settle(Group& g) {
    const auto drop = [&](std::string_view reason) {
      for (std::size_t n = 0; n < g.uses.size(); ++n) missed_.add(reason);
      g.uses.clear();
    };
    if (g.loop.valid()) {
      // ptxas moves such a division out of the loop as it is.
      if (g.uses.size() == 1 && isInvariant(g.uses.front().division, g.loop)) return drop("invariant-dividend");
      const int registers = kRegisters + (g.ofSize ? 1 : 0);
      if (!loopBudget_.has(g.loop, std::max(kLeastRoom, registers))) return drop("register-pressure");
      return;
    }
    if (g.uses.size() < 2) return drop("single-division");
    if (!expander_.canExpand(g.divisor, g.place)) return drop("divisor-not-available");
    const SlotIndex first = slots_[g.uses.front().division.at];
    const SlotIndex last = slots_[g.uses.back().division.at];
    if (first < last && !rangeBudget_.grant(kRegisters, first, last)) return drop("register-pressure");
  }

  // ---- making it ----

  void rewrite(Group& g, const Use& u) {
    if (!g.value.valid()) {
      g.value = expander_.emitToKeep(g.divisor, g.place);
      PtxAlgebra a(f_, module_, 32, g.place.before);
      g.reciprocal = a.reciprocal(g.ofSize ? a.absolute(g.value) : g.value);
      context_.count("reciprocals");
    }
    const Division& d = u.division;
    PtxAlgebra a(f_, module_, 32, placeBefore(module_, f_, d.at));
    const RegId x = d.dividend.isRegister() ? d.dividend.reg() : a.constant(*immediate(f_, d.dividend));
    const RegId size = d.isSigned && !u.dividendIsPositive ? a.absolute(x) : x;
    const auto e = estimate(a, size, g.reciprocal);
    RegId result = d.isRemainder ? remainderOf(a, e, g.reciprocal) : quotientOf(a, e, g.reciprocal);
    if (d.isSigned) {
      // A remainder has the sign of the dividend.
      const bool byDividend = !u.dividendIsPositive, byDivisor = g.ofSize && !d.isRemainder;
      if (byDividend && byDivisor)
        result = a.negateIfNegative(result, a.differ(x, g.value));
      else if (byDividend || byDivisor)
        result = a.negateIfNegative(result, byDividend ? x : g.value);
    }
    a.put(SynthOpcode::MovB32, d.result, {result}, d.isGuarded ? &d.guard : nullptr);
    f_.erase(d.at);
    context_.count("by-reciprocal");
    changed_ = true;
  }

  const Loops& loops_;
  const DominatorTree& dominators_;
  ValueRanges& ranges_;
  ScalarEvolution& evolution_;
  Expander expander_;
  LoopRegisterBudget loopBudget_;
  RangeRegisterBudget rangeBudget_;
  MissedRemarks missed_;
  std::vector<Group> groups_;
  std::map<std::pair<uint32_t, bool>, std::vector<std::size_t>> byDivisor_;  // of groups_
  bool changed_ = false;
};

}  // namespace

bool replaceByReciprocals(Function& f, PassContext& context) { return ReciprocalDivisions(f, context).run(); }

}  // namespace ptxopt::division
