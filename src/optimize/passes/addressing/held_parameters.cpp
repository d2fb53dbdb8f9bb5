// The form held-parameters: parameters that conditional parts of a loop add to stay in registers.
//
// What:       from sm_90 on IMAD.WIDE takes no number beside a constant, so that ptxas loads a parameter into a
//             register before it adds a product to it. It moves that load out of a loop, but not out of what the loop
//             may skip: of eight checked accesses to two arrays become sixteen loads an iteration. Such an addition
//             reads a copy of the parameter, made before the outermost loop around it by adding a zero that ptxas does
//             not know to be one (opaque_numbers.h).
// Algorithm:  in each innermost loop, the registers that hold a 64-bit parameter, or the global address of one, and in
//             how many blocks that some iteration skips an addition reads each. Those read in two blocks and more are
//             held.
// Invariants: the register has one definition, which dominates the place of the copy. The sum with zero is the same
// number.
// Estimate:   a load takes the constant unit as the model of time has it, and a cycle of issue, in each such block.
// Targets:    from sm_90 on.
// Declines:   too-large; by loop: hidden-names (a scope declares a special register anew), irreducible, no-preheader,
//             no-parameter (none is read so in two blocks), no-gain, register-pressure.
#include <algorithm>

#include "ir/register_types.h"
#include "passes/addressing/address_opcodes.h"
#include "passes/addressing/form_sites.h"
#include "passes/util/insertion_places.h"
#include "passes/util/loop_register_budget.h"
#include "passes/util/opaque_numbers.h"
#include "passes/util/parameter_values.h"
#include "passes/util/register_scopes.h"

namespace ptxopt {
namespace {

constexpr uint32_t kLeastBlocks = 2;

class ParameterHolding : FunctionPass {
 public:
  ParameterHolding(Function& f, PassContext& context, const FormRules& rules)
      : FunctionPass(f, context),
        loops_(context.analyses.loops()),
        dominators_(context.analyses.dominators()),
        rules_(rules),
        sites_(rules.sites),
        units_(sites_.units()),
        budget_(f, context),
        reaches_(context.module, f) {}

  bool run(std::span<const FormSites::Loop> loops) {
    for (const FormSites::Loop& loop : loops) look(loop);
    apply();
    if (!held_.empty()) context_.count("held-parameters", held_.size());
    return !held_.empty();
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
    uint32_t blocks = 0;  // that some iteration skips
  };

  void look(const FormSites::Loop& loop) {
    if (f_.hidesSpecialRegisters) return sites_.missedLoops.add("hidden-names");
    if (loops_[loop.id].irreducible) return sites_.missedLoops.add("irreducible");
    std::vector<Held> all = readParameters(loop);
    std::erase_if(all, [](const Held& h) { return h.blocks < kLeastBlocks; });
    if (all.empty()) return sites_.missedLoops.add("no-parameter");
    uint32_t loads = 0;
    for (Held& h : all) {
      if (!findPlace(h, loop.id)) return sites_.missedLoops.add("no-preheader");
      loads += h.blocks;
    }
    if (!rules_.isForced && !gains(loop.id, loads)) return sites_.missedLoops.add("no-gain");
    if (!budget_.has(loop.id, static_cast<int>(2 * all.size()))) return sites_.missedLoops.add("register-pressure");
    std::ranges::move(all, std::back_inserter(held_));
  }

  bool gains(LoopId l, uint32_t loads) const {
    const UnitCycles after = units_.of(l);
    UnitCycles before = after;
    sites_.add(before, target::Kind::ConstantLoad, loads);
    return after.longest(0) <= before.longest(0) * (1 - rules_.leastGain);
  }

  std::vector<Held> readParameters(const FormSites::Loop& loop) {
    std::vector<Held> all;
    units_.enter(loop.id);
    for (const InstrId id : loop.sites)
      for (const uint32_t k : addends(id)) {
        const RegId reg = f_.operandsOf(f_[id])[k].reg();
        if (!isParameter(reg)) continue;
        const BlockId b = cfg_.blockOf(id);
        auto held = std::ranges::find(all, reg, &Held::parameter);
        if (held == all.end()) held = all.insert(all.end(), Held{reg, {}, {}, 0});
        const bool isNew = held->reads.empty() || held->reads.back().block != b;
        if (isNew && !units_.isEveryIteration(b)) ++held->blocks;
        held->reads.push_back({id, k, b});
      }
    return all;
  }

  // The operands of a 64-bit sum that are plain registers.
  std::vector<uint32_t> addends(InstrId id) const {
    std::vector<uint32_t> found;
    const auto operands = f_.operandsOf(f_[id]);
    const uint32_t count = isAddition(module_.form(f_[id])) ? 3 : module_.form(f_[id]).op == Op::Mad ? 4 : 0;
    if (f_[id].is(Instruction::Guarded) || operands.size() != count) return found;
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
      if (!entry.valid() || !dominators_.dominates(home, entry)) break;
      const InstrId place = placeAtEnd(module_, f_, cfg_[entry]);
      if (!place.valid() || !reaches_(h.parameter, place)) break;
      h.place = place;
    }
    return h.place.valid();
  }

  void apply() {
    if (held_.empty()) return;
    // One copy for several loops that hold the same parameter from the same place on.
    std::ranges::stable_sort(held_, {}, [](const Held& h) { return std::pair(h.place, h.parameter); });
    InstrId after;
    const RegId zero = makeOpaque(f_, context_, 0, NameHint::Zero, Opaque::Uniform, after);
    RegId copy;
    for (std::size_t k = 0; k < held_.size(); ++k) {
      const Held& h = held_[k];
      if (k == 0 || h.place != held_[k - 1].place || h.parameter != held_[k - 1].parameter)
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
    const RegId product = f_.makeRegister(ScalarType::b64, 1, NameHint::Product);
    const RegId copy = f_.makeRegister(ScalarType::b64);
    f_.insert(place, module_.synthOpcode(SynthOpcode::MulWideS32),
              std::vector<Operand>{defOperand(product), useOperand(zero), integerOperand(4)});
    f_.insert(place, module_.synthOpcode(SynthOpcode::AddS64),
              std::vector<Operand>{defOperand(copy), useOperand(parameter), useOperand(product)});
    return copy;
  }

  const Loops& loops_;
  const DominatorTree& dominators_;
  const FormRules& rules_;
  FormSites& sites_;
  LoopUnits& units_;
  LoopRegisterBudget budget_;
  RegisterReach reaches_;
  std::vector<Held> held_;
};

}  // namespace

bool heldParameters(Function& f, PassContext& context, const FormRules& rules) {
  if (!f.isEntry) return false;
  std::vector<FormSites::Loop> loops = rules.sites.byInnermostLoop(rules.sites.sums());
  // A loop of one block, with or without a branch back of its own, skips nothing.
  std::erase_if(loops, [&](const FormSites::Loop& l) {
    return l.sites.size() < kLeastBlocks || context.analyses.loops().blocks(l.id).size() <= 2;
  });
  return !loops.empty() && ParameterHolding(f, context, rules).run(loops);
}

}  // namespace ptxopt
