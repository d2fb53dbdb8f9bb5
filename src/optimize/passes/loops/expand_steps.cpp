// expand-steps: pointers of loops move on by 32-bit additions with carry.
//
// What:       add.s64 p, p, step  becomes an addition of the lower halves that carries and one of the upper halves. ptxas does that by
//             itself, but takes the halves of the sum for two values, and copies them to an aligned pair before each access:
//             three or four instructions a round. Of halves that the PTX packs it makes the pair in place: two.
// Algorithm:  in each loop, without those in it, sums of 64 bits whose result is also an addend, and an address in the loop. Of steps that
//             lsr has made products with 1, as many as make the longest unit of a round shortest (loop_units.h).
// Leaves:     nothing dead: what only made the 1 of products goes with them, since no dce follows.
// Invariants: the sum is the same number modulo two to the 64. The carry flag is not live where it is written.
// Left out:   steps that are products of 32-bit numbers, which ptxas adds in one instruction; what ptxas may unroll
//             (unrolling.h), where constant steps become immediates of the accesses; pointers to shared, constant and local memory,
//             of which ptxas computes 32 bits only.
// Targets:    those that add 64 bits in two instructions (costs.def). (Observed on ptxas 13.0 and 13.5: sm_75 to sm_103, sm_110.)
// Cost:       linear in the loops, times their depth.
// Declines:   too-large; by loop: irreducible, unrolled; by step: guarded, other-writes (the loop also writes the pointer elsewhere), product,
//             varies (the step is written in the loop), space (not global memory), no-access, register-class, carry (the flag is
//             live, or the loop has sums of several words, which take the predicates that ptxas keeps carries in).
#include <algorithm>
#include <optional>
#include <ranges>

#include "analysis/machine/loop_units.h"
#include "ir/register_types.h"
#include "passes/loops/address_opcodes.h"
#include "passes/loops/unrolling.h"
#include "passes/util/function_pass.h"
#include "passes/util/missed_remarks.h"
#include "passes/util/unguarded.h"
#include "target/target.h"

namespace ptxopt {
namespace {

using target::Kind;
using target::Unit;

constexpr uint32_t kMostCarries = 2;     // instructions of a loop with the carry flag: those of a test by lsr
constexpr double kLeastUnitGain = 0.03;  // of a round, for steps that are products with 1

class StepExpansion : FunctionPass {
 public:
  StepExpansion(Function& f, PassContext& context)
      : FunctionPass(f, context),
        loops_(context.analyses.loops()),
        machine_(context.target().machine()),
        reads_(f.registers.size()),
        stepsOf_(f.registers.size()),
        writes_(f.registers.size()),
        accesses_(f.registers.size()),
        isProduct_(f.registers.size()) {}

  bool run() {
    for (const InstrId id : f_) {
      if (!f_[id].isInstruction()) continue;
      for (const Operand& o : f_.operandsOf(f_[id]))
        if (o.isRegister() && o.reads()) ++reads_[o.payload];
      if (!isWideProduct(module_.form(f_[id]))) continue;
      const auto operands = f_.operandsOf(f_[id]);
      const std::size_t at = f_[id].is(Instruction::Guarded) ? 1 : 0;
      if (operands.size() > at && operands[at].isRegister()) isProduct_[operands[at].payload] = true;
    }
    for (uint32_t l = 0; l < loops_.size(); ++l) look(LoopId(l));
    for (const RegId r : f_.returnRegisters) ++reads_[r.value];
    missed_.tell(context_, "loop");
    steps_.tell(context_, "step");
    for (const Step& s : chosen_) apply(s);
    if (!unread_.empty()) eraseUnread();
    return !chosen_.empty();
  }

 private:
  struct Step {
    InstrId id;
    RegId pointer;
    Operand by;
    bool isSubtracted;
    InstrId product = {};  // that makes it in each round
    bool isUnit = false;   // of the step and 1
  };
  // What a loop accesses through a register.
  enum Access : uint8_t { None = 0, Wide = 1, Narrow = 2 };

  void look(LoopId l) {
    std::vector<Step> found, products;
    for (const BlockId b : loops_.blocks(l))
      if (loops_.of(b) == l)
        for (const InstrId id : slots_.instructions(b))
          if (f_[id].isInstruction()) addStep(id, found);
    if (found.empty()) return;
    if (loops_[l].irreducible) return missed_.add("irreducible");
    findUses(l);
    for (const Step& s : found) ++stepsOf_[s.pointer.value];
    std::vector<Step> steps;
    for (Step& s : found) {
      findProduct(s);
      if (const std::string_view why = whyNot(s); !why.empty())
        steps_.add(why);
      else
        (s.product.valid() ? products : steps).push_back(s);
    }
    for (const Step& s : found) stepsOf_[s.pointer.value] = 0;
    clear();
    if (loops_.isInnermost(l)) takeProducts(l, products);
    if (steps.empty()) return;
    // Asked last: it takes scalar evolution.
    const Unrolling unrolling = loops_.isInnermost(l) ? expectedUnrolling(f_, context_, l) : Unrolling::Unlikely;
    if (unrolling == Unrolling::Likely) return missed_.add("unrolled");
    for (const Step& s : steps)
      if (unrolling == Unrolling::Possible && !s.by.isRegister())
        steps_.add("unrolled");
      else
        chosen_.push_back(s);
  }

  // The product of 32-bit numbers that a round adds, where it does not vary: one that lsr has made of the step.
  void findProduct(Step& s) const {
    const InstrId before = f_[s.id].previous;
    if (!s.by.isRegister() || !before.valid() || !f_[before].isInstruction()) return;
    if (!isExactlyWide(module_.form(f_[before]), Op::Mul) || f_[before].is(Instruction::Guarded)) return;
    const auto operands = f_.operandsOf(f_[before]);
    if (operands.size() != 3 || !operands[0].isRegister() || operands[0].payload != s.by.payload ||
        reads_[operands[0].payload] != 1 || writes_[operands[0].payload] != 1)
      return;
    for (const Operand& o : operands.subspan(1))
      if (o.isRegister() ? writes_[o.payload] != 0 : !immediate(f_, o)) return;
    s.product = before;
    // A constant by a register that holds 1 is the constant.
    if (operands[1].isRegister() && f_.registers[operands[1].payload].purpose == Purpose::One &&
        immediate(f_, operands[2])) {
      s.by = operands[2];
      s.isUnit = true;
    }
  }

  // A look at whether products and sums of floats may take as long as all instructions together take to be issued.
  bool mayFillFma(LoopId l) const {
    std::size_t all = 0, onFma = 0;
    for (const BlockId b : loops_.blocks(l))
      for (const InstrId id : slots_.instructions(b)) {
        if (!f_[id].isInstruction()) continue;
        const OpcodeForm& form = module_.form(f_[id]);
        ++all;
        onFma += form.op == Op::Mul || form.op == Op::Mad || form.op == Op::Fma ||
                 ((form.op == Op::Add || form.op == Op::Sub) && form.type == ScalarType::f32);
      }
    return 4 * onFma >= all;
  }

  // As many as make the longest unit of a round shortest.
  void takeProducts(LoopId l, const std::vector<Step>& steps) {
    if (steps.empty()) return;
    if (!mayFillFma(l)) {
      for (std::size_t k = 0; k < steps.size(); ++k) steps_.add("product");
      return;
    }
    if (!units_) units_.emplace(module_, f_, cfg_, context_.analyses.dominators(), loops_, machine_);
    UnitCycles now = units_->of(l);
    const double was = now.longest(0);
    double limit = was * (1 - kLeastUnitGain);
    std::size_t count = 0;
    for (std::size_t k = 0; k < steps.size(); ++k) {
      // ptxas adds the upper halves on the FMA unit (IMAD.X).
      for (const target::Use& use : machine_.uses(Kind::IntegerMultiplyWide)) now[use.unit] -= use.cycles;
      for (const target::Use& use : machine_.uses(Kind::IntegerAdd)) now[use.unit] += use.cycles;
      for (const target::Use& use : machine_.uses(Kind::IntegerMultiply)) now[use.unit] += use.cycles;
      const double length = now.longest(now.either);
      if (length > limit || (length == limit && count != 0)) continue;
      limit = length;
      count = k + 1;
    }
    for (std::size_t k = count; k < steps.size(); ++k) steps_.add("product");
    chosen_.insert(chosen_.end(), steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(count));
  }

  void addStep(InstrId id, std::vector<Step>& found) const {
    const OpcodeForm& form = module_.form(f_[id]);
    const bool isSubtracted = isSubtraction(form);
    if (!isSubtracted && !isAddition(form)) return;
    const auto operands = unguarded(f_, id);
    if (operands.size() != 3 || !operands[0].isRegister()) return;
    for (std::size_t k = 1; k < (isSubtracted ? 2u : 3u); ++k)
      if (operands[k].isRegister() && operands[k].payload == operands[0].payload && operands[k].flags == 0)
        return found.push_back({id, operands[0].reg(), operands[3 - k], isSubtracted, {}, false});
  }

  void findUses(LoopId l) {
    for (const BlockId b : loops_.blocks(l))
      for (const InstrId id : slots_.instructions(b)) {
        if (!f_[id].isInstruction()) continue;
        const auto operands = f_.operandsOf(f_[id]);
        carries_ += std::ranges::any_of(
            operands, [](const Operand& o) { return o.isRegister() && o.reg() == Function::kCarry; });
        for (std::size_t k = 0; k < operands.size(); ++k) {
          if (operands[k].isRegister() && operands[k].writes()) {
            ++writes_[operands[k].payload];
            seen_.push_back(operands[k].reg());
          }
          if (operands[k].kind != OperandKind::Memory) continue;
          const bool isWide = isGlobalOrGeneric(module_.form(f_[id]).space);
          for (const Operand& o : operands.subspan(k + 1, operands[k].inside())) {
            if (!o.isRegister()) continue;
            accesses_[o.payload] |= isWide ? Wide : Narrow;
            seen_.push_back(o.reg());
          }
        }
      }
  }

  void clear() {
    for (const RegId r : seen_) {
      writes_[r.value] = 0;
      accesses_[r.value] = None;
    }
    seen_.clear();
    carries_ = 0;
  }

  std::string_view whyNot(const Step& s) const {
    if (f_[s.id].is(Instruction::Guarded)) return "guarded";
    if (writes_[s.pointer.value] != stepsOf_[s.pointer.value]) return "other-writes";
    if ((accesses_[s.pointer.value] & Narrow) != 0) return "space";
    if (accesses_[s.pointer.value] == None) return "no-access";
    if (integerBits(f_.registers[s.pointer.value]) != 64) return "register-class";
    if (s.by.isRegister()) {
      if (!isIntegerRegister(f_, s.by, 64)) return "register-class";
      if (isProduct_[s.by.payload] && !s.product.valid()) return "product";
      if (writes_[s.by.payload] != 0 && !s.product.valid()) return "varies";
    } else if (!immediate(f_, s.by)) {
      return "register-class";
    }
    if (carries_ > kMostCarries) return "carry";
    if (reads_[Function::kCarry.value] != 0 &&
        (!context_.hasUsableIntervals() ||
         context_.analyses.liveIntervals()[Function::kCarry].isLiveAt(slots_[s.id])))
      return "carry";
    return {};
  }

  // {low, high} = p;  low += step's low;  high += step's high, and the carry;  p = {low, high}.
  void apply(const Step& s) {
    const auto used = [](RegId r) { return registerOperand(r, Role::Use, Join::Comma); };
    const auto made = [](RegId r, Join join = Join::None) { return registerOperand(r, Role::Def, join); };
    const auto flag = [](Role role) {
      return registerOperand(Function::kCarry, role, Join::None, Operand::Implicit);
    };
    const auto insert = [&](SynthOpcode opcode, std::initializer_list<Operand> operands) {
      f_.insert(s.id, module_.synthOpcode(opcode), std::vector<Operand>(operands));
    };
    const auto unpack = [&](RegId& low, RegId& high, RegId from) {
      low = f_.makeRegister(ScalarType::b32);
      high = f_.makeRegister(ScalarType::b32);
      insert(SynthOpcode::MovB64, {pairOperand(Join::None), made(low), made(high, Join::Comma), used(from)});
    };
    bool isSubtracted = s.isSubtracted;
    RegId low, high;
    unpack(low, high, s.pointer);
    Operand byLow, byHigh;
    if (s.by.isRegister()) {
      RegId l, h;
      unpack(l, h, s.by.reg());
      byLow = used(l);
      byHigh = used(h);
    } else {
      const uint64_t by = isSubtracted ? -*immediate(f_, s.by) : *immediate(f_, s.by);
      isSubtracted = false;
      byLow = integerOperand(static_cast<int32_t>(by));
      byHigh = integerOperand(static_cast<int32_t>(by >> 32));
    }
    insert(isSubtracted ? SynthOpcode::SubCcU32 : SynthOpcode::AddCcU32,
           {made(low), used(low), byLow, flag(Role::Def)});
    insert(isSubtracted ? SynthOpcode::SubcU32 : SynthOpcode::AddcU32,
           {made(high), used(high), byHigh, flag(Role::Use)});
    f_[s.id].payload = module_.synthOpcode(SynthOpcode::MovB64).value;
    f_.setOperands(s.id, std::vector<Operand>{made(s.pointer), pairOperand(Join::Comma),
                                              registerOperand(low, Role::Use), used(high)});
    f_.touch(s.id);
    if (s.isUnit) erase(s.product);
    context_.count("steps");
  }

  // No dce follows: what only made the 1 of products goes with the last of them.
  void erase(InstrId id) {
    for (const Operand& o : f_.operandsOf(f_[id]))
      if (o.isRegister() && o.reads() && --reads_[o.payload] == 0) unread_.push_back(o.reg());
    f_.erase(id);
  }

  void eraseUnread() {
    for (InstrId id = f_.last, next; id.valid(); id = next) {
      next = f_[id].previous;
      if (!f_[id].isInstruction() || !isRemovable(module_, f_, f_[id])) continue;
      auto results =
          f_.operandsOf(f_[id]) | std::views::filter([](const Operand& o) { return o.isRegister() && o.writes(); });
      const auto isUnread = [&](const Operand& o) { return std::ranges::find(unread_, o.reg()) != unread_.end(); };
      if (!results.empty() && std::ranges::all_of(results, isUnread)) erase(id);
    }
  }

  const Loops& loops_;
  const target::Machine& machine_;
  std::optional<LoopUnits> units_;
  std::vector<uint32_t> reads_;    // by RegId: of the function as it was, less what is erased
  std::vector<RegId> unread_;      // that only what was erased read
  std::vector<uint32_t> stepsOf_;  // by RegId: in the loop that is looked at
  std::vector<uint32_t> writes_;   // by RegId: in the loop that is looked at
  std::vector<uint8_t> accesses_;  // by RegId: Access, in that loop
  std::vector<bool> isProduct_;    // by RegId: whether a wide product writes it
  uint32_t carries_ = 0;           // instructions of the loop that mention the carry flag
  std::vector<RegId> seen_;        // with something in writes_ or accesses_
  MissedRemarks missed_, steps_;
  std::vector<Step> chosen_;
};

// A look at what many functions lack: a sum of 64 bits in a loop whose result is an addend.
bool hasStep(const Module& module, const Function& f, const Cfg& cfg, const Loops& loops) {
  for (const InstrId id : f) {
    if (!f[id].isInstruction()) continue;
    const OpcodeForm& form = module.form(f[id]);
    if (!isAddition(form) && !isSubtraction(form)) continue;
    const auto operands = unguarded(f, id);
    const bool isStep = operands.size() == 3 && operands[0].isRegister() &&
                        std::ranges::any_of(operands.subspan(1), [&](const Operand& o) {
                          return o.isRegister() && o.payload == operands[0].payload;
                        });
    if (isStep && loops.of(cfg.blockOf(id)).valid()) return true;
  }
  return false;
}

}  // namespace

bool expandSteps(Function& f, PassContext& context) {
  if (context.costs().add64 < 2) return false;
  if (!context.hasUsableGraph() || context.analyses.loops().size() == 0) return false;
  if (!hasStep(context.module, f, context.analyses.cfg(), context.analyses.loops())) return false;
  return StepExpansion(f, context).run();
}

}  // namespace ptxopt
