// The form spread-sums: 32-bit sums become products with 1, in loops that fill the ALU.
//
// What:       add d, a, b  becomes  mad.lo d, a, one, b. ptxas does not know that `one` is 1 (opaque_numbers.h). ptxas
//             makes IADD3 of additions, on the ALU, which also has logic, shifts and comparisons; of a product and a
//             sum it makes IMAD, on the FMA unit, which hashes leave idle.
// Algorithm:  in each loop, without those in it, where the ALU takes longest, additions move in the order of the text,
//             as many as make the longest unit shortest. What ptxas may put on either unit counts on the ALU: it leaves
//             most of it there, and where it does not, moving it changes nothing.
// Invariants: a * 1 + b is a + b modulo two to the 32, whatever a and b are.
// Left out:   sums of a product (IMAD), of a shift (LEA), and of a selection (a guarded sum).
// Targets:    none by itself: the variant `spread` of tune tries it.
// Declines:   too-large, hidden-names (a scope declares a special register anew); by loop: irreducible, not-alu
//             (something else is longest), no-gain; by addition: guarded, register-class (no integer registers),
//             counter (it moves with the iterations of a loop: ptxas would not know how many there are), address (an
//             address is made of it).
#include <algorithm>
#include <utility>

#include "ir/register_types.h"
#include "passes/addressing/form_sites.h"
#include "passes/util/opaque_numbers.h"

namespace ptxopt {
namespace {

using target::Kind;
using target::Unit;

bool isSum32(const OpcodeForm& form) {
  return form.isExactly(Op::Add, ScalarType::s32) || form.isExactly(Op::Add, ScalarType::u32);
}

class SumSpreading : FunctionPass {
 public:
  SumSpreading(Function& f, PassContext& context, const FormRules& rules)
      : FunctionPass(f, context),
        loops_(context.analyses.loops()),
        rules_(rules),
        sites_(rules.sites),
        units_(sites_.units()),
        isAddress_(f.registers.size()),
        isMoved_(f.instructions.size()) {}

  bool run() {
    findAddresses();
    for (uint32_t l = 0; l < loops_.size(); ++l) look(LoopId(l));
    apply();
    if (!chosen_.empty()) context_.count("spread-sums", chosen_.size());
    return !chosen_.empty();
  }

 private:
  // Registers that addresses are made from: by an access, or by an extension to 64 bits.
  void findAddresses() {
    for (const InstrId id : f_) {
      if (!f_[id].isInstruction()) continue;
      const OpcodeForm& form = module_.form(f_[id]);
      const auto operands = f_.operandsOf(f_[id]);
      const bool widens = form.half == ProductHalf::Wide || (form.op == Op::Cvt && info(form.type).bits == 64);
      for (std::size_t k = 0; k < operands.size(); ++k) {
        if (operands[k].kind == OperandKind::Memory)
          for (const Operand& part : operands.subspan(k + 1, operands[k].inside()))
            if (part.isRegister()) isAddress_[part.payload] = true;
        if (widens && operands[k].isRegister() && operands[k].reads()) isAddress_[operands[k].payload] = true;
      }
    }
  }

  void look(LoopId l) {
    if (context_.isDeclined(loops_[l].header)) return;
    if (loops_[l].irreducible) return sites_.missedLoops.add("irreducible");
    const UnitCycles now = units_.withoutInner(l);
    const double was = now.longest(now.either);
    if (!rules_.isForced && now[Unit::Alu] + now.either < was) return sites_.missedLoops.add("not-alu");
    std::vector<InstrId> sums;
    for (const BlockId b : loops_.blocks(l)) {
      if (loops_.of(b) != l) continue;
      for (const InstrId id : slots_.instructions(b)) {
        if (!f_[id].isInstruction() || !isSum32(module_.form(f_[id])) || !isOnAlu(id)) continue;
        if (const std::string_view why = whyNot(id); !why.empty())
          sites_.missedSites.add(why);
        else
          sums.push_back(id);
      }
    }
    const std::size_t count =
        rules_.isForced ? sums.size()
                        : FormSites::mostThatShorten(sums.size(), now, was,
                                                     [&](std::size_t k, UnitCycles& u) { move(sums[k], u); });
    if (count == 0) return sites_.missedLoops.add("no-gain");
    chosen_.insert(chosen_.end(), sums.begin(), sums.begin() + static_cast<std::ptrdiff_t>(count));
  }

  // Not a sum of a product, of a shift, or of a selection.
  bool isOnAlu(InstrId id) const {
    if (units_.isInvariant(id) || units_.isFused(id)) return false;
    return std::ranges::none_of(f_.operandsOf(f_[id]), [&](const Operand& o) {
      const InstrId made = o.isRegister() && o.reads() ? units_.definition(o.reg()) : InstrId();
      if (!made.valid()) return false;
      const Op op = module_.form(f_[made]).op;
      return op == Op::Shl || op == Op::Selp;
    });
  }

  std::string_view whyNot(InstrId id) const {
    if (f_[id].is(Instruction::Guarded)) return "guarded";
    const auto operands = f_.operandsOf(f_[id]);
    if (operands.size() != 3 || !isIntegerRegister(f_, operands[0], 32) ||
        !isIntegerRegister(f_, operands[1], 32) ||
        (!isIntegerRegister(f_, operands[2], 32) && !immediate(f_, operands[2])))
      return "register-class";
    if (isAddress_[operands[0].payload]) return "address";
    ScalarEvolution& evolution = context_.analyses.scalarEvolution();
    const ExprId sum = evolution.written(operands[0].reg(), id);
    if (sum.valid() && evolution.expressions()[sum].kind == ExprKind::Recurrence) return "counter";
    return {};
  }

  // What moving an addition changes of an iteration. An IADD3 is two of them, and the one that moves first leaves the
  // other where it was.
  void move(InstrId id, UnitCycles& u) {
    isMoved_[id.value] = true;
    const double share = units_.share(cfg_.blockOf(id));
    sites_.add(u, Kind::IntegerMultiply, share);
    if (units_.isAbsorbed(id) || (units_.absorbs(id) && !hasMovedPart(id))) return;
    UnitCycles spared;
    sites_.add(spared, Kind::IntegerAdd, share);
    if (!units_.absorbs(id) && std::ranges::all_of(f_.operandsOf(f_[id]), &Operand::isRegister))
      u.either -= std::exchange(spared[Unit::Alu], 0);
    for (std::size_t k = 0; k < u.cycles.size(); ++k) u.cycles[k] -= spared.cycles[k];
  }

  bool hasMovedPart(InstrId id) const {
    return std::ranges::any_of(f_.operandsOf(f_[id]), [&](const Operand& o) {
      const InstrId made = o.isRegister() && o.reads() ? units_.definition(o.reg()) : InstrId();
      return made.valid() && isMoved_[made.value];
    });
  }

  void apply() {
    if (chosen_.empty()) return;
    InstrId after;
    const RegId one = makeOne(f_, context_, after);
    for (const InstrId id : chosen_) {
      const auto sum = f_.operandsOf(f_[id]);
      const Operand to = sum[0], left = sum[1], right = sum[2];
      f_[id].payload = module_.synthOpcode(SynthOpcode::MadLoU32).value;
      f_.setOperands(id, std::vector<Operand>{to, left, useOperand(one), right});
    }
  }

  const Loops& loops_;
  const FormRules& rules_;
  FormSites& sites_;
  LoopUnits& units_;
  std::vector<bool> isAddress_;  // by RegId
  std::vector<bool> isMoved_;    // by InstrId
  std::vector<InstrId> chosen_;
};

}  // namespace

bool spreadSums(Function& f, PassContext& context, const FormRules& rules) {
  if (f.hidesSpecialRegisters) {
    context.decline("hidden-names", "spread-sums");
    return false;
  }
  return SumSpreading(f, context, rules).run();
}

}  // namespace ptxopt
