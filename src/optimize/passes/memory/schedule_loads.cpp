// schedule-loads: loads that stand after a slow division or root in their block go before it.
//
// What:       ptxas makes a fast path, a branch and a call of such an operation (becomesCall). That ends its block, and
//             loads do not cross the ends of blocks: those after the operation wait for memory when the operation, and
//             the loads before it, have waited already. Moved before the operation, with what their addresses are made
//             of, they wait together.
// Algorithm:  in each block of a loop, between walls (load_order.h), each load of global or unknown memory after a slow
//             operation: upwards from it, what makes its address joins it, until something may not be crossed. It goes
//             before the first slow operation on that way; in a kernel all of whose warps are resident, by the estimate
//             of registers, before the nearest: that many warps hide a wait, and what lives across a call costs moves.
// Invariants: a block runs as a whole, so that what moves is executed exactly when it was before. Nothing crosses what
//             reads or writes a register that it writes, or writes one that it reads; a guarded write reads what it
//             writes, the carry flag is a register. What is moved keeps its order. Names mean the same where it goes.
// Registers:  what is loaded lives longer. If the estimate of registers (fat-point) costs resident blocks, half as many
//             loads of each block move, and so on. The number of loads of a block has a limit of its own, the knob
//             schedule-loads-most.
// Elsewhere:  outside of loops the model of time finds nothing that it buys, and sometimes an instruction more; there
//             it runs by the knob schedule-loads-everywhere.
// Lines:      the source line of a moved instruction is that of the operation that it goes before.
// Cost:       linear, plus for each load at most kMostStepsUp instructions above it, times those that it takes along;
//             where it changes something, a copy of the function and an estimate of its registers, log of the limit
//             times.
// Declines:   too-large; for loads after a slow operation: no-loop, ordered (a wall), store (may write what is loaded),
//             address (made by the slow operation, or by what may not move or is long), register-reuse (a register is
//             read or written in between), scope (a name means something else), load-form (ordered or volatile, or a
//             pragma describes it, or would), register-pressure, limit, too-far.
#include <algorithm>

#include "ir/opcode_predicates.h"
#include "ir/pragmas.h"
#include "passes/memory/load_order.h"
#include "passes/util/function_pass.h"
#include "passes/util/kernel_steps.h"
#include "passes/util/missed_remarks.h"
#include "passes/util/register_scopes.h"

namespace ptxopt {
namespace {

constexpr std::size_t kMostStepsUp = 512;  // upwards from a load
constexpr std::size_t kMostTaken = 12;     // instructions that go with a load

class ScheduleLoads : FunctionPass {
 public:
  ScheduleLoads(Function& f, PassContext& context)
      : FunctionPass(f, context),
        order_(f, context),
        loops_(context.analyses.loops()),
        isEverywhere_(context.knobs[Knob::ScheduleLoadsEverywhere] != 0) {}

  bool run() {
    auto most = static_cast<std::size_t>(context_.knobs[Knob::ScheduleLoadsMost]);
    plan(most);
    if (!moves_.empty() && KernelSteps(f_, context_).hasAllWarps(context_.analyses.fatPointRegisters())) {
      crossesOne_ = true;
      plan(most);
    }
    while (!moves_.empty() && !keepsOccupancy()) {
      most = std::min(most, mostOfBlock_) / 2;
      isShort_ = true;
      plan(most);
    }
    missed_.tell(context_, "load");
    context_.count("loads-moved", loadsMoved_);
    context_.count("instructions-moved", moves_.size());
    apply(f_);
    return !moves_.empty();
  }

 private:
  // Instructions between two walls, in the order that they are to have.
  struct Item {
    InstrId id;
    LoadBarrier barrier;
  };
  using Run = std::vector<Item>;
  // What goes before a slow operation, from the last of the text to the first.
  struct Plan {
    std::vector<std::size_t> taken;  // places in the run
    std::size_t place = 0;           // of the operation
    std::string_view why = "too-far";
    bool isFound = false;
  };
  struct Move {
    InstrId id, before;
  };

  // At most that many loads of a block.
  void plan(std::size_t most) {
    moves_.clear();
    missed_ = {};
    loadsMoved_ = mostOfBlock_ = 0;
    most_ = most;
    for (uint32_t b = 0; b < cfg_.size(); ++b)
      if (cfg_[BlockId(b)].reachable) block(BlockId(b));
  }

  void block(BlockId b) {
    const Block& block = cfg_[b];
    isAsked_ = context_.isDeclined(b);
    isLooked_ = !isAsked_ && (isEverywhere_ || loops_.of(b).valid());
    Run run;
    bool isSlow = false, isAfterSlow = false;
    std::size_t moved = 0;
    const auto finish = [&] {
      if (isSlow) moved += loads(run, moved);
      isAfterSlow |= isSlow;
      run.clear();
      isSlow = false;
    };
    for (InstrId id = block.first; id.valid(); id = id == block.last ? InstrId() : f_[id].next) {
      const LoadBarrier barrier = order_.barrier(id);
      if (barrier == LoadBarrier::Wall) {
        if ((isSlow || isAfterSlow) && isLoad(id)) missed_.add("load-form");
        finish();
        continue;
      }
      // Until a slow operation stands between it and the wall.
      if (!isSlow && isAfterSlow && isLoad(id)) missed_.add("ordered");
      isSlow |= barrier == LoadBarrier::Slow;
      run.push_back({id, barrier});
    }
    finish();
    loadsMoved_ += moved;
    mostOfBlock_ = std::max(mostOfBlock_, moved);
  }

  bool isLoad(InstrId id) const {
    return f_[id].isInstruction() && module_.form(f_[id]).op == Op::Ld &&
           isGlobalOrGeneric(module_.form(f_[id]).space);
  }

  // How many of the run were moved.
  std::size_t loads(Run& run, std::size_t before) {
    std::size_t moved = 0;
    const auto slow = std::ranges::find(run, LoadBarrier::Slow, &Item::barrier);
    for (auto at = static_cast<std::size_t>(slow - run.begin()) + 1; at < run.size(); ++at) {
      if (!isLoad(run[at].id)) continue;
      if (!order_.isMovable(run[at].id)) {
        missed_.add("load-form");
        continue;
      }
      Plan plan = isLooked_ ? planFor(run, at) : Plan{.why = isAsked_ ? kAsked : "no-loop"};
      if (plan.isFound && before + moved >= most_) plan = {.why = isShort_ ? "register-pressure" : "limit"};
      if (!plan.isFound) {
        missed_.add(plan.why);
        continue;
      }
      follow(run, plan);
      ++moved;
    }
    return moved;
  }

  // ---- one load ----

  Plan planFor(const Run& run, std::size_t load) {
    Plan plan, best;
    plan.taken.push_back(load);
    for (std::size_t at = load, steps = 0; at-- > 0 && steps < kMostStepsUp; ++steps) {
      const Item& item = run[at];
      plan.why = {};
      const bool isNeeded = feeds(run, plan, item.id);
      if (isNeeded) {
        if (!mayGoAlong(item) || plan.taken.size() > kMostTaken) plan.why = "address";
      } else if (overlaps(run, plan, item.id)) {
        plan.why = "register-reuse";
      } else if (item.barrier == LoadBarrier::Store) {
        if (mayWriteAny(run, plan, item.id)) plan.why = "store";
      } else if (item.barrier == LoadBarrier::Slow) {
        plan.why = whyNotAt(run, plan, item.id);
        if (plan.why.empty()) best = {plan.taken, at, {}, true};
        if (best.isFound && crossesOne_) return best;
      }
      if (!plan.why.empty()) return best.isFound ? best : plan;
      if (isNeeded) plan.taken.push_back(at);
    }
    return best;
  }

  // Whether an instruction writes what one of the taken ones reads.
  bool feeds(const Run& run, const Plan& plan, InstrId id) const {
    return meets(id, run, plan,
                 [](const Operand& above, const Operand& taken) { return above.writes() && taken.reads(); });
  }
  // ... reads or writes what one of them writes.
  bool overlaps(const Run& run, const Plan& plan, InstrId id) const {
    return meets(id, run, plan, [](const Operand&, const Operand& taken) { return taken.writes(); });
  }
  template <typename Meets>
  bool meets(InstrId id, const Run& run, const Plan& plan, Meets both) const {
    if (!f_[id].isInstruction()) return false;
    for (const Operand& above : f_.operandsOf(f_[id]))
      if (above.isRegister())
        for (const std::size_t t : plan.taken)
          for (const Operand& taken : f_.operandsOf(f_[run[t].id]))
            if (taken.isRegister() && taken.payload == above.payload && both(above, taken)) return true;
    return false;
  }

  bool mayGoAlong(const Item& item) const {
    if (item.barrier != LoadBarrier::Free) return false;
    const OpcodeForm& form = module_.form(f_[item.id]);
    if (form.effects != effect::Pure && !order_.isMovable(item.id)) return false;
    return std::ranges::none_of(f_.operandsOf(f_[item.id]),
                                [](const Operand& o) { return o.isRegister() && o.reg() == Function::kCarry; });
  }

  bool mayWriteAny(const Run& run, const Plan& plan, InstrId store) {
    return std::ranges::any_of(plan.taken, [&](std::size_t t) {
      const InstrId id = run[t].id;
      return module_.form(f_[id]).op == Op::Ld && order_.mayWrite(store, id);
    });
  }

  // Why what is taken may not stand before `place`, whatever stands between.
  std::string_view whyNotAt(const Run& run, const Plan& plan, InstrId place) {
    if (usedBytesMaskOf(module_, f_, place).valid()) return "load-form";
    for (const std::size_t t : plan.taken)
      for (const Operand& o : f_.operandsOf(f_[run[t].id])) {
        if (o.isRegister() && !reaches_(o.reg(), place)) return "scope";
        if (o.kind == OperandKind::Variable && (f_.hidesNames || f_.variables[o.payload].isNested)) return "scope";
        if (o.kind == OperandKind::Symbol && f_.hidesNames) return "scope";
        if (o.kind == OperandKind::SpecialRegister && f_.hidesSpecialRegisters) return "scope";
        if (o.kind == OperandKind::Label) return "scope";
      }
    return {};
  }

  // Whether the estimate of registers has as many resident blocks after the moves as before.
  bool keepsOccupancy() {
    const KernelSteps steps(f_, context_);
    Function changed = f_;
    apply(changed);
    Analyses analyses(module_, changed, livenessLimits(context_.knobs));
    const uint32_t before = context_.analyses.fatPointRegisters(), after = analyses.fatPointRegisters();
    return after <= (steps.areKnown() ? steps.last(before) : before);
  }

  // ---- the edits ----

  void follow(Run& run, const Plan& plan) {
    const Item place = run[plan.place];
    std::vector<Item> taken;
    for (auto t = plan.taken.rbegin(); t != plan.taken.rend(); ++t) {
      taken.push_back(run[*t]);
      moves_.push_back({run[*t].id, place.id});
    }
    for (const std::size_t t : plan.taken) run.erase(run.begin() + static_cast<std::ptrdiff_t>(t));
    run.insert(run.begin() + static_cast<std::ptrdiff_t>(plan.place), taken.begin(), taken.end());
  }

  void apply(Function& f) const {
    for (const Move& m : moves_) f.moveBefore(m.id, m.before);
  }

  LoadOrder order_;
  const Loops& loops_;
  const bool isEverywhere_;
  std::size_t most_ = 0, loadsMoved_ = 0, mostOfBlock_ = 0;
  bool isLooked_ = false;    // at the block
  bool isAsked_ = false;     // ... which is not, as the user says so
  bool isShort_ = false;     // of registers: fewer loads move than may
  bool crossesOne_ = false;  // slow operation, no more
  MissedRemarks missed_;
  RegisterReach reaches_{module_, f_};
  std::vector<Move> moves_;  // in the order to make them in
};

// A load after a slow operation, with no label between.
bool hasLoads(const Module& module, const Function& f) {
  bool isSlow = false;
  for (const InstrId id : f) {
    if (f[id].kind == InstrKind::Label) isSlow = false;
    if (!f[id].isInstruction()) continue;
    const OpcodeForm& form = module.form(f[id]);
    if (isSlow && form.op == Op::Ld && isGlobalOrGeneric(form.space)) return true;
    isSlow |= becomesCall(form);
  }
  return false;
}

}  // namespace

bool scheduleLoads(Function& f, PassContext& context) {
  if (!hasLoads(context.module, f) || !context.hasUsableGraph()) return false;
  return ScheduleLoads(f, context).run();
}

}  // namespace ptxopt
