// hold-parameters: parameters that conditional parts of a loop add to stay in registers.
//
// What:       from sm_90 on IMAD.WIDE takes no number beside a constant, so that ptxas loads a parameter into a register before it
//             adds a product to it. It moves that load out of a loop, but not out of what the loop may skip: of eight checked
//             accesses to two arrays become sixteen loads a round. Such an addition reads a copy of the parameter, made before
//             the outermost loop around it by adding a zero of which ptxas does not know that it is one (opaque_numbers.h).
// Algorithm:  in each innermost loop, the registers that hold a 64-bit parameter, or the global address of one, and in how many
//             blocks that some round skips an addition reads each. Those read in two blocks and more are held.
// Invariants: the register has one definition, which dominates the place of the copy. The sum with zero is the same number.
// Estimate:   a load takes the constant unit as the model of time has it, and a cycle of issue, in each such block. The loop
//             is changed if its longest unit (loop_units.h) gets shorter by kLeastGain.
// Targets:    from sm_90 on; all, whatever is gained, by the knob hold-parameters-everywhere.
// Cost:       linear in the loops.
// Declines:   too-large; by loop, where some loop of the function has two such sums: hidden-names (a scope declares a special register anew), irreducible, no-preheader, no-parameter
//             (none is read so in two blocks), no-gain, register-pressure.
#include <algorithm>
#include <optional>

#include "analysis/machine/loop_units.h"
#include "ir/register_types.h"
#include "passes/loops/address_opcodes.h"
#include "passes/util/function_pass.h"
#include "passes/util/insertion_places.h"
#include "passes/util/loop_register_budget.h"
#include "passes/util/missed_remarks.h"
#include "passes/util/opaque_numbers.h"
#include "passes/util/parameter_values.h"
#include "passes/util/register_scopes.h"
#include "target/target.h"

namespace ptxopt {
namespace {

using target::Kind;
using target::Unit;

constexpr double kLeastGain = 0.05;  // of a round
constexpr uint32_t kLeastBlocks = 2;

class ParameterHolding : FunctionPass {
 public:
  ParameterHolding(Function& f, PassContext& context)
      : FunctionPass(f, context),
        loops_(context.analyses.loops()),
        dominators_(context.analyses.dominators()),
        machine_(context.target().machine()),
        isEverywhere_(context.knobs[Knob::HoldParametersEverywhere] != 0),
        units_(context.module, f, cfg_, dominators_, loops_, machine_),
        budget_(f, context),
        reaches_(context.module, f) {}

  bool run() {
    for (uint32_t l = 0; l < loops_.size(); ++l)
      if (loops_.isInnermost(LoopId(l))) look(LoopId(l));
    missed_.tell(context_, "loop");
    apply();
    return !plans_.empty();
  }

 private:
  // An addition in the loop that reads a parameter.
  struct Read {
    InstrId id;
    uint32_t operand;  // of the instruction
    BlockId block;
  };
  struct Held {
    RegId parameter;
    InstrId place;  // of the copy
    std::vector<Read> reads;
    uint32_t blocks = 0;  // that some round skips
  };

  void look(LoopId l) {
    if (f_.hidesSpecialRegisters) return missed_.add("hidden-names");
    if (loops_[l].irreducible) return missed_.add("irreducible");
    std::vector<Held> all = readParameters(l);
    std::erase_if(all, [](const Held& h) { return h.blocks < kLeastBlocks; });
    if (all.empty()) return missed_.add("no-parameter");
    for (Held& h : all)
      if (!findPlace(h, l)) return missed_.add("no-preheader");
    uint32_t loads = 0;
    for (const Held& h : all) loads += h.blocks;
    if (!isEverywhere_ && !gains(units_.of(l), loads)) return missed_.add("no-gain");
    if (!budget_.has(l, static_cast<int>(2 * all.size()))) return missed_.add("register-pressure");
    context_.count("loops");
    context_.count("parameters", all.size());
    std::ranges::move(all, std::back_inserter(plans_));
  }

  bool gains(const UnitCycles& after, uint32_t loads) const {
    UnitCycles before = after;
    for (const target::Use& use : machine_.uses(Kind::ConstantLoad)) before[use.unit] += use.cycles * loads;
    return after.longest(0) <= before.longest(0) * (1 - kLeastGain);
  }

  std::vector<Held> readParameters(LoopId l) {
    std::vector<Held> all;
    units_.enter(l);
    for (const BlockId b : loops_.blocks(l)) {
      const bool isSkipped = !units_.isEveryRound(b);
      for (const InstrId id : slots_.instructions(b))
        for (const uint32_t k : addends(id)) {
          const RegId reg = f_.operandsOf(f_[id])[k].reg();
          if (!isParameter(reg)) continue;
          auto held = std::ranges::find(all, reg, &Held::parameter);
          if (held == all.end()) held = all.insert(all.end(), Held{reg, {}, {}, 0});
          if (isSkipped && (held->reads.empty() || held->reads.back().block != b)) ++held->blocks;
          held->reads.push_back({id, k, b});
        }
    }
    return all;
  }

  // The operands of a 64-bit sum that are plain registers.
  std::vector<uint32_t> addends(InstrId id) const {
    std::vector<uint32_t> found;
    const Instruction& i = f_[id];
    if (!i.isInstruction() || i.is(Instruction::Guarded)) return found;
    const OpcodeForm& form = module_.form(i);
    const auto operands = f_.operandsOf(i);
    const uint32_t count = isAddition(form) ? 3 : isExactlyWide(form, Op::Mad) ? 4 : 0;
    if (count == 0 || operands.size() != count) return found;
    for (uint32_t k = count == 3 ? 1 : 3; k < count; ++k)
      if (operands[k].isRegister() && operands[k].flags == 0) found.push_back(k);
    return found;
  }

  bool isParameter(RegId reg) const {
    return isParameterValue(module_, f_, reg, [&](RegId r) {
      const InstrId id = units_.definition(r);
      return id.valid() && slots_[id].valid() ? id : InstrId();
    });
  }

  // Before the outermost loop that the parameter is known before.
  bool findPlace(Held& h, LoopId l) {
    const BlockId home = cfg_.blockOf(units_.definition(h.parameter));
    for (; l.valid() && !loops_[l].irreducible; l = loops_[l].parent) {
      const BlockId entry = loops_.entry(cfg_, l);
      if (!entry.valid() || loops_.contains(l, entry) || !dominators_.dominates(home, entry)) break;
      const InstrId place = placeAtEnd(module_, f_, cfg_[entry]);
      if (!place.valid() || !reaches_(h.parameter, place)) break;
      h.place = place;
    }
    return h.place.valid();
  }

  void apply() {
    if (plans_.empty()) return;
    // Of several loops that hold the same parameter from the same place on, one copy.
    std::ranges::stable_sort(plans_, {}, [](const Held& h) { return std::pair(h.place, h.parameter); });
    InstrId after;
    const RegId zero = makeOpaque(f_, context_, 0, Purpose::Zero, Opaque::Uniform, after);
    RegId copy;
    for (std::size_t k = 0; k < plans_.size(); ++k) {
      const Held& h = plans_[k];
      if (k == 0 || h.place != plans_[k - 1].place || h.parameter != plans_[k - 1].parameter)
        copy = addZero(h.parameter, zero, h.place);
      for (const Read& r : h.reads) {
        Operand& o = f_.operands[f_[r.id].firstOperand + r.operand];
        o = registerOperand(copy, Role::Use, o.join);
        f_.touch(r.id);
      }
    }
  }

  // As a product and its sum, which ptxas makes one instruction of.
  RegId addZero(RegId parameter, RegId zero, InstrId place) {
    const RegId product = f_.makeRegister(ScalarType::b64, 1, Purpose::Product);
    const RegId copy = f_.makeRegister(ScalarType::b64);
    const auto used = [](RegId r) { return registerOperand(r, Role::Use, Join::Comma); };
    f_.insert(place, module_.synthOpcode(SynthOpcode::MulWideS32),
              std::vector<Operand>{registerOperand(product, Role::Def), used(zero), integerOperand(4)});
    f_.insert(place, module_.synthOpcode(SynthOpcode::AddS64),
              std::vector<Operand>{registerOperand(copy, Role::Def), used(parameter), used(product)});
    return copy;
  }

  const Loops& loops_;
  const DominatorTree& dominators_;
  const target::Machine& machine_;
  const bool isEverywhere_;
  LoopUnits units_;
  LoopRegisterBudget budget_;
  RegisterReach reaches_;
  MissedRemarks missed_;
  std::vector<Held> plans_;
};

// A look at what hardly any function has: an innermost loop of several blocks with two sums of what is loaded from parameters above
// it in the text.
bool mayHold(const Module& module, const Function& f, const Cfg& cfg, const Loops& loops) {
  std::vector<bool> hasSeveral(loops.size());
  bool any = false;
  for (uint32_t l = 0; l < loops.size(); ++l)
    if (loops.isInnermost(LoopId(l)) && loops.blocks(LoopId(l)).size() > 2) any = hasSeveral[l] = true;
  if (!any) return false;
  std::vector<bool> isParameter(f.registers.size()), isAdded(f.registers.size());
  for (const InstrId id : f) {
    if (!f[id].isInstruction()) continue;
    const OpcodeForm& form = module.form(f[id]);
    if ((form.op == Op::Ld && isParameterLoad(form)) || isFreeCopy(form)) {
      const auto operands = f.operandsOf(f[id]);
      if (operands.size() >= 2 && operands[0].isRegister() &&
          (form.op == Op::Ld || (operands[1].isRegister() && isParameter[operands[1].payload])))
        isParameter[operands[0].payload] = true;
    } else if (isAddition(form) || isExactlyWide(form, Op::Mad)) {
      const LoopId l = loops.of(cfg.blockOf(id));
      if (!l.valid() || !hasSeveral[l.value]) continue;
      for (const Operand& o : f.operandsOf(f[id])) {
        if (!o.isRegister() || !o.reads() || !isParameter[o.payload]) continue;
        if (isAdded[o.payload]) return true;
        isAdded[o.payload] = true;
      }
    }
  }
  return false;
}

}  // namespace

bool holdParameters(Function& f, PassContext& context) {
  const bool isEverywhere = context.knobs[Knob::HoldParametersEverywhere] != 0;
  if (!f.isEntry || (!isEverywhere && !context.target().has(target::Capability::ParametersInRegisters)))
    return false;
  if (!context.hasUsableGraph() || context.analyses.loops().size() == 0) return false;
  if (!mayHold(context.module, f, context.analyses.cfg(), context.analyses.loops())) return false;
  if (!context.hasUsableIntervals()) return false;
  return ParameterHolding(f, context).run();
}

}  // namespace ptxopt
