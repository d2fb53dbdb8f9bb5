// A Selector tries each new counter and none, with and without unit steps. Groups begin in their best new form, and
// each goes back to the old one where the total does not rise, up to a bound on the nodes that are looked at. The rules
// by cost and by median look at one group at a time.
#include "passes/addressing/select.h"

#include <algorithm>

#include "passes/addressing/address_costs.h"

namespace ptxopt {
namespace {

constexpr std::size_t kMostTakeBackWork = 1u << 20;  // nodes looked at while taking groups back

class Selector {
 public:
  Selector(std::vector<GroupForms>& groups, std::span<const Counter> counters, LoopCost& cost,
           bool discountsComplexity, double unitSetup, bool needsGain, double wait)
      : groups_(groups),
        counters_(counters),
        cost_(cost),
        discountsComplexity_(discountsComplexity),
        unitSetup_(unitSetup),
        needsGain_(needsGain),
        wait_(wait) {}

  uint32_t counter() const { return counter_; }

  double costOf(const GroupForms& g, const Formula& f) const {
    double cost = f.perIteration * (f.kind == FormulaKind::Index ? g.sites : 1);
    // The discount of forms that compute no address in the loop makes up for the register that moves.
    const bool isNewPointer = f.kind == FormulaKind::Pointer || f.kind == FormulaKind::UnitPointer ||
                              f.kind == FormulaKind::StridePointer;
    if (isNewPointer && !discountsComplexity_) cost += kNewPointer;
    return cost;
  }

  // What an iteration waits for the form: an access for the product of its index, a pointer for the store that it may
  // not advance before. ptxas moves neither across the branch of the loop.
  double waitOf(const GroupForms& g, const Formula& f) const {
    const Waits waits = addressForm(f.kind).waits;
    return waits == Waits::Access ? wait_ * g.sites : waits == Waits::Step && g.isWritten ? wait_ : 0;
  }

  // The best new form of a group; 0 when there is none.
  std::size_t best(const GroupForms& g) const {
    std::size_t at = 0;
    double least = 0;
    for (std::size_t k = 1; k < g.formulas.size(); ++k) {
      const Formula& f = g.formulas[k];
      if (!f.bad.empty() || (f.counter != kNoCounter && f.counter != counter_)) continue;
      if (!allowsUnits_ && needsUnitRegister(f)) continue;
      const double cost = (costOf(g, f) + waitOf(g, f)) * kIterations + f.setup - f.saved + kRegister * f.registers;
      if (at == 0 || cost < least) {
        at = k;
        least = cost;
      }
    }
    return at;
  }

  double iterations() {
    replaced_.clear();
    steps_.clear();
    double all = 0;
    for (const GroupForms& g : groups_) {
      const Formula& f = g.formulas[g.chosen];
      if (g.chosen == 0) continue;
      if (f.kind == FormulaKind::UnitStep) {
        steps_.push_back(f.increment);
        continue;
      }
      all += costOf(g, f);
      for (const AddressUse& u : g.group->uses) replaced_.push_back(u.operand);
    }
    if (usesCounter()) {
      all += 1;
      if (counters_[counter_].test) replaced_.push_back(counters_[counter_].tested);
    }
    return all + cost_.needed(replaced_, steps_);
  }

  bool usesCounter() const {
    return counter_ != kNoCounter && std::ranges::any_of(groups_, [&](const GroupForms& g) {
             return g.chosen != 0 && g.formulas[g.chosen].counter == counter_;
           });
  }

  double total(double iteration) const {
    double all = iteration * kIterations;
    bool needsUnit = false;
    for (const GroupForms& g : groups_) {
      if (g.chosen == 0) continue;
      all += g.formulas[g.chosen].setup - g.formulas[g.chosen].saved;
      all += waitOf(g, g.formulas[g.chosen]) * kIterations;
      needsUnit |= needsUnitRegister(g.formulas[g.chosen]);
    }
    if (usesCounter()) all += counters_[counter_].setup;
    all += kRegister * registers();
    return needsUnit ? all + unitSetup_ : all;
  }

  int registers() const {
    int all = 0;
    for (const GroupForms& g : groups_)
      if (g.chosen != 0) all += g.formulas[g.chosen].registers;
    return all;
  }

  // Without a new counter, and with each of them; with unit steps and without.
  void bySass() {
    const double iterationsBefore = iterations(), before = total(iterationsBefore);
    std::vector<std::size_t> best(groups_.size());
    double least = before;
    uint32_t counter = kNoCounter;
    for (uint32_t c = 0; c < 2 * (counters_.size() + 1); ++c) {
      counter_ = c < 2 ? kNoCounter : c / 2 - 1;
      allowsUnits_ = c % 2 == 0;
      for (GroupForms& g : groups_) g.chosen = this->best(g);
      if (wasTried()) continue;
      const double found = takeBack();
      if (found >= least || (needsGain_ && iterations() >= iterationsBefore)) continue;
      least = found;
      counter = usesCounter() ? counter_ : kNoCounter;
      for (std::size_t g = 0; g < groups_.size(); ++g) best[g] = groups_[g].chosen;
    }
    counter_ = counter;
    for (std::size_t g = 0; g < groups_.size(); ++g) groups_[g].chosen = best[g];
  }

  // Whether the same forms were tried with the same counter, or both times with none.
  bool wasTried() {
    std::vector<std::size_t> now{usesCounter() ? counter_ : kNoCounter};
    for (const GroupForms& g : groups_) now.push_back(g.chosen);
    if (std::ranges::find(tried_, now) != tried_.end()) return true;
    tried_.push_back(std::move(now));
    return false;
  }

  // All groups are in their best forms; each goes back to its old form if the total does not rise.
  double takeBack() {
    double least = total(iterations());
    std::size_t work = 0;
    for (GroupForms& g : groups_) {
      if (g.chosen == 0 || (work += cost_.size() + groups_.size()) > kMostTakeBackWork) continue;
      const std::size_t chosen = g.chosen;
      g.chosen = 0;
      const double without = total(iterations());
      if (without <= least)
        least = without;
      else
        g.chosen = chosen;
    }
    return least;
  }

  // The cost of leaving a group as it is: what falls away without it.
  double keepCost(const GroupForms& g, double all) {
    replaced_.clear();
    for (const AddressUse& u : g.group->uses) replaced_.push_back(u.operand);
    return all - cost_.needed(replaced_);
  }

  // A form against the others of its group: a better step leaves the rest of what there is.
  double costInGroup(const GroupForms& g, const Formula& f) const { return costOf(g, f) - f.instead; }

  // These rules look at one group at a time: a counter that several would share is none of their forms.
  static bool isAllowed(const Formula& f) { return f.bad.empty() && f.counter == kNoCounter; }

  void byCost(bool median) {
    const double all = cost_.needed({});
    std::vector<double> costs;
    for (GroupForms& g : groups_) {
      g.formulas[0].perIteration = keepCost(g, all);
      for (const Formula& f : g.formulas)
        if (isAllowed(f)) costs.push_back(costInGroup(g, f));
    }
    std::ranges::sort(costs);
    double sum = 0, half = 0;
    for (const double p : costs) sum += p;
    double at = costs.empty() ? 0 : costs.back();
    for (const double p : costs) {
      half += p;
      if (half < sum / 2) continue;
      at = p;
      break;
    }
    for (GroupForms& g : groups_) {
      std::size_t chosen = SIZE_MAX;
      const auto better = [&](double p, double q) {
        if (!median) return p < q;
        if ((p >= at) != (q >= at)) return p >= at;
        return p >= at ? p < q : p > q;
      };
      for (std::size_t k = 0; k < g.formulas.size(); ++k)
        if (isAllowed(g.formulas[k]) &&
            (chosen == SIZE_MAX || better(costInGroup(g, g.formulas[k]), costInGroup(g, g.formulas[chosen]))))
          chosen = k;
      g.chosen = chosen == SIZE_MAX ? 0 : chosen;
    }
  }

 private:
  std::vector<GroupForms>& groups_;
  std::span<const Counter> counters_;
  uint32_t counter_ = kNoCounter;
  bool allowsUnits_ = true;
  LoopCost& cost_;
  const bool discountsComplexity_;
  const double unitSetup_;
  const bool needsGain_;
  const double wait_;  // machine instructions that one counts
  std::vector<uint32_t> replaced_;
  std::vector<InstrId> steps_;
  std::vector<std::vector<std::size_t>> tried_;
};

}  // namespace

SelectionResult select(std::vector<GroupForms>& groups, std::span<const Counter> counters, LoopCost& cost,
                       Selection how, bool discountsComplexity, double unitSetup, bool needsGain, double wait) {
  SelectionResult result;
  Selector selector(groups, counters, cost, discountsComplexity, unitSetup, needsGain, wait);
  result.before = cost.needed({});
  if (how == Selection::Sass)
    selector.bySass();
  else
    selector.byCost(how == Selection::Median);
  result.after = selector.iterations();
  result.counter = selector.counter();
  return result;
}

}  // namespace ptxopt
