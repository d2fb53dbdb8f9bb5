// version-loops: loops without the loads and stores that other accesses made redundant, where these do not overlap.
//
// What:       of a loop whose loads and stores of global memory go through several pointers a copy is made that holds where
//             certain of them do not overlap, with a check before it; the old loop is for where they do. In the copy
//               a sum that is kept in memory (`y[row] += ...`) is kept in a register, and stored once after the loop,
//               what does not vary is loaded once before the loop,
//               what the iteration, or the iteration before, has loaded or stored already is not loaded again.
//             Where nothing has to be checked, the copy replaces the loop. After LLVM's LoopVersioning, LoopVersioningLICM, and
//             GCC's predictive commoning.
// Algorithm:  versioning/: how far a counter goes (iteration_bound.h); so which bytes are accessed (loop_accesses.h),
//             and which accesses are redundant if which are apart (redundant_accesses.h). Two ranges of bytes [a, a +
//             m) and [b, b + n), modulo 2^64, are apart if b - a >= m and a - b >= n, unsigned: that is so also for
//             ranges that wrap.
// Invariants: the copy is entered only where what it takes for granted holds. Nothing is accessed that was not before: what
//             is loaded before the loop the first iteration would have loaded, which is always executed, and what is
//             stored after it every iteration has stored. Other threads do not see the difference: the accesses are
//             weak, and nothing in the loop orders them, so a thread that would see it has a data race.
// Pays:       by what is not loaded and stored; the check costs some twenty instructions, so the loop must iterate
//             often.
// Cost:       quadratic in the accesses of a loop, at most kMostAccesses.
// Declines:   too-large; address-size (32 bits); hidden-names (a scope declares a name of a variable anew); loops without a
//             store (not counted); irreducible, blocks (more than one), no-preheader, scope (braces, declarations,
//             pragmas but nounroll, a name that means something else before the loop), effects (barriers, calls, atomics,
//             ordered, volatile and asynchronous accesses, other reads of memory), accesses (too many), counter (no test
//             of a counter that shows before the loop how far it goes), nothing-redundant (or not to be distinguished),
//             few-iterations, no-hint (hints are of other loops), too-many-checks (knob
//             runtime-memory-check-threshold), check (it cannot be computed before the loop), register-pressure.
#include <algorithm>
#include <memory>
#include <set>

#include "ir/pragmas.h"
#include "passes/loops/loop_entry.h"
#include "passes/loops/versioning/fast_loop.h"
#include "passes/util/function_pass.h"
#include "passes/util/loop_register_budget.h"
#include "passes/util/missed_remarks.h"

namespace ptxopt {
namespace {

constexpr std::size_t kMostAccesses = 128;  // of an iteration
constexpr uint64_t kLeastIterations = 4;    // where their number is known

class VersionLoops : IntervalPass {
 public:
  VersionLoops(Function& f, PassContext& context)
      : IntervalPass(f, context),
        loops_(context.analyses.loops()),
        evolution_(context.analyses.scalarEvolution()),
        order_(f, context),
        budget_(f, context),
        expander_(f, context) {}

  bool run() {
    for (uint32_t l = 0; l < loops_.size(); ++l)
      if (const std::string_view why = look(LoopId(l)); !why.empty()) missed_.add(why);
    missed_.tell(context_, "loop");
    for (const auto& v : versions_) v->fast->prepare(expander_, evolution_.expressions(), v->checks);
    std::size_t checked = 0, loads = 0, stores = 0;
    for (const auto& v : versions_) {
      const bool hasChecks = !v->checks.all().empty();
      v->fast->copy(hasChecks);
      checked += hasChecks;
      loads += v->redundant->loads().size();
      stores += v->redundant->stores().size();
    }
    context_.count("versioned", checked);
    context_.count("replaced", versions_.size() - checked);
    context_.count("loads", loads);
    context_.count("stores", stores);
    return !versions_.empty();
  }

 private:
  struct Version {
    Version(IterationBound b, RunTimeChecks c) : bound(std::move(b)), checks(std::move(c)) {}
    IterationBound bound;
    RunTimeChecks checks;
    std::unique_ptr<LoopAccesses> accesses;
    std::unique_ptr<RedundantAccesses> redundant;
    std::unique_ptr<FastLoop> fast;
  };

  // Empty where the loop is versioned, or has nothing to look at.
  std::string_view look(LoopId l) {
    if (!hasStore(l)) return {};
    if (context_.isDeclined(loops_[l].header)) return kAsked;
    if (loops_[l].irreducible) return "irreducible";
    if (loops_.blocks(l).size() != 1) return "blocks";
    const Block& block = cfg_[loops_[l].header];
    if (!isFallenInto(module_, f_, cfg_, loops_, l) || !f_[block.last].next.valid()) return "no-preheader";
    if (const std::string_view why = whyNotCopied(block); !why.empty()) return why;
    std::string_view why;
    auto bound = IterationBound::find(evolution_, l, why);
    if (!bound) return why;
    why = whyIteratesSeldom(module_, f_, cfg_, loops_[l].header);
    if (!why.empty()) return why;
    if (const auto most = evolution_.tripCount(l).most; most && *most < kLeastIterations - 1)
      return "few-iterations";
    auto v = std::make_unique<Version>(std::move(*bound), RunTimeChecks(evolution_.expressions()));
    v->accesses = std::make_unique<LoopAccesses>(f_, context_, l, v->bound);
    for (InstrId id = block.first; id != block.last; id = f_[id].next)
      if (isAccess(id)) v->accesses->add(id);
    if (v->accesses->all().size() > kMostAccesses) return "accesses";
    v->redundant = std::make_unique<RedundantAccesses>(f_, context_, *v->accesses, order_);
    if (v->redundant->empty()) return "nothing-redundant";
    if (v->redundant->pairs().size() > static_cast<uint64_t>(context_.knobs[Knob::RuntimeMemoryCheckThreshold]))
      return "too-many-checks";
    makeChecks(*v);
    if (v->checks.isNever() || !canCheck(l, *v)) return "check";
    if (!budget_.has(l, registers(loops_[l].header, *v))) return "register-pressure";
    v->fast = std::make_unique<FastLoop>(f_, module_, block, loops_.entry(cfg_, l), *v->accesses, *v->redundant);
    versions_.push_back(std::move(v));
    return {};
  }

  bool hasStore(LoopId l) const {
    for (const BlockId b : loops_.blocks(l))
      for (InstrId id = cfg_[b].first; id.valid(); id = id == cfg_[b].last ? InstrId() : f_[id].next)
        if (f_[id].isInstruction() && module_.form(f_[id]).op == Op::St &&
            module_.form(f_[id]).space == StateSpace::Global)
          return true;
    return false;
  }

  bool isAccess(InstrId id) const {
    if (!f_[id].isInstruction()) return false;
    const Op op = module_.form(f_[id]).op;
    return op == Op::Ld || op == Op::St;
  }

  std::string_view whyNotCopied(const Block& block) {
    const auto end = f_.operandsOf(f_[block.last]);
    if (module_.form(f_[block.last]).effects != effect::Branch || !f_[block.last].is(Instruction::Guarded) ||
        end.size() != 2 || end[1].kind != OperandKind::Label || f_.labels[end[1].payload].place != block.first)
      return "blocks";
    for (InstrId id = f_[block.first].next;; id = f_[id].next) {
      const Instruction& i = f_[id];
      if (i.kind == InstrKind::Loc || isNounroll(module_, i)) continue;
      if (!i.isInstruction()) return "scope";
      for (const Operand& o : f_.operandsOf(i)) {
        if (o.isRegister() && !reaches_(o.reg(), block.first)) return "scope";
        if (o.kind == OperandKind::Label && id != block.last) return "effects";
      }
      if (id == block.last) return {};
      if (order_.barrier(id) == LoadBarrier::Wall) return "effects";
      if (!isAccess(id) && module_.form(i).is(effect::Read | effect::Write)) return "effects";
    }
  }

  // That what must be apart is apart, and that the addresses of what is used are what they are taken for.
  void makeChecks(Version& v) {
    ScevExpressions& e = evolution_.expressions();
    // It was compared with all that moves by the same step.
    const auto use = [&](std::size_t access) {
      const ExprId step = v.accesses->all()[access].step;
      for (std::size_t g = 0; g < v.accesses->groups(); ++g) {
        const AccessGroup& group = v.accesses->group(g);
        if (group.step != step || group.wraps.all().empty()) continue;
        v.checks.add(v.bound.checks());
        v.checks.add(group.wraps);
      }
    };
    for (const RedundantLoad& load : v.redundant->loads()) use(load.load);
    for (const InvariantStores& s : v.redundant->stores()) use(s.stores.front());
    for (const auto& [a, b] : v.redundant->pairs()) {
      v.checks.add(v.accesses->range(a)->checks);
      v.checks.add(v.accesses->range(b)->checks);
    }
    for (const auto& [a, b] : v.redundant->pairs()) {
      const AccessRange x = *v.accesses->range(a), y = *v.accesses->range(b);
      v.checks.less(e.subtract(y.low, x.low), x.size, false, false);
      v.checks.less(e.subtract(x.low, y.low), y.size, false, false);
    }
  }

  bool canCheck(LoopId l, const Version& v) {
    const ExpansionPlace place{loops_.entry(cfg_, l), cfg_[loops_[l].header].first};
    for (const RunTimeCheck& c : v.checks.all())
      for (const ExprId x : {c.left, c.right})
        if (!expander_.canExpand(x, place)) return false;
    const auto isKnown = [&](std::size_t access) {
      return expander_.canExpand(v.accesses->group(v.accesses->all()[access].group).start, place);
    };
    return std::ranges::all_of(v.redundant->loads(),
                               [&](const RedundantLoad& r) { return !r.isIterationBefore || isKnown(r.load); }) &&
           std::ranges::all_of(v.redundant->stores(),
                               [&](const InvariantStores& s) { return isKnown(s.stores.back()); });
  }

  // What lives from iteration to iteration that did not before, in units of 32 bits. The address of what is stored
  // after the loop did.
  int registers(BlockId block, const Version& v) const {
    const auto units = [&](std::size_t access) {
      return info(f_.registers[v.redundant->value(access).value].type).bits == 64 ? 2 : 1;
    };
    int all = 0;
    std::set<std::size_t> stored;  // what an iteration carries to the next is what is stored after the loop
    for (const InvariantStores& s : v.redundant->stores()) {
      const RegId last = v.redundant->value(s.stores.back());
      if (!intervals_[last].valueAt(slots_.last(block)).valid()) all += units(s.stores.back());
      stored.insert(s.stores.begin(), s.stores.end());
    }
    for (const RedundantLoad& load : v.redundant->loads())
      if (load.isIterationBefore && !stored.contains(load.source)) all += units(load.load);
    return all;
  }

  const Loops& loops_;
  ScalarEvolution& evolution_;
  LoadOrder order_;
  LoopRegisterBudget budget_;
  Expander expander_;
  RegisterReach reaches_{module_, f_};
  std::vector<std::unique_ptr<Version>> versions_;
  MissedRemarks missed_;
};

}  // namespace

bool versionLoops(Function& f, PassContext& context) {
  if (!context.hasUsableIntervals() || context.analyses.loops().size() == 0) return false;
  if (context.module.addressSize != 64) {
    context.decline("address-size", "addresses have 32 bits");
    return false;
  }
  if (f.hidesNames || f.hidesSpecialRegisters) {
    context.decline("hidden-names", "the check could name something else");
    return false;
  }
  return VersionLoops(f, context).run();
}

}  // namespace ptxopt
