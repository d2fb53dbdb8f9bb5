// hold-factors: the size of an element stays in a register where ptxas would else put it there in each round.
//
// What:       up to sm_89 IMAD.WIDE adds a parameter from constant memory, but takes no number beside it: the factor of a product that is added
//             to a parameter is in a register. ptxas moves it there in each round (MOV, or HFMA2.MMA on the unit that the products
//             fill, too), one for all such products of the round. A factor that it does not know (opaque_numbers.h) stays there.
// Algorithm:  in each innermost loop the products of what varies and a number, of 32 bits with 64 bits of result, that are added to
//             parameters. Where one of them stands before the loop, ptxas keeps that one's factor.
// Invariants: the register holds the number.
// Estimate:   a loop is changed only if a move more would make its round longer (loop_units.h): else the move would only be paid before it.
// Targets:    sm_75 to sm_89. (Observed on ptxas 13.0 and 13.5. From sm_90 on sums take no parameter from constant memory, and products
//             a number.)
// Registers:  one more for each size, four at most. Asked about only where the kernel limits them: to know the pressure costs more than
//             the rest.
// Cost:       linear in the function.
// Declines:   by loop: hidden-names (a scope declares a special register anew), irreducible, held (a product before it that keeps its
//             number), shared (a product that other blocks read), too-many (sizes), no-gain (something else is longest), register-pressure.
#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/machine/loop_units.h"
#include "analysis/machine/register_estimate.h"
#include "ir/register_types.h"
#include "passes/loops/address_opcodes.h"
#include "passes/util/function_pass.h"
#include "passes/util/missed_remarks.h"
#include "passes/util/opaque_numbers.h"
#include "passes/util/parameter_values.h"
#include "passes/util/unguarded.h"
#include "target/occupancy.h"
#include "target/target.h"

namespace ptxopt {
namespace {

constexpr std::size_t kMostNumbers = 4;    // of a function: a register each
constexpr std::size_t kMostSearched = 16;  // products before a loop, with a number

class FactorHolding : FunctionPass {
 public:
  FactorHolding(Function& f, PassContext& context)
      : FunctionPass(f, context),
        loops_(context.analyses.loops()),
        machine_(context.target().machine()),
        definition_(f.registers.size()),
        writes_(f.registers.size()),
        isProduct_(f.registers.size()),
        readIn_(f.registers.size()),
        isReadInSeveral_(f.registers.size()),
        varyingIn_(f.registers.size()) {}

  // `candidates`: the wide products with a number.
  bool run(std::span<const InstrId> candidates) {
    for (const InstrId id : candidates) isProduct_[unguarded(f_, id)[0].payload] = true;
    for (const InstrId id : f_)
      if (slots_[id].valid())
        for (const Operand& o : f_.operandsOf(f_[id])) note(o, id);
    findProducts(candidates);
    if (products_.empty()) return false;
    std::vector<std::vector<std::size_t>> ofLoop(loops_.size());
    std::vector<LoopId> order;  // in the order of the text: what is held in one is not there for those after it
    for (std::size_t k = 0; k < products_.size(); ++k) {
      const LoopId l = loops_.of(products_[k].block);
      std::vector<std::size_t>& early = earliest_[products_[k].number];
      if (early.size() < kMostSearched) early.push_back(k);
      if (!l.valid() || !loops_.isInnermost(l)) continue;
      if (ofLoop[l.value].empty()) order.push_back(l);
      ofLoop[l.value].push_back(k);
    }
    for (const LoopId l : order) look(l, std::move(ofLoop[l.value]));
    missed_.tell(context_, "loop");
    apply();
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
    bool isFused;  // what reads it stands in its block: ptxas makes one instruction of it and each sum
    bool isHeld = false;
  };

  void note(const Operand& o, InstrId id) {
    if (!o.isRegister()) return;
    if (o.writes()) {
      definition_[o.payload] = id;
      ++writes_[o.payload];
    }
    if (!o.reads() || !isProduct_[o.payload]) return;
    const BlockId b = cfg_.blockOf(id);
    isReadInSeveral_[o.payload] =
        isReadInSeveral_[o.payload] || (readIn_[o.payload].valid() && readIn_[o.payload] != b);
    readIn_[o.payload] = b;
  }

  InstrId definition(RegId r) const { return writes_[r.value] == 1 ? definition_[r.value] : InstrId(); }
  bool isParameter(RegId r) const {
    return isParameterValue(module_, f_, r, [&](RegId of) { return definition(of); });
  }

  void findProducts(std::span<const InstrId> candidates) {
    std::vector<bool> isAdded(f_.registers.size());
    for (const InstrId id : f_) {
      if (!slots_[id].valid() || !isAddition(module_.form(f_[id]))) continue;
      const auto operands = unguarded(f_, id);
      if (operands.size() != 3 || !operands[1].isRegister() || !operands[2].isRegister()) continue;
      for (const std::size_t k : {1u, 2u})
        if (isProduct_[operands[k].payload] && isParameter(operands[3 - k].reg()))
          isAdded[operands[k].payload] = true;
    }
    for (const InstrId id : candidates) {
      if (!slots_[id].valid()) continue;
      const OpcodeForm& form = module_.form(f_[id]);
      const bool isSum = isExactlyWide(form, Op::Mad);
      if (!isSum && !isExactlyWide(form, Op::Mul)) continue;
      const uint32_t first = f_[id].is(Instruction::Guarded) ? 1 : 0;
      const auto operands = f_.operandsOf(f_[id]).subspan(first);
      if (operands.size() != (isSum ? 4u : 3u) || !operands[0].isRegister() ||
          !isIntegerRegister(f_, operands[1], 32))
        continue;
      const auto number = immediate(f_, operands[2]);
      if (!number || static_cast<int32_t>(*number) <= 1) continue;
      if (isSum ? operands[3].isRegister() && isParameter(operands[3].reg())
                : writes_[operands[0].payload] == 1 && isAdded[operands[0].payload])
        products_.push_back({id, cfg_.blockOf(id), operands[1].reg(), first + 2, static_cast<int32_t>(*number),
                             isSum || isReadIn(operands[0].reg(), cfg_.blockOf(id))});
    }
  }

  bool isReadIn(RegId r, BlockId b) const { return readIn_[r.value] == b && !isReadInSeveral_[r.value]; }

  void look(LoopId l, std::vector<std::size_t> found) {
    if (f_.hidesSpecialRegisters) return missed_.add("hidden-names");
    if (loops_[l].irreducible) return missed_.add("irreducible");
    for (const BlockId b : loops_.blocks(l))
      for (const InstrId id : slots_.instructions(b))
        for (const Operand& o : f_.operandsOf(f_[id]))
          if (o.isRegister() && o.writes()) varyingIn_[o.payload] = l;
    std::erase_if(found, [&](std::size_t k) { return varyingIn_[products_[k].factor.value] != l; });
    if (found.empty()) return;
    const auto isHeld = [&](std::size_t k) { return standsBefore(products_[k].number, l); };
    if (std::erase_if(found, isHeld) != 0 && found.empty()) return missed_.add("held");
    // A product by a register that several blocks add ptxas computes once, and then adds it to each parameter in two instructions.
    std::set<int32_t> shared, added;
    for (const std::size_t k : found)
      if (!products_[k].isFused) shared.insert(products_[k].number);
    std::erase_if(found, [&](std::size_t k) { return shared.contains(products_[k].number); });
    if (found.empty()) return missed_.add("shared");
    for (const std::size_t k : found)
      if (!numbers_.contains(products_[k].number)) added.insert(products_[k].number);
    if (numbers_.size() + added.size() > kMostNumbers) return missed_.add("too-many");
    if (!gains(l)) return missed_.add("no-gain");
    if (!added.empty() && !hasRegisters(numbers_.size() + added.size())) return missed_.add("register-pressure");
    context_.count("loops");
    numbers_.merge(added);
    for (const std::size_t k : found) products_[k].isHeld = true;
    held_.insert(held_.end(), found.begin(), found.end());
  }

  // Whether a move in each round makes a round longer. ptxas mostly makes it on the FMA unit (IMAD.MOV, HFMA2.MMA).
  bool gains(LoopId l) {
    if (!units_) units_.emplace(module_, f_, cfg_, context_.analyses.dominators(), loops_, machine_);
    const UnitCycles after = units_->of(l);
    UnitCycles before = after;
    for (const target::Use& use : machine_.uses(target::Kind::IntegerMultiply)) before[use.unit] += use.cycles;
    return before.longest(0) > after.longest(0);
  }

  // Whether the kernel may have so many more, if it says how many it may have: ptxas would spill them.
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
        factor = makeOpaque(f_, context_, p.number, Purpose::None, Opaque::Any, after);
      }
      Operand& o = f_.operands[f_[p.id].firstOperand + p.operand];
      o = registerOperand(factor, Role::Use, o.join);
      f_.touch(p.id);
    }
  }

  const Loops& loops_;
  const target::Machine& machine_;
  std::optional<LoopUnits> units_;
  std::vector<InstrId> definition_;  // by RegId: the last instruction that writes it
  std::vector<uint32_t> writes_;     // by RegId
  std::vector<bool> isProduct_;      // by RegId: whether a wide product with a number writes it
  std::vector<BlockId> readIn_;      // by RegId: the last block that reads it; of products
  std::vector<bool> isReadInSeveral_;
  std::vector<LoopId> varyingIn_;                                   // by RegId: the last loop that writes it
  std::vector<Product> products_;                                   // in the order of the text
  std::vector<std::size_t> held_;                                   // of products_
  std::unordered_map<int32_t, std::vector<std::size_t>> earliest_;  // by number, of products_
  std::set<int32_t> numbers_;                                       // of held_
  MissedRemarks missed_;
};

// A look at what many functions lack: a wide product with a number, in an innermost loop.
std::vector<InstrId> numberProducts(const Module& module, const Function& f) {
  std::vector<InstrId> found;
  for (const InstrId id : f) {
    if (!f[id].isInstruction()) continue;
    const OpcodeForm& form = module.form(f[id]);
    if (!isExactlyWide(form, Op::Mul) && !isExactlyWide(form, Op::Mad)) continue;
    const auto operands = unguarded(f, id);
    if (operands.size() >= 3 && operands[0].isRegister() && immediate(f, operands[2])) found.push_back(id);
  }
  return found;
}

}  // namespace

bool holdFactors(Function& f, PassContext& context) {
  if (!f.isEntry || !context.target().has(target::Capability::ConstantAddends)) return false;
  const std::vector<InstrId> products = numberProducts(context.module, f);
  if (products.empty() || !context.hasUsableGraph() || context.analyses.loops().size() == 0) return false;
  const Loops& loops = context.analyses.loops();
  if (std::ranges::none_of(products, [&](InstrId id) {
        const LoopId l = loops.of(context.analyses.cfg().blockOf(id));
        return l.valid() && loops.isInnermost(l);
      }))
    return false;
  return FactorHolding(f, context).run(products);
}

}  // namespace ptxopt
