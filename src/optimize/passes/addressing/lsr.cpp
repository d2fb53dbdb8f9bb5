// lsr: addresses and induction variables of loops in the forms that cost ptxas least.
//
// What:       takes back pointers that move where an index does better, makes pointers where each iteration computes an
//             address anew, and writes the steps of 64-bit induction variables so that ptxas needs one instruction
//             for them; ends loops by a carry or a pointer (carry_test.h, pointer_test.h). A loop stays as it is when
//             no form is better by the cost.
// Algorithm:  scalar evolution of all addresses (scalar_evolution.h), in groups that differ by constants
//             (loop_uses.h); forms for each group in phases after cicc's solver (formulas.h), their cost
//             (loop_cost.h), the choice (select.h), and the rewriting (rewrite.h, step.h). Inner loops first.
// Keeps:      branches, when a loop ends, pragmas, the order and number of memory accesses. All arithmetic is modulo two
//             to the width; extensions go inside a recurrence only with a proof that it does not wrap.
// Leaves:     what nothing reads any longer, to dce.
// Cost:       scalar evolution's, and linear in the loops but for what select.h budgets.
// Declines, by loop: irreducible, no-preheader, few-iterations (the user says so), unknown-trip, loop-level,
// outer-loop, register-pressure, unrolled,
//             slow-division, too-deep, no-uses, not-better; by function: too-large; by group of addresses:
//             local-memory (it may become registers, as long as ptxas sees which slot is meant), constant-memory
//             (other forms made 28 of 42 loops longer: docs/seeds.md), shared-64-bit (ptxas computes the lower half
//             only, and adds up what is invariant by itself: 32-bit pointers helped 6 of 1,770 kernels of
//             tests/codegen/loops), shared-off (the knob), register-pressure (formulas were rejected, those that take
//             most registers first).
#include <algorithm>

#include "analysis/values/uniform_registers.h"
#include "passes/addressing/address_costs.h"
#include "passes/addressing/early_steps.h"
#include "passes/addressing/loop_plan.h"
#include "passes/addressing/loop_report.h"
#include "passes/addressing/rewrite.h"
#include "passes/addressing/select.h"
#include "passes/arithmetic/divide/division.h"
#include "passes/loops/loop_entry.h"
#include "passes/loops/unrolling.h"
#include "passes/util/insertion_places.h"
#include "passes/util/loop_register_budget.h"
#include "target/target.h"

namespace ptxopt {
namespace {

constexpr std::size_t kMostNestWork = 1u << 16,
                      kMostNestDepth = 16;  // blocks, and times the blocks of the function
constexpr int kLeastRoom = 3;               // registers: what the estimate is wrong by more often than not
constexpr unsigned kMostTries = 16;         // to choose forms for which there are registers

class LoopReducer {
 public:
  LoopReducer(Function& f, PassContext& context)
      : f_(f),
        context_(context),
        loops_(context.analyses.loops()),
        cfg_(context.analyses.cfg()),
        evolution_(context.analyses.scalarEvolution()),
        e_(evolution_.expressions()),
        costs_(costsOfForms(context)),
        nodeOf_(context.analyses.valueRanges().numbers().size(), UINT32_MAX),
        phis_(findPhis(cfg_, context.analyses.slotIndexes(), context.analyses.liveIntervals())),
        expander_(f, context),
        sums_(f, context, expander_),
        steps_(f, context, expander_, sums_),
        rewriter_(f, context, expander_, steps_),
        budget_(f, context),
        reports_(f, context) {}

  bool run() {
    // Children have larger numbers than their parents.
    height_.assign(loops_.size(), 1);
    for (std::size_t l = loops_.size(); l-- > 0;)
      if (const LoopId p = loops_[LoopId(l)].parent; p.valid())
        height_[p.value] = std::max(height_[p.value], height_[l] + 1);
    for (std::size_t l = loops_.size(); l-- > 0;) plan(LoopId(l));
    // All is planned on the function as it is; then it is rewritten, inner loops first.
    if (!plans_.empty()) expander_.occurrences();
    for (const LoopPlan& p : plans_) {
      RegId counterReg;
      if (p.counter) counterReg = rewriter_.makeCounter(*p.counter, p.loop, p.preheader);
      for (const GroupForms& g : p.groups) {
        const Formula& formula = g.formulas[g.chosen];
        const Counter* counter = formula.counter != kNoCounter ? &*p.counter : nullptr;
        rewriter_.apply(*g.group, formula, p.loop, p.preheader, counter, counterReg);
      }
      if (p.test) applyPointerTest(f_, context_, expander_, *p.test, p.preheader);
      if (p.carry) applyCarryTest(f_, context_, expander_, *p.carry, p.preheader);
      for (const StepPlan& s : p.steps) steps_.rewrite(s.iv, s.increment, s.product, s.start, p.preheader);
    }
    rewriter_.finish();
    if (const std::size_t moved = moveStepsUp(context_.module, f_, steps_.made()); moved != 0)
      context_.count("early-steps", moved);
    reports_.tellDeclines();
    return expander_.inserted() != 0;
  }

 private:
  // Than twice: with two iterations the forms still save more than what stands before the loop. A constant count is better known than by
  // what is said of all.
  bool iteratesLess(LoopId l) {
    constexpr uint32_t kLeastIterations = 2;
    const TripCount& trip = evolution_.tripCount(l);
    const bool isConstant = trip.exact.valid() && e_.isConstant(trip.exact);
    return !isConstant && isSaidToIterateLess(context_.module, f_, cfg_, loops_[l].header, kLeastIterations);
  }

  // Divisions of 64 bits become calls of a routine, around which ptxas keeps and moves registers as it likes: what
  // is saved of a few instructions is lost or gained by chance.
  bool dividesSlowly(LoopId l) const {
    for (const BlockId b : loops_.blocks(l))
      for (const InstrId id : context_.analyses.slotIndexes().instructions(b)) {
        const OpcodeForm& form = context_.module.form(f_[id]);
        if (division::isDivision(form) && info(form.type).registerClass == RegisterClass::B64) return true;
      }
    return false;
  }

  // Asked last, since the estimate is dear.
  bool hasRoom(const LoopPlan& plan) {
    if (context_.knobs[Knob::LsrCheckRp] == 0 || !plan.changesForms()) return true;
    return budget_.has(plan.loop, std::max(kLeastRoom, plan.registers()));
  }

  bool isUniform(ExprId e) {
    if (uniform_.size() == 0) uniform_ = findUniform(context_.module, f_, cfg_, context_.analyses.dominators());
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

  // Whether the knobs let the pass look at the loop; else why not.
  std::string_view whyNotLooked(LoopId l) const {
    const Knobs& knobs = context_.knobs;
    const uint32_t height = height_[l.value];
    const int64_t level = knobs[Knob::LsrLoopLevel];
    if (context_.isDeclined(loops_[l].header)) return kAsked;
    if (f_.hidesSpecialRegisters) return "hidden-names";  // it reads one
    if (level != 0 && level != int64_t{height}) return "loop-level";
    if (knobs[Knob::LsrSkipOuterLoop] != 0 && height > 1) return "outer-loop";
    if (knobs[Knob::LsrUnknownTrip] == 0 && !evolution_.tripCount(l).exact.valid()) return "unknown-trip";
    return {};
  }

  // Whether a group may be given another form; else why not.
  std::string_view whyNotFormed(const UseGroup& group) const {
    // In a loop inside.
    if (std::ranges::any_of(group.uses, [&](const AddressUse& u) { return context_.isDeclined(u.instruction); }))
      return kAsked;
    switch (group.space) {
      case MemorySpace::Local: return "local-memory";
      case MemorySpace::Constant: return "constant-memory";
      case MemorySpace::Shared:
        if (group.width == 64) return "shared-64-bit";
        return context_.knobs[Knob::LsrSharedmem32Ptr] == 0 ? "shared-off" : "";
      default: return {};
    }
  }

  // 64-bit recurrences are slow where 64-bit additions are.
  bool may64() const {
    const int64_t knob = context_.knobs[Knob::DoLsr64Bit];
    if (knob != 2) return knob == 1;
    return !context_.target().has(target::Capability::SlowSums64);
  }

  void plan(LoopId l) {
    if (const std::string_view why = whyNotLooked(l); !why.empty()) return reports_.decline(l, why);
    if (loops_[l].irreducible) return reports_.decline(l, "irreducible");
    // The loops of a deep nest hold the same blocks over and over.
    work_ += loops_[l].blockCount;
    if (work_ > kMostNestWork + kMostNestDepth * cfg_.size()) return reports_.decline(l, "too-deep");
    const BlockId entry = loops_.entry(cfg_, l);
    if (!entry.valid()) return reports_.decline(l, "no-preheader");
    if (iteratesLess(l)) return reports_.decline(l, "few-iterations");
    const ExpansionPlace preheader{entry, placeAtEnd(context_.module, f_, cfg_[entry])};
    LoopPlan plan;
    plan.loop = l;
    plan.preheader = preheader;
    plan.uses = collectUses(f_, context_, l, phis_[loops_[l].header.value]);
    if (plan.uses.ivs.empty() && plan.uses.groups.empty()) return reports_.decline(l, "no-uses");
    const Unrolling unrolling = height_[l.value] == 1 ? expectedUnrolling(f_, context_, l) : Unrolling::Unlikely;
    if (unrolling == Unrolling::Likely) return reports_.decline(l, "unrolled");
    plan.mayEndOtherwise = plan.mayTestPointer = unrolling == Unrolling::Unlikely;
    if (dividesSlowly(l)) return reports_.decline(l, "slow-division");
    FormulaTerms terms{f_, context_, expander_, steps_, l, preheader, may64()};
    terms.filters = context_.knobs[Knob::FilterBadFormula] != 0;
    // Where the occupancy is checked, for what was chosen, that limit is lower, and nothing is estimated before.
    if (terms.filters && context_.knobs[Knob::LsrCheckRp] == 0) terms.room = budget_.roomOfThread(l);
    terms.extends = context_.knobs[Knob::LsrSxtopt] != 0;
    terms.creditsExtensions = context_.knobs[Knob::CountSxtOptForRegPressure] != 0;
    LoopCost cost(f_, context_, l, sums_, nodeOf_);
    makeForms(plan, cost, terms);
    SelectionResult result = choose(plan, cost, terms);
    for (unsigned tries = 1; !hasRoom(plan); ++tries) {
      const bool hasAny = tries != kMostTries && budget_.has(l, kLeastRoom);
      hasAny ? plan.rejectDearest() : plan.rejectAll();
      result = choose(plan, cost, terms);
    }
    const bool changes = plan.changesForms() || plan.carry;
    if (!changes && unrolling == Unrolling::Possible) return reports_.decline(l, "unrolled");
    const bool stepsChange = !plan.steps.empty() || plan.test || plan.carry;
    countForms(plan);
    reports_.tell(l, plan.groups, plan.skipped, stepsChange, result);
    if (changes) plans_.push_back(std::move(plan));
  }

  Selection selection() const { return static_cast<Selection>(context_.knobs[Knob::LsrSelection]); }

  void makeForms(LoopPlan& plan, LoopCost& cost, FormulaTerms& terms) {
    const LoopUses& uses = plan.uses;
    for (const UseGroup& group : uses.groups) {
      if (const std::string_view why = whyNotFormed(group); !why.empty())
        plan.skipped.push_back({&group, why});
      else
        plan.groups.emplace_back().group = &group;
    }
    if (plan.groups.empty()) return;
    if (selection() == Selection::Sass && terms.extends) plan.counters = makeCounters(uses.groups, terms);
    cost.needed({});
    for (GroupForms& g : plan.groups) {
      const UseGroup& group = *g.group;
      g.formulas = makeFormulas(group, uses.ivs, plan.counters, terms);
      plan.ownSteps.emplace_back();
      if (const InductionVariable* iv = readInductionVariable(group, uses.ivs, cost)) {
        // The pointer is there: another one like it is none of the forms.
        for (Formula& f : g.formulas)
          if (f.kind != FormulaKind::Keep && f.kind != FormulaKind::Index) f.bad = "has-pointer";
        if (const auto step = planStep(*iv, plan, cost)) {
          Formula f;
          f.kind = FormulaKind::UnitStep;
          f.increment = step->increment.instruction;
          f.instead = cost.costOf(f.increment);
          f.perIteration = costs_.*addressForm(f.kind).cost;
          f.setup = static_cast<int>(step->setup);
          f.product = step->product;
          g.formulas.push_back(f);
          plan.ownSteps.back() = step;
        }
      }
      std::vector<BlockId> blocks;
      for (const AddressUse& u : group.uses)
        if (const BlockId b = cfg_.blockOf(u.instruction); std::ranges::find(blocks, b) == blocks.end())
          blocks.push_back(b);
      g.sites = static_cast<uint32_t>(blocks.size());
      g.isWritten = std::ranges::any_of(group.uses, [&](const AddressUse& u) {
        return context_.module.form(f_[u.instruction]).is(effect::Write);
      });
    }
  }

  // The forms of the groups; then what depends on them.
  SelectionResult choose(LoopPlan& plan, LoopCost& cost, FormulaTerms& terms) {
    plan.clearChoice();
    const bool discounts = context_.knobs[Knob::LsrComplexityDiscount] != 0;
    SelectionResult result;
    if (!plan.groups.empty())
      result = select(plan.groups, plan.counters, cost, selection(), discounts, needsUnit_ ? 0 : kUnitSetup,
                      costs_.step64 <= costs_.wideProduct, static_cast<double>(context_.knobs[Knob::LsrWait]));
    for (std::size_t k = 0; k < plan.groups.size(); ++k)
      if (plan.groups[k].formulas[plan.groups[k].chosen].kind == FormulaKind::UnitStep) plan.add(*plan.ownSteps[k]);
    if (result.counter != kNoCounter) plan.counter = plan.counters[result.counter];
    planOtherSteps(plan, cost);
    planTest(plan, cost, terms);
    return result;
  }

  void countForms(const LoopPlan& plan) {
    for (const GroupForms& g : plan.groups) {
      const Formula& formula = g.formulas[g.chosen];
      needsUnit_ |= needsUnitRegister(formula);
      if (formula.kind != FormulaKind::Keep && formula.kind != FormulaKind::UnitStep)
        context_.count(addressForm(formula.kind).name);
    }
    for (const StepPlan& step : plan.steps) needsUnit_ |= step.product.needsUnit();
    if (!plan.steps.empty()) context_.count(addressForm(FormulaKind::UnitStep).name, plan.steps.size());
    if (plan.test) context_.count("tests-of-pointers");
    if (plan.carry) context_.count("tests-of-carries");
    if (!plan.counter) return;
    context_.count("counters");
    if (plan.counter->test) context_.count("tests-taken-over");
  }

  // The register that the group is read through, if it moves with it already. Everything is needed in `cost`.
  const InductionVariable* readInductionVariable(const UseGroup& group, std::span<const InductionVariable> ivs,
                                                 const LoopCost& cost) {
    for (const InductionVariable& iv : ivs)
      if (movesWith(iv, group) && cost.isNeeded(iv.reg, iv.phi)) return &iv;
    return nullptr;
  }
  bool movesWith(const InductionVariable& iv, const UseGroup& group) {
    uint64_t difference = 0;
    return e_[iv.expr].width == group.width && e_[iv.expr].step() == group.step &&
           e_.differByConstant(e_[iv.expr].start(), group.start, difference);
  }

  std::optional<StepPlan> planStep(const InductionVariable& iv, const LoopPlan& plan, LoopCost& cost) {
    if (e_[iv.expr].width != 64) return std::nullopt;
    const auto product = stepProduct(evolution_, e_[iv.expr].step(), plan.loop);
    const auto increment = steps_.increment(iv, plan.loop);
    if (!increment || !product) return std::nullopt;
    if (cost.costOf(increment->instruction) <= costs_.productStep64) return std::nullopt;
    StepPlan step{iv, *increment, *product, UnitSteps::Start::Aligned, 0};
    step.start = steps_.howToStart(iv, plan.loop, plan.preheader, step.setup);
    const unsigned setup = steps_.cost(*product, plan.preheader);
    if (setup == Expander::kImpossible) return std::nullopt;
    step.setup += setup;
    return step;
  }

  // The counter that only the test needs.
  void planTest(LoopPlan& plan, LoopCost& cost, FormulaTerms& terms) {
    if (plan.counter && plan.counter->test) return;
    const auto unread = plan.replaced();
    if (context_.knobs[Knob::LsrPointerTest] != 0 && plan.mayTestPointer)
      plan.test = findPointerTest(terms, cost, plan.uses, unread, [&](ExprId e) { return isUniform(e); });
    if (!plan.mayEndOtherwise || context_.knobs[Knob::LsrCarryTest] == 0 || usesCarry()) return;
    plan.carry = findCarryTest(terms, cost, unread);
    const auto worth = [](const auto& test) { return test ? test->gain * kIterations - test->setup : 0; };
    if (plan.carry && worth(plan.carry) >= worth(plan.test))
      plan.test.reset();
    else
      plan.carry.reset();
  }

  bool usesCarry() {
    if (!usesCarry_) usesCarry_ = ptxopt::usesCarry(f_);
    return *usesCarry_;
  }

  // 64-bit induction variables that are not addresses, but differ from thread to thread.
  void planOtherSteps(LoopPlan& plan, LoopCost& cost) {
    // Alone it is not worth what ptxas may do otherwise for it.
    if (!plan.changesForms()) return;
    cost.needed(plan.replaced());
    double gain = 0;
    unsigned setup = 0;
    std::vector<StepPlan> found;
    for (const InductionVariable& iv : plan.uses.ivs) {
      if (e_[iv.expr].width != 64 || !cost.isNeeded(iv.reg, iv.phi)) continue;
      if (std::ranges::any_of(plan.uses.groups, [&](const UseGroup& g) { return movesWith(iv, g); })) continue;
      if (isUniform(e_[iv.expr].start())) continue;
      const auto step = planStep(iv, plan, cost);
      if (!step) continue;
      gain += 1;
      setup += step->setup;
      found.push_back(*step);
    }
    const bool needsUnit = std::ranges::any_of(found, [](const StepPlan& s) { return s.product.needsUnit(); });
    if (found.empty() || gain * kIterations < setup + (needsUnit && !needsUnit_ ? kUnitSetup : 0)) return;
    plan.steps.insert(plan.steps.end(), found.begin(), found.end());
  }

  Function& f_;
  PassContext& context_;
  const Loops& loops_;
  const Cfg& cfg_;
  ScalarEvolution& evolution_;
  ScevExpressions& e_;
  const target::Costs costs_;
  std::vector<uint32_t> nodeOf_;                      // by the number of a value
  std::vector<std::vector<InductionVariable>> phis_;  // by block
  Expander expander_;
  const WideSums sums_;
  UnitSteps steps_;
  GroupRewriter rewriter_;
  LoopRegisterBudget budget_;
  BitVector uniform_;
  std::vector<uint32_t> height_;  // by loop: 1 for innermost ones
  std::size_t work_ = 0;          // blocks looked at
  std::vector<LoopPlan> plans_;
  bool needsUnit_ = false;
  std::optional<bool> usesCarry_;
  LoopReports reports_;
};

}  // namespace

bool loopStrengthReduction(Function& f, PassContext& context) {
  if (!context.hasUsableGraph()) return false;
  if (context.analyses.loops().size() == 0) return false;
  if (!context.hasUsableIntervals()) return false;
  return LoopReducer(f, context).run();
}

}  // namespace ptxopt
