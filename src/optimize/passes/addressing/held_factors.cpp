// The form held-factors: the size of an element stays in a register where ptxas would put it there in each iteration.
//
// What:       up to sm_89 IMAD.WIDE adds a parameter from constant memory, but takes no number beside it: the factor of a product that is added
//             to a parameter is in a register. ptxas moves it there in each iteration (MOV, or HFMA2.MMA on the unit that the products
//             fill, too), one for all such products of the iteration. A factor that it does not know (opaque_numbers.h) stays there.
// Algorithm:  in each innermost loop the products of what varies and a number, of 32 bits with 64 bits of result, that are added to
//             parameters. Where one of them stands before the loop, ptxas keeps that one's factor.
// Invariants: the register holds the number.
// Estimate:   a loop is changed only if a move more would make its iteration longer: otherwise the move would only be paid before it.
// Targets:    sm_75 to sm_89. (Observed on ptxas 13.0 and 13.5. From sm_90 on sums take no parameter from constant memory, and products
//             a number.)
// Registers:  one more for each size, four at most. Asked about only where the kernel limits them: to know the pressure costs more than
//             the rest.
// Declines:   by loop: hidden-names (a scope declares a special register anew), irreducible, held (a product before it that keeps its
//             number), shared (a product that other blocks read), too-many (sizes), no-gain (something else is longest), register-pressure.
#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "analysis/machine/register_estimate.h"
#include "ir/register_types.h"
#include "passes/addressing/address_opcodes.h"
#include "passes/addressing/form_sites.h"
#include "passes/util/opaque_numbers.h"
#include "passes/util/parameter_values.h"
#include "passes/util/unguarded.h"
#include "target/occupancy.h"

namespace ptxopt {
namespace {

constexpr std::size_t kMostNumbers = 4;    // of a function: a register each
constexpr std::size_t kMostSearched = 16;  // products before a loop, with a number

class FactorHolding : FunctionPass {
 public:
  FactorHolding(Function& f, PassContext& context, const FormRules& rules)
      : FunctionPass(f, context),
        loops_(context.analyses.loops()),
        rules_(rules),
        sites_(rules.sites),
        units_(sites_.units()),
        isAdded_(f.registers.size()),
        home_(f.registers.size()),
        readAtHome_(f.registers.size()),
        varyingIn_(f.registers.size()) {}

  bool run() {
    findProducts();
    std::map<LoopId, std::vector<std::size_t>> ofLoop;
    std::vector<LoopId> order;  // in the order of the text: what is held in one is not there for those after it
    for (std::size_t k = 0; k < products_.size(); ++k) {
      std::vector<std::size_t>& early = earliest_[products_[k].number];
      if (early.size() < kMostSearched) early.push_back(k);
      const LoopId l = loops_.of(products_[k].block);
      if (!l.valid() || !loops_.isInnermost(l)) continue;
      if (ofLoop[l].empty()) order.push_back(l);
      ofLoop[l].push_back(k);
    }
    for (const LoopId l : order) look(l, std::move(ofLoop[l]));
    apply();
    if (!held_.empty()) context_.count("held-factors", held_.size());
    return !held_.empty();
  }

 private:
  // mul.wide or mad.wide by a number, that is added to a parameter.
  struct Product {
    InstrId id;
    BlockId block;
    RegId factor;      // what it multiplies
    uint32_t operand;  // the number
    int32_t number;
    RegId result;  // of mul.wide: that sums add
    bool isHeld = false;
  };

  bool isParameter(const Operand& o) const {
    if (!o.isRegister()) return false;
    return isParameterValue(module_, f_, o.reg(), [&](RegId r) {
      const InstrId made = units_.definition(r);
      return made.valid() && slots_[made].valid() ? made : InstrId();
    });
  }

  void findProducts() {
    for (const InstrId id : sites_.sums()) {
      if (!isAddition(module_.form(f_[id]))) continue;
      const auto operands = unguarded(f_, id);
      for (const std::size_t k : {1u, 2u}) {
        if (operands.size() != 3 || !operands[k].isRegister() || isAdded_[operands[k].payload]) continue;
        const InstrId made = units_.definition(operands[k].reg());
        isAdded_[operands[k].payload] =
            made.valid() && isExactlyWide(module_.form(f_[made]), Op::Mul) && isParameter(operands[3 - k]);
      }
    }
    for (const InstrId id : sites_.products()) {
      if (!slots_[id].valid()) continue;
      const bool isSum = module_.form(f_[id]).op == Op::Mad;
      const uint32_t first = f_[id].is(Instruction::Guarded) ? 1 : 0;
      const auto operands = f_.operandsOf(f_[id]).subspan(first);
      if (operands.size() != (isSum ? 4u : 3u) || !operands[0].isRegister() ||
          !isIntegerRegister(f_, operands[1], 32))
        continue;
      const auto number = immediate(f_, operands[2]);
      if (!number || static_cast<int32_t>(*number) <= 1) continue;
      if (!(isSum ? isParameter(operands[3]) : isAdded_[operands[0].payload])) continue;
      const BlockId b = cfg_.blockOf(id);
      products_.push_back({id, b, operands[1].reg(), first + 2, static_cast<int32_t>(*number),
                           isSum ? RegId() : operands[0].reg()});
      if (!isSum) home_[operands[0].payload] = b;
    }
  }

  void look(LoopId l, std::vector<std::size_t> found) {
    if (f_.hidesSpecialRegisters) return sites_.missedLoops.add("hidden-names");
    if (loops_[l].irreducible) return sites_.missedLoops.add("irreducible");
    for (const BlockId b : loops_.blocks(l))
      for (const InstrId id : slots_.instructions(b))
        for (const Operand& o : f_.operandsOf(f_[id])) {
          if (!o.isRegister()) continue;
          if (o.writes()) varyingIn_[o.payload] = l;
          readAtHome_[o.payload] += o.reads() && home_[o.payload] == b;
        }
    std::erase_if(found, [&](std::size_t k) { return varyingIn_[products_[k].factor.value] != l; });
    if (found.empty()) return;
    const auto isHeld = [&](std::size_t k) { return standsBefore(products_[k].number, l); };
    if (std::erase_if(found, isHeld) != 0 && found.empty()) return sites_.missedLoops.add("held");
    // A product by a register that several blocks add ptxas computes once, and then adds it to each parameter in two instructions.
    std::set<int32_t> shared, added;
    for (const std::size_t k : found)
      if (!isFused(products_[k])) shared.insert(products_[k].number);
    std::erase_if(found, [&](std::size_t k) { return shared.contains(products_[k].number); });
    if (found.empty()) return sites_.missedLoops.add("shared");
    for (const std::size_t k : found)
      if (!numbers_.contains(products_[k].number)) added.insert(products_[k].number);
    if (numbers_.size() + added.size() > kMostNumbers) return sites_.missedLoops.add("too-many");
    if (!rules_.isForced && !gains(l)) return sites_.missedLoops.add("no-gain");
    if (!added.empty() && !hasRegisters(numbers_.size() + added.size()))
      return sites_.missedLoops.add("register-pressure");
    numbers_.merge(added);
    for (const std::size_t k : found) products_[k].isHeld = true;
    held_.insert(held_.end(), found.begin(), found.end());
  }

  // Whether what reads it stands in its block: ptxas makes one instruction of it and each sum.
  bool isFused(const Product& p) const {
    return !p.result.valid() || readAtHome_[p.result.value] == units_.readers(p.result);
  }

  // Whether a move in each iteration makes it longer. ptxas mostly makes it on the FMA unit (IMAD.MOV, HFMA2.MMA).
  bool gains(LoopId l) const {
    const UnitCycles after = units_.of(l);
    UnitCycles before = after;
    sites_.add(before, target::Kind::IntegerMultiply, 1);
    return before.longest(0) > after.longest(0);
  }

  // Whether the kernel may have that many more, if it says how many it may have: ptxas would spill them.
  bool hasRegisters(std::size_t count) {
    const uint32_t limit = statedRegisterLimit(module_, f_);
    return limit >= target::Limits::kMostRegistersPerThread ||
           context_.analyses.fatPointRegisters() + count <= limit;
  }

  // Whether a product with the number is computed wherever the loop is entered from. The earliest ones are looked at.
  bool standsBefore(int32_t number, LoopId l) {
    return std::ranges::any_of(earliest_[number], [&](std::size_t k) {
      const Product& p = products_[k];
      return !p.isHeld && !loops_.contains(l, p.block) &&
             context_.analyses.dominators().dominates(p.block, loops_[l].header);
    });
  }

  void apply() {
    std::ranges::sort(held_, {}, [&](std::size_t k) { return products_[k].number; });
    RegId factor;
    for (std::size_t k = 0; k < held_.size(); ++k) {
      const Product& p = products_[held_[k]];
      if (k == 0 || p.number != products_[held_[k - 1]].number) {
        InstrId after;
        factor = makeOpaque(f_, context_, p.number, NameHint::None, Opaque::Any, after);
      }
      Operand& o = f_.operands[f_[p.id].firstOperand + p.operand];
      o = registerOperand(factor, Role::Use, o.join);
      f_.touch(p.id);
    }
  }

  const Loops& loops_;
  const FormRules& rules_;
  FormSites& sites_;
  LoopUnits& units_;
  std::vector<bool> isAdded_;         // by RegId: products of mul.wide that are added to a parameter
  std::vector<BlockId> home_;         // by RegId: of such products, their block
  std::vector<uint32_t> readAtHome_;  // by RegId: how many there read it, where the loop was looked at
  std::vector<LoopId> varyingIn_;     // by RegId: the last loop that writes it
  std::vector<Product> products_;     // in the order of the text
  std::vector<std::size_t> held_;     // of products_
  std::map<int32_t, std::vector<std::size_t>> earliest_;  // by number, of products_
  std::set<int32_t> numbers_;                             // of held_
};

}  // namespace

bool heldFactors(Function& f, PassContext& context, const FormRules& rules) {
  const auto hasNumber = [&](InstrId id) {
    const auto operands = unguarded(f, id);
    return operands.size() >= 3 && immediate(f, operands[2]);
  };
  if (!f.isEntry) return false;
  for (const FormSites::Loop& loop : rules.sites.byInnermostLoop(rules.sites.products()))
    if (std::ranges::any_of(loop.sites, hasNumber)) return FactorHolding(f, context, rules).run();
  return false;
}

}  // namespace ptxopt
