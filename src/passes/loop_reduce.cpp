// loop-reduce: addresses and induction variables of loops in the forms that cost ptxas least.
//
// What:       takes back pointers that move where an index does better, makes pointers where each round computes an
//             address anew, and writes the steps of 64-bit induction variables so that ptxas needs one instruction
//             for them. A loop stays as it is when no form is better by the cost.
// Algorithm:  scalar evolution of all addresses (scalar_evolution.h), in groups that differ by constants
//             (lsr/loop_uses.h); forms for each group in phases after cicc's solver (lsr/formulas.h), their cost
//             (lsr/loop_cost.h), the choice (lsr/select.h), and the rewriting (lsr/rewrite.h, lsr/step.h). Inner
//             loops first.
// Keeps:      branches, exit tests, pragmas, the order and number of memory accesses. All arithmetic is modulo two
//             to the width; extensions go inside a recurrence only with a proof that it does not wrap.
// Leaves:     what nothing reads any longer, to live-dead.
// Cost:       scalar evolution's, and linear in the loops but for what lsr/select.h budgets.
// Declines, by loop: irreducible, no-preheader, unknown-trip, loop-level, outer-loop, register-pressure, unrolled,
//             no-uses, not-better; by function: too-large.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/uniform_registers.h"
#include "passes/lsr/rewrite.h"
#include "passes/lsr/select.h"
#include "passes/lsr/unrolling.h"

namespace ptxopt {
namespace {

constexpr double kUnitSetup = 3;

class LoopReducer {
 public:
  LoopReducer(Function& f, PassContext& context)
      : f_(f),
        context_(context),
        loops_(context.analyses.loops()),
        cfg_(context.analyses.cfg()),
        evolution_(context.analyses.scalarEvolution()),
        e_(evolution_.expressions()),
        numbers_(context.analyses.liveIntervals()),
        nodeOf_(numbers_.size(), UINT32_MAX),
        phis_(findPhis(cfg_, context.analyses.slotIndexes(), context.analyses.liveIntervals())),
        expander_(f, context),
        steps_(f, context, expander_),
        rewriter_(f, context, expander_, steps_) {}

  bool run() {
    // Children have larger numbers than their parents.
    for (std::size_t l = loops_.size(); l-- > 0;) plan(LoopId(l));
    // All is planned on the function as it is; then it is rewritten, inner loops first.
    for (const LoopPlan& p : plans_) {
      for (const GroupForms& g : p.groups)
        if (g.chosen != 0) rewriter_.apply(*g.group, g.formulas[g.chosen], p.loop, p.preheader);
      for (const StepPlan& s : p.steps) steps_.rewrite(s.iv, s.increment, s.start, p.preheader);
    }
    return expander_.inserted() != 0;
  }

 private:
  struct StepPlan {
    InductionVariable iv;
    UnitSteps::Increment increment;
    UnitSteps::Start start;
  };
  struct LoopPlan {
    LoopId loop;
    ExpansionPlace preheader;
    LoopUses uses;
    std::vector<GroupForms> groups;  // of uses.groups
    std::vector<StepPlan> steps;
  };

  void decline(LoopId, std::string_view reason) { ++declines_[reason]; }

  // The only block that leads into the loop from outside.
  BlockId entryOf(LoopId l) const {
    BlockId from;
    for (const BlockId p : cfg_.predecessors(loops_[l].header)) {
      if (loops_.contains(l, p) || !cfg_[p].reachable) continue;
      if (from.valid()) return {};
      from = p;
    }
    return from;
  }

  bool isUniform(ExprId e) {
    if (uniform_.size() == 0)
      uniform_ = findUniform(context_.module, f_, cfg_, context_.analyses.dominators());
    const Expr n = e_[e];
    switch (n.kind) {
      case ExprKind::Constant: return true;
      case ExprKind::Value: return n.reg().value < uniform_.size() && uniform_.test(n.reg().value);
      case ExprKind::Sum:
      case ExprKind::Product: {
        for (uint32_t k = 0; k < n.termCount; ++k)
          if (!isUniform(e_.terms(e)[k].expr)) return false;
        return true;
      }
      case ExprKind::SignExtend:
      case ExprKind::ZeroExtend:
      case ExprKind::Truncate: return isUniform(n.operand());
      default: return isUniform(n.left()) && isUniform(n.right());
    }
  }

  void plan(LoopId l) {
    if (loops_[l].irreducible) return decline(l, "irreducible");
    const BlockId entry = entryOf(l);
    if (!entry.valid() || loops_.contains(l, entry)) return decline(l, "no-preheader");
    const ExpansionPlace preheader{entry, placeAtEnd(context_.module, f_, cfg_[entry])};
    const bool unrolls = mayUnroll(f_, context_, l);
    LoopPlan plan{l, preheader, collectUses(f_, context_, l, phis_[loops_[l].header.value]), {}, {}};
    const LoopUses& uses = plan.uses;
    if (uses.ivs.empty() && uses.groups.empty()) return decline(l, "no-uses");
    if (unrolls) return decline(l, "unrolled");

    FormulaTerms terms{f_, context_, expander_, l, preheader, unrolls, true, true};
    std::vector<GroupForms>& groups = plan.groups;
    for (const UseGroup& group : uses.groups) {
      GroupForms g;
      g.group = &group;
      if (group.width != 64 || group.space == MemorySpace::Shared) continue;
      if (readsInductionVariable(group, uses.ivs)) continue;
      g.formulas = makeFormulas(group, uses.ivs, terms);
      std::vector<BlockId> blocks;
      for (const AddressUse& u : group.uses)
        if (const BlockId b = cfg_.blockOf(u.instruction); std::ranges::find(blocks, b) == blocks.end())
          blocks.push_back(b);
      g.sites = static_cast<uint32_t>(blocks.size());
      groups.push_back(std::move(g));
    }
    LoopCost cost(f_, context_, l, numbers_, nodeOf_);
    const SelectionResult result =
        select(groups, cost, Selection::Sass, {}, needsUnit_ ? 0 : kUnitSetup);
    (void)result;
    for (const GroupForms& g : groups) {
      if (g.chosen == 0) continue;
      context_.count(name(g.formulas[g.chosen].kind));
      needsUnit_ |= g.formulas[g.chosen].kind == FormulaKind::UnitPointer;
    }
    planSteps(plan, cost);
    if (!plan.steps.empty() || std::ranges::any_of(groups, [](const GroupForms& g) { return g.chosen != 0; }))
      plans_.push_back(std::move(plan));
  }

  // Whether the group is read through a register that moves with it already.
  bool readsInductionVariable(const UseGroup& group, std::span<const InductionVariable> ivs) {
    return std::ranges::any_of(ivs, [&](const InductionVariable& iv) {
      uint64_t difference = 0;
      return e_[iv.expr].width == group.width && e_[iv.expr].step() == group.step &&
             e_.differByConstant(e_[iv.expr].start(), group.start, difference);
    });
  }

  void planSteps(LoopPlan& plan, const LoopCost& cost) {
    double gain = 0;
    unsigned setup = 0;
    std::vector<StepPlan> steps;
    for (const InductionVariable& iv : plan.uses.ivs) {
      if (e_[iv.expr].width != 64 || !e_.isConstant(e_[iv.expr].step())) continue;
      if (!cost.isNeeded(iv.reg, iv.phi)) continue;
      const auto increment = steps_.increment(iv, plan.loop);
      if (!increment) continue;
      bool isAddress = false, isShared = false;
      for (const UseGroup& g : plan.uses.groups) {
        uint64_t difference = 0;
        if (g.width != 64 || g.step != e_[iv.expr].step() ||
            !e_.differByConstant(e_[iv.expr].start(), g.start, difference))
          continue;
        (g.space == MemorySpace::Shared ? isShared : isAddress) = true;
      }
      if (isShared || (!isAddress && isUniform(e_[iv.expr].start()))) continue;
      unsigned price = 0;
      const UnitSteps::Start start = steps_.howToStart(iv, plan.preheader, price);
      gain += isAddress ? 2 : 1;
      setup += price + 1;
      steps.push_back({iv, *increment, start});
    }
    if (steps.empty()) return;
    if (gain * 4 < setup + (needsUnit_ ? 0 : kUnitSetup)) return decline(plan.loop, "not-better");
    needsUnit_ = true;
    context_.count("unit-steps", steps.size());
    plan.steps = std::move(steps);
  }

  Function& f_;
  PassContext& context_;
  const Loops& loops_;
  const Cfg& cfg_;
  ScalarEvolution& evolution_;
  ScevExpressions& e_;
  const ValueNumbers numbers_;
  std::vector<uint32_t> nodeOf_;
  std::vector<std::vector<InductionVariable>> phis_;  // by block
  Expander expander_;
  UnitSteps steps_;
  GroupRewriter rewriter_;
  BitVector uniform_;
  std::vector<LoopPlan> plans_;
  bool needsUnit_ = false;
  std::map<std::string_view, uint64_t> declines_;
};

}  // namespace

bool loopReduce(Function& f, PassContext& context) {
  if (!context.analyses.cfg().complete()) {
    context.decline("too-large", "the control-flow graph has too many edges");
    return false;
  }
  if (context.analyses.loops().size() == 0) return false;
  return LoopReducer(f, context).run();
}

}  // namespace ptxopt
