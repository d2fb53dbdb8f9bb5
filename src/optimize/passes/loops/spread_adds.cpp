// spread-adds: 32-bit additions become products with 1, in loops that fill the ALU.
//
// What:       add d, a, b  becomes  mad.lo d, a, one, b. Of `one` ptxas does not know that it is 1 (opaque_numbers.h). ptxas makes
//             IADD3 of additions, on the ALU, which also has logic, shifts and comparisons; of a product and a sum it makes IMAD,
//             on the FMA unit, which hashes leave idle.
// Algorithm:  for each loop, without those in it, how long a round takes the units of an SM (loop_units.h). Where that is longest
//             for the ALU, additions move in the order of the text, as many as make the longest unit shortest. What ptxas may put
//             on either unit counts on the ALU: it leaves most of it there, and where it does not, moving it changes nothing.
// Invariants: a * 1 + b is a + b modulo two to the 32, whatever a and b are.
// Left out:   sums of a product (IMAD), of a shift (LEA), and of a selection (a guarded sum).
// Cost:       linear in the loops; scalar evolution where the ALU takes longest.
// Declines:   too-large, hidden-names (a scope declares a special register anew); by loop: irreducible, not-alu (something else is
//             longest), no-gain; by addition: guarded, register-class (no integer registers), counter (it moves with the
//             rounds of a loop: ptxas would not know how often that goes round), address (an address is made of it).
#include <algorithm>

#include "analysis/machine/loop_units.h"
#include "ir/register_types.h"
#include "passes/loops/address_opcodes.h"
#include "passes/util/function_pass.h"
#include "passes/util/missed_remarks.h"
#include "passes/util/opaque_numbers.h"
#include "target/target.h"

namespace ptxopt {
namespace {

using target::Kind;
using target::Unit;

bool isSum32(const OpcodeForm& form) {
  return form.isExactly(Op::Add, ScalarType::s32) || form.isExactly(Op::Add, ScalarType::u32);
}

class SpreadAdds : FunctionPass {
 public:
  SpreadAdds(Function& f, PassContext& context, const target::Machine& machine)
      : FunctionPass(f, context),
        loops_(context.analyses.loops()),
        machine_(machine),
        units_(context.module, f, cfg_, context.analyses.dominators(), loops_, machine),
        isAddress_(f.registers.size()),
        isMoved_(f.instructions.size()) {}

  bool run() {
    findAddresses();
    for (uint32_t l = 0; l < loops_.size(); ++l) look(LoopId(l));
    missed_.tell(context_, "loop");
    additions_.tell(context_, "addition");
    apply();
    return !chosen_.empty();
  }

 private:
  // Registers of which addresses are made: by an access, or by an extension to 64 bits.
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
    if (loops_[l].irreducible) return missed_.add("irreducible");
    UnitCycles now = units_.withoutInner(l);
    double best = now.longest(now.either);
    if (now[Unit::Alu] + now.either < best) return missed_.add("not-alu");
    std::vector<InstrId> moved;
    std::size_t count = 0;
    for (const BlockId b : loops_.blocks(l)) {
      if (loops_.of(b) != l) continue;
      for (const InstrId id : slots_.instructions(b)) {
        if (!f_[id].isInstruction() || !isSum32(module_.form(f_[id])) || !isOnAlu(id)) continue;
        if (const std::string_view why = whyNot(id); !why.empty()) {
          additions_.add(why);
          continue;
        }
        move(id, units_.share(b), now);
        moved.push_back(id);
        const double length = now.longest(now.either);
        if (length >= best) continue;
        best = length;
        count = moved.size();
      }
    }
    if (count == 0) return missed_.add("no-gain");
    context_.count("loops");
    context_.count("additions", count);
    chosen_.insert(chosen_.end(), moved.begin(), moved.begin() + static_cast<std::ptrdiff_t>(count));
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

  // What moving an addition changes of a round. Of an IADD3, which is two, the one that moves first leaves the other one where it
  // was.
  void move(InstrId id, double share, UnitCycles& u) {
    isMoved_[id.value] = true;
    const bool leavesOther = units_.isAbsorbed(id) || (units_.absorbs(id) && !hasMovedPart(id));
    for (const target::Use& use : machine_.uses(Kind::IntegerMultiply)) u[use.unit] += use.cycles * share;
    if (leavesOther) return;
    const bool isEither = !units_.absorbs(id) && std::ranges::all_of(f_.operandsOf(f_[id]), &Operand::isRegister);
    for (const target::Use& use : machine_.uses(Kind::IntegerAdd))
      (use.unit == Unit::Alu && isEither ? u.either : u[use.unit]) -= use.cycles * share;
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
      f_.setOperands(id, std::vector<Operand>{to, left, registerOperand(one, Role::Use, Join::Comma), right});
      f_.touch(id);
    }
  }

  const Loops& loops_;
  const target::Machine& machine_;
  LoopUnits units_;
  std::vector<bool> isAddress_;  // by RegId
  std::vector<bool> isMoved_;    // by InstrId
  MissedRemarks missed_, additions_;
  std::vector<InstrId> chosen_;
};

}  // namespace

bool spreadAdds(Function& f, PassContext& context) {
  if (f.hidesSpecialRegisters) {
    context.decline("hidden-names");
    return false;
  }
  if (!context.hasUsableIntervals() || context.analyses.loops().size() == 0) return false;
  return SpreadAdds(f, context, context.target().machine()).run();
}

}  // namespace ptxopt
