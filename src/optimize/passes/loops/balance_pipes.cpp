// balance-pipes: addresses by shifts in place of products, in loops that fill the FMA unit.
//
// What:       mul.wide d, x, 2^k  becomes  cvt t, x ; shl.b64 d, t, k. ptxas makes IMAD.WIDE of a product and the sum that reads
//             it, on the FMA unit, and LEA and LEA.HI.X of a shift and the sum, on the ALU.
// Algorithm:  in each innermost loop, how long a round takes the units of an SM (loop_units.h). Where that is longest for the
//             FMA unit, products move in the order of what they cost elsewhere, as many as make the longest shortest.
// Invariants: the product of a number of 32 bits, extended, and 2^k is the number extended and shifted by k: k is less than
//             32, so that no bit is lost. A number that is never negative, by its range, is extended with zeros, which is an
//             instruction less.
// Estimate:   what ptxas may put on either unit counts on none before, and on the ALU after. A loop moves products only if
//             it gains kLeastGain at least.
// Targets:    those with busy wide products (capabilities.def); all, and all products of innermost loops whatever they gain, by the knob
//             balance-pipes-everywhere.
// Cost:       linear in the loops, n log n in the products of each.
// Declines:   too-large; by loop: irreducible, not-fma (something else is longest), no-gain; by product: guarded, register-class
//             (no integer registers), factor (no power of two), other-use (something else than 64-bit sums reads it),
//             overwritten (several write the register).
#include <algorithm>
#include <bit>

#include "analysis/machine/loop_units.h"
#include "ir/register_types.h"
#include "passes/loops/address_opcodes.h"
#include "passes/util/function_pass.h"
#include "passes/util/missed_remarks.h"
#include "target/target.h"

namespace ptxopt {
namespace {

using target::Kind;
using target::Unit;

// Of an iteration of a loop, by the estimate. Until sm_80 IMAD.WIDE takes the whole FMA unit for 4 cycles; from sm_86 on half of
// it, which single precision does not need. Later targets are limited by issue or by the ALU first: on sm_90, sm_100 and sm_120
// as many loops got worse as better, or nearly.
constexpr double kLeastGain = 0.03;

class BalancePipes : FunctionPass {
 public:
  BalancePipes(Function& f, PassContext& context, const target::Machine& machine, double leastGain)
      : FunctionPass(f, context),
        loops_(context.analyses.loops()),
        machine_(machine),
        leastGain_(leastGain),
        isEverywhere_(context.knobs[Knob::BalancePipesEverywhere] != 0),
        units_(context.module, f, cfg_, context.analyses.dominators(), loops_, machine) {}

  bool run() {
    for (uint32_t l = 0; l < loops_.size(); ++l)
      if (loops_.isInnermost(LoopId(l))) look(LoopId(l));
    missed_.tell(context_, "loop");
    products_.tell(context_, "product");
    apply();
    return !chosen_.empty();
  }

 private:
  struct Product {
    InstrId id;
    unsigned shift = 0;
    bool isSigned = false;
    double share = 1, sums = 1;
  };

  void look(LoopId l) {
    if (loops_[l].irreducible) return missed_.add("irreducible");
    const UnitCycles before = units_.of(l);
    const double was = before.longest(0);
    if (!isEverywhere_ && std::max(before[Unit::Fma], before[Unit::FmaHeavy]) < was) return missed_.add("not-fma");
    std::vector<Product> products;
    for (const BlockId b : loops_.blocks(l))
      for (const InstrId id : slots_.instructions(b)) add(id, b, products);
    std::ranges::stable_sort(products, {}, [&](const Product& p) {
      UnitCycles u;
      move(p, u);
      return (u[Unit::Alu] + u[Unit::Issue]) / p.sums / p.share;
    });
    const std::size_t count = isEverywhere_ ? products.size() : best(products, before, was * (1 - leastGain_));
    if (count == 0) return missed_.add("no-gain");
    context_.count("loops");
    context_.count("products", count);
    chosen_.insert(chosen_.end(), products.begin(), products.begin() + static_cast<std::ptrdiff_t>(count));
  }

  // How many of the first products move, for the shortest round; none where none is as short as `limit`.
  std::size_t best(std::span<const Product> products, UnitCycles now, double limit) const {
    std::size_t count = 0;
    for (std::size_t k = 0; k < products.size(); ++k) {
      move(products[k], now);
      const double length = now.longest(now.either);
      if (length > limit || (length == limit && count != 0)) continue;
      count = k + 1;
      limit = length;
    }
    return count;
  }

  // What moving a product changes of a round.
  void move(const Product& p, UnitCycles& u) const {
    const double n = p.share;
    for (const target::Use& use : machine_.uses(Kind::IntegerMultiplyWide)) u[use.unit] -= use.cycles * p.sums * n;
    const auto addKind = [&](Kind kind, double times) {
      for (const target::Use& use : machine_.uses(kind)) u[use.unit] += use.cycles * times * n;
    };
    if (p.isSigned) addKind(Kind::Shift, 1);
    addKind(Kind::IntegerAdd, 2 * p.sums);
    if (p.sums > 1) addKind(Kind::Shift, 2);
  }

  void add(InstrId id, BlockId b, std::vector<Product>& products) {
    if (!f_[id].isInstruction()) return;
    const OpcodeForm& form = module_.form(f_[id]);
    if (!isExactlyWide(form, Op::Mul) || units_.isInvariant(id)) return;
    if (f_[id].is(Instruction::Guarded)) return products_.add("guarded");
    const auto operands = f_.operandsOf(f_[id]);
    if (operands.size() != 3 || !isIntegerRegister(f_, operands[0], 64) || !isIntegerRegister(f_, operands[1], 32))
      return products_.add("register-class");
    const bool isSigned = form.type == ScalarType::s32;
    const auto factor = immediate(f_, operands[2]);
    if (!factor || !std::has_single_bit(*factor) || *factor == 1 || *factor >= (isSigned ? kSign : kSign << 1))
      return products_.add("factor");
    const RegId made = operands[0].reg();
    const uint32_t sums = units_.sumsOf(made);
    if (sums == 0 || sums != units_.readers(made)) return products_.add("other-use");
    if (units_.writers(made) != 1) return products_.add("overwritten");
    Product p{id, static_cast<unsigned>(std::countr_zero(*factor)), isSigned, units_.share(b),
              static_cast<double>(sums)};
    if (p.isSigned) {
      ValueRanges& ranges = context_.analyses.valueRanges();
      const ValueId v = ranges.valueRead(operands[1].reg(), id);
      if (v.valid() && ranges.at(operands[1].reg(), v, b).isNeverNegative()) p.isSigned = false;
    }
    products.push_back(p);
  }

  void apply() {
    for (const Product& p : chosen_) {
      const auto operands = f_.operandsOf(f_[p.id]);
      const Operand result = operands[0], source = operands[1];
      const RegId extended = f_.makeRegister(ScalarType::b64);
      Operand by;
      by.kind = OperandKind::Integer;
      by.join = Join::Comma;
      by.payload = p.shift;
      f_.insert(p.id, module_.synthOpcode(p.isSigned ? SynthOpcode::CvtS64S32 : SynthOpcode::CvtU64U32),
                std::vector<Operand>{registerOperand(extended, Role::Def), source});
      Operand from = registerOperand(extended, Role::Use);
      from.join = Join::Comma;
      f_[p.id].payload = module_.synthOpcode(SynthOpcode::ShlB64).value;
      f_.setOperands(p.id, std::vector<Operand>{result, from, by});
      f_.touch(p.id);
    }
  }

  static constexpr uint64_t kSign = uint64_t{1} << 31;

  const Loops& loops_;
  const target::Machine& machine_;
  const double leastGain_;
  const bool isEverywhere_;
  LoopUnits units_;
  MissedRemarks missed_, products_;
  std::vector<Product> chosen_;
};

// A product of 32-bit numbers.
bool hasWideProducts(const Module& module, const Function& f) {
  for (const InstrId id : f)
    if (f[id].isInstruction() && isExactlyWide(module.form(f[id]), Op::Mul)) return true;
  return false;
}

}  // namespace

bool balancePipes(Function& f, PassContext& context) {
  const bool pays = context.target().has(target::Capability::BusyWideProducts);
  const bool isEverywhere = context.knobs[Knob::BalancePipesEverywhere] != 0;
  if (!pays && !isEverywhere) return false;
  if (!hasWideProducts(context.module, f) || !context.hasUsableIntervals()) return false;
  if (context.analyses.loops().size() == 0) return false;
  return BalancePipes(f, context, context.target().machine(), pays ? kLeastGain : 0).run();
}

}  // namespace ptxopt
