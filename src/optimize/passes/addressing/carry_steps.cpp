// The form carry-steps: pointers of loops advance by 32-bit additions with carry.
//
// What:       add.s64 p, p, step  becomes an addition of the lower halves that carries and one of the upper halves.
//             ptxas does that by itself, but takes the halves of the sum for two values, and copies them to an aligned
//             pair before each access: three or four instructions an iteration. It makes the pair of halves that the
//             PTX packs in place: two.
// Algorithm:  in each loop, without those in it, sums of 64 bits whose result is also an addend, and an address in the
//             loop. It takes as many of the steps that lsr has made products with 1 as make the longest unit of an
//             iteration shortest.
// Leaves:     nothing dead: what only made the 1 of products goes with them, since no dce follows.
// Invariants: the sum is the same number modulo two to the 64. The carry flag is not live where it is written.
// Left out:   steps that are products of 32-bit numbers, which ptxas adds in one instruction; what ptxas may unroll
//             (unrolling.h), where constant steps become immediates of the accesses; pointers to shared, constant and
//             local memory, where ptxas computes 32 bits only.
// Targets:    those that add 64 bits in two instructions. (Observed on ptxas 13.0 and 13.5: sm_75 to sm_103, sm_110.)
// Declines:   by loop: irreducible, unrolled; by step: guarded, other-writes (the loop also writes the pointer
//             elsewhere), product, varies (the step is written in the loop), space (not global memory), no-access,
//             register-class, carry (the flag is live, or the loop has sums of several words, which take the predicates
//             that ptxas keeps carries in).
#include <algorithm>
#include <optional>
#include <unordered_map>

#include "ir/register_types.h"
#include "passes/addressing/address_opcodes.h"
#include "passes/addressing/form_sites.h"
#include "passes/loops/unrolling.h"
#include "passes/util/opaque_numbers.h"
#include "passes/util/unguarded.h"

namespace ptxopt {
namespace {

using target::Kind;

constexpr uint32_t kMostCarries = 2;  // instructions of a loop with the carry flag: those of a test by lsr

class StepExpansion : FunctionPass {
 public:
  StepExpansion(Function& f, PassContext& context, const FormRules& rules)
      : FunctionPass(f, context),
        loops_(context.analyses.loops()),
        rules_(rules),
        sites_(rules.sites),
        inLoop_(f.registers.size()) {}

  bool run() {
    for (const FormSites::Loop& loop : sites_.byLoop(sites_.sums())) look(loop);
    for (const Step& s : chosen_) apply(s);
    if (!chosen_.empty()) context_.count("carry-steps", chosen_.size());
    return !chosen_.empty();
  }

 private:
  struct Step {
    InstrId id;
    RegId pointer;
    Operand by;
    bool isSubtracted;
    InstrId product = {};               // that makes it in each iteration
    std::optional<uint64_t> step = {};  // the number, where it is a product of it and 1
  };
  // For a register, in the loop that is looked at.
  struct Uses {
    uint32_t writes = 0, steps = 0;
    bool isWide = false, isNarrow = false;  // spaces of accesses through it
  };

  void look(const FormSites::Loop& loop) {
    std::vector<Step> found, products, steps;
    for (const InstrId id : loop.sites) addStep(id, found);
    if (found.empty()) return;
    if (loops_[loop.id].irreducible) return sites_.missedLoops.add("irreducible");
    findUses(loop.id);
    for (const Step& s : found) ++inLoop_[s.pointer.value].steps;
    for (Step& s : found) {
      findProduct(s);
      if (const std::string_view why = whyNot(s); !why.empty())
        sites_.missedSites.add(why);
      else
        (s.product.valid() ? products : steps).push_back(s);
    }
    for (const RegId r : seen_) inLoop_[r.value] = {};
    seen_.clear();
    const bool isInnermost = loops_.isInnermost(loop.id);
    if (isInnermost) takeProducts(loop.id, products);
    if (steps.empty()) return;
    // Asked last: it takes scalar evolution.
    const Unrolling unrolling = isInnermost ? expectedUnrolling(f_, context_, loop.id) : Unrolling::Unlikely;
    if (unrolling == Unrolling::Likely) return sites_.missedLoops.add("unrolled");
    for (const Step& s : steps)
      if (unrolling == Unrolling::Possible && !s.by.isRegister())
        sites_.missedSites.add("unrolled");
      else
        chosen_.push_back(s);
  }

  void addStep(InstrId id, std::vector<Step>& found) const {
    const OpcodeForm& form = module_.form(f_[id]);
    const bool isSubtracted = isSubtraction(form);
    if (!isSubtracted && !isAddition(form)) return;
    const auto operands = unguarded(f_, id);
    if (operands.size() != 3 || !operands[0].isRegister()) return;
    for (std::size_t k = 1; k < (isSubtracted ? 2u : 3u); ++k)
      if (operands[k].isRegister() && operands[k].payload == operands[0].payload && operands[k].flags == 0)
        return found.push_back({id, operands[0].reg(), operands[3 - k], isSubtracted});
  }

  void findUses(LoopId l) {
    carries_ = 0;
    for (const BlockId b : loops_.blocks(l))
      for (const InstrId id : slots_.instructions(b)) {
        if (!f_[id].isInstruction()) continue;
        const auto operands = f_.operandsOf(f_[id]);
        bool hasCarry = false;
        for (std::size_t k = 0; k < operands.size(); ++k) {
          if (operands[k].isRegister()) {
            hasCarry |= operands[k].reg() == Function::kCarry;
            if (operands[k].writes()) ++usesOf(operands[k].reg()).writes;
          }
          if (operands[k].kind != OperandKind::Memory) continue;
          const bool isWide = isGlobalOrGeneric(module_.form(f_[id]).space);
          for (const Operand& o : operands.subspan(k + 1, operands[k].inside()))
            if (o.isRegister()) (isWide ? usesOf(o.reg()).isWide : usesOf(o.reg()).isNarrow) = true;
        }
        carries_ += hasCarry;
      }
  }
  Uses& usesOf(RegId r) {
    seen_.push_back(r);
    return inLoop_[r.value];
  }
  const Uses& in(const Operand& o) const { return inLoop_[o.payload]; }

  // The product of 32-bit numbers that an iteration adds, where it does not vary: one that lsr has made of the step.
  void findProduct(Step& s) const {
    const InstrId before = f_[s.id].previous;
    if (!s.by.isRegister() || !before.valid() || !f_[before].isInstruction()) return;
    if (!isExactlyWide(module_.form(f_[before]), Op::Mul) || f_[before].is(Instruction::Guarded)) return;
    const auto operands = f_.operandsOf(f_[before]);
    if (operands.size() != 3 || !operands[0].isRegister() || operands[0].payload != s.by.payload ||
        sites_.units().readers(s.by.reg()) != 1 || in(s.by).writes != 1)
      return;
    for (const Operand& o : operands.subspan(1))
      if (o.isRegister() ? in(o).writes != 0 : !immediate(f_, o)) return;
    s.product = before;
    // A constant by a register that holds 1 is the constant.
    if (operands[1].isRegister() && immediate(f_, operands[2]) &&
        isOpaqueOne(module_, f_, operands[1].reg(), [&](RegId r) { return sites_.units().definition(r); })) {
      const auto number = static_cast<uint32_t>(*immediate(f_, operands[2]));
      const bool isSigned = module_.form(f_[before]).type == ScalarType::s32;
      s.step = isSigned ? static_cast<uint64_t>(int64_t{static_cast<int32_t>(number)}) : number;
    }
  }

  // As many as make the longest unit of an iteration shortest. ptxas adds the upper halves on the FMA unit (IMAD.X).
  void takeProducts(LoopId l, const std::vector<Step>& steps) {
    if (steps.empty()) return;
    std::size_t count = steps.size();
    if (!rules_.isForced) {
      const UnitCycles now = sites_.units().of(l);
      count = FormSites::mostThatShorten(steps.size(), now, now.longest(0) * (1 - rules_.leastGain),
                                         [&](std::size_t, UnitCycles& u) {
                                           sites_.add(u, Kind::IntegerMultiplyWide, -1);
                                           sites_.add(u, Kind::IntegerAdd, 1);
                                           sites_.add(u, Kind::IntegerMultiply, 1);
                                         });
    }
    for (std::size_t k = count; k < steps.size(); ++k) sites_.missedSites.add("product");
    chosen_.insert(chosen_.end(), steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(count));
  }

  std::string_view whyNot(const Step& s) const {
    const Uses& pointer = inLoop_[s.pointer.value];
    if (f_[s.id].is(Instruction::Guarded)) return "guarded";
    if (pointer.writes != pointer.steps) return "other-writes";
    if (pointer.isNarrow) return "space";
    if (!pointer.isWide) return "no-access";
    if (integerBits(f_.registers[s.pointer.value]) != 64) return "register-class";
    if (s.by.isRegister()) {
      if (!isIntegerRegister(f_, s.by, 64)) return "register-class";
      if (isProduct(s.by.reg()) && !s.product.valid()) return "product";
      if (in(s.by).writes != 0 && !s.product.valid()) return "varies";
    } else if (!immediate(f_, s.by)) {
      return "register-class";
    }
    if (carries_ > kMostCarries) return "carry";
    if (sites_.units().readers(Function::kCarry) != 0 &&
        context_.analyses.liveIntervals()[Function::kCarry].isLiveAt(slots_[s.id]))
      return "carry";
    return {};
  }

  bool isProduct(RegId r) const {
    const InstrId made = sites_.units().definition(r);
    return made.valid() && isWideProduct(module_.form(f_[made]));
  }

  // {low, high} = p;  low += step's low;  high += step's high, and the carry;  p = {low, high}.
  void apply(const Step& s) {
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
      insert(SynthOpcode::MovB64, {pairOperand(Join::None), made(low), made(high, Join::Comma), useOperand(from)});
    };
    bool isSubtracted = s.isSubtracted;
    RegId low, high;
    unpack(low, high, s.pointer);
    Operand byLow, byHigh;
    if (s.by.isRegister() && !s.step) {
      RegId l, h;
      unpack(l, h, s.by.reg());
      byLow = useOperand(l);
      byHigh = useOperand(h);
    } else {
      const uint64_t number = s.step ? *s.step : *immediate(f_, s.by);
      const uint64_t by = isSubtracted ? -number : number;
      isSubtracted = false;
      byLow = integerOperand(static_cast<int32_t>(by));
      byHigh = integerOperand(static_cast<int32_t>(by >> 32));
    }
    insert(isSubtracted ? SynthOpcode::SubCcU32 : SynthOpcode::AddCcU32,
           {made(low), useOperand(low), byLow, flag(Role::Def)});
    insert(isSubtracted ? SynthOpcode::SubcU32 : SynthOpcode::AddcU32,
           {made(high), useOperand(high), byHigh, flag(Role::Use)});
    f_[s.id].payload = module_.synthOpcode(SynthOpcode::MovB64).value;
    f_.setOperands(s.id, std::vector<Operand>{made(s.pointer), pairOperand(Join::Comma),
                                              registerOperand(low, Role::Use), useOperand(high)});
    if (s.step) erase(s.product);
  }

  // ... and what only it read.
  void erase(InstrId id) {
    std::vector<RegId> read;
    for (const Operand& o : f_.operandsOf(f_[id]))
      if (o.isRegister() && o.reads()) read.push_back(o.reg());
    f_.erase(id);
    for (const RegId r : read) {
      const InstrId made = sites_.units().definition(r);
      if (++erasedReads_[r.value] == sites_.units().readers(r) && made.valid() &&
          isRemovable(module_, f_, f_[made]) &&
          std::ranges::count_if(f_.operandsOf(f_[made]), &Operand::writes) == 1)
        erase(made);
    }
  }

  const Loops& loops_;
  const FormRules& rules_;
  FormSites& sites_;
  std::vector<Uses> inLoop_;  // by RegId: in the loop that is looked at
  std::vector<RegId> seen_;   // with something in it
  uint32_t carries_ = 0;      // instructions of the loop that mention the carry flag
  std::vector<Step> chosen_;
  std::unordered_map<uint32_t, uint32_t> erasedReads_;  // by RegId
};

}  // namespace

bool carrySteps(Function& f, PassContext& context, const FormRules& rules) {
  return StepExpansion(f, context, rules).run();
}

}  // namespace ptxopt
