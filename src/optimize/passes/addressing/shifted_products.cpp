// The form shifted-products: addresses by shifts instead of products, in loops that fill the FMA unit.
//
// What:       mul.wide d, x, 2^k  becomes  cvt t, x ; shl.b64 d, t, k. ptxas makes IMAD.WIDE of a product and the sum that reads
//             it, on the FMA unit, and LEA and LEA.HI.X of a shift and the sum, on the ALU.
// Algorithm:  in each innermost loop where the FMA unit takes longest, products move in the order of what they cost elsewhere, as
//             many as make the longest unit shortest.
// Invariants: the product of a number of 32 bits, extended, and 2^k is the number extended and shifted by k: k is less than
//             32, so that no bit is lost. A number that is never negative, by its range, is extended with zeros, which is an
//             instruction less.
// Estimate:   what ptxas may put on either unit counts on none before, and on the ALU after. Until sm_80 IMAD.WIDE takes the whole FMA
//             unit for 4 cycles; from sm_86 on half of it, which single precision does not need. Later targets are limited by
//             issue or by the ALU first: on sm_90, sm_100 and sm_120 as many loops got worse as better, or nearly.
// Declines:   by loop: irreducible, not-fma (something else is longest), no-gain; by product: guarded, register-class
//             (no integer registers), factor (no power of two), other-use (something else than 64-bit sums reads it),
//             overwritten (several write the register).
#include <algorithm>
#include <bit>

#include "ir/register_types.h"
#include "passes/addressing/address_opcodes.h"
#include "passes/addressing/form_sites.h"

namespace ptxopt {
namespace {

using target::Kind;
using target::Unit;

class ProductShifts : FunctionPass {
 public:
  ProductShifts(Function& f, PassContext& context, const FormRules& rules)
      : FunctionPass(f, context), rules_(rules), sites_(rules.sites), units_(sites_.units()) {}

  bool run(std::span<const FormSites::Loop> loops) {
    for (const FormSites::Loop& loop : loops) look(loop);
    for (const Product& p : chosen_) apply(p);
    if (!chosen_.empty()) context_.count("shifted-products", chosen_.size());
    return !chosen_.empty();
  }

 private:
  struct Product {
    InstrId id;
    unsigned shift = 0;
    bool isSigned = false;
    double share = 1, sums = 1;
  };

  void look(const FormSites::Loop& loop) {
    if (context_.analyses.loops()[loop.id].irreducible) return sites_.missedLoops.add("irreducible");
    const UnitCycles before = units_.of(loop.id);
    const double was = before.longest(0);
    if (!rules_.isForced && std::max(before[Unit::Fma], before[Unit::FmaHeavy]) < was)
      return sites_.missedLoops.add("not-fma");
    std::vector<Product> products;
    for (const InstrId id : loop.sites) add(id, products);
    std::ranges::stable_sort(products, {}, [&](const Product& p) {
      UnitCycles u;
      move(p, u);
      return (u[Unit::Alu] + u[Unit::Issue]) / p.sums / p.share;
    });
    const std::size_t count =
        rules_.isForced ? products.size()
                        : FormSites::mostThatShorten(products.size(), before, was * (1 - rules_.leastGain),
                                                     [&](std::size_t k, UnitCycles& u) { move(products[k], u); });
    if (count == 0) return sites_.missedLoops.add("no-gain");
    chosen_.insert(chosen_.end(), products.begin(), products.begin() + static_cast<std::ptrdiff_t>(count));
  }

  // What moving a product changes of an iteration.
  void move(const Product& p, UnitCycles& u) const {
    sites_.add(u, Kind::IntegerMultiplyWide, -p.sums * p.share);
    if (p.isSigned) sites_.add(u, Kind::Shift, p.share);
    sites_.add(u, Kind::IntegerAdd, 2 * p.sums * p.share);
    if (p.sums > 1) sites_.add(u, Kind::Shift, 2 * p.share);
  }

  void add(InstrId id, std::vector<Product>& products) {
    if (module_.form(f_[id]).op != Op::Mul || units_.isInvariant(id)) return;
    Product p{id};
    if (const std::string_view why = whyNot(p); !why.empty()) return sites_.missedSites.add(why);
    products.push_back(p);
  }

  std::string_view whyNot(Product& p) const {
    if (f_[p.id].is(Instruction::Guarded)) return "guarded";
    const auto operands = f_.operandsOf(f_[p.id]);
    if (operands.size() != 3 || !isIntegerRegister(f_, operands[0], 64) || !isIntegerRegister(f_, operands[1], 32))
      return "register-class";
    p.isSigned = module_.form(f_[p.id]).type == ScalarType::s32;
    const auto factor = immediate(f_, operands[2]);
    if (!factor || !std::has_single_bit(*factor) || *factor == 1 || *factor >= (p.isSigned ? kSign : kSign << 1))
      return "factor";
    const RegId made = operands[0].reg();
    const uint32_t sums = units_.sumsOf(made);
    if (sums == 0 || sums != units_.readers(made)) return "other-use";
    if (units_.writers(made) != 1) return "overwritten";
    const BlockId b = cfg_.blockOf(p.id);
    p.shift = static_cast<unsigned>(std::countr_zero(*factor));
    p.share = units_.share(b);
    p.sums = static_cast<double>(sums);
    if (p.isSigned) {
      ValueRanges& ranges = context_.analyses.valueRanges();
      const ValueId v = ranges.valueRead(operands[1].reg(), p.id);
      if (v.valid() && ranges.at(operands[1].reg(), v, b).isNeverNegative()) p.isSigned = false;
    }
    return {};
  }

  void apply(const Product& p) {
    const auto operands = f_.operandsOf(f_[p.id]);
    const Operand result = operands[0], source = operands[1];
    const RegId extended = f_.makeRegister(ScalarType::b64);
    f_.insert(p.id, module_.synthOpcode(p.isSigned ? SynthOpcode::CvtS64S32 : SynthOpcode::CvtU64U32),
              std::vector<Operand>{defOperand(extended), source});
    f_[p.id].payload = module_.synthOpcode(SynthOpcode::ShlB64).value;
    f_.setOperands(
        p.id, std::vector<Operand>{result, useOperand(extended), integerOperand(static_cast<int32_t>(p.shift))});
  }

  static constexpr uint64_t kSign = uint64_t{1} << 31;

  const FormRules& rules_;
  FormSites& sites_;
  LoopUnits& units_;
  std::vector<Product> chosen_;
};

}  // namespace

bool shiftedProducts(Function& f, PassContext& context, const FormRules& rules) {
  const std::vector<FormSites::Loop> loops = rules.sites.byInnermostLoop(rules.sites.products());
  return !loops.empty() && ProductShifts(f, context, rules).run(loops);
}

}  // namespace ptxopt
