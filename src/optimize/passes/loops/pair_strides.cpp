// pair-strides: strides that a shift or a product makes are made by additions.
//
// What:       where ptxas adds 64 bits in one instruction, the summands are aligned pairs of registers. A shift it does by halves, and moves
//             those of a stride to a pair in each round of a loop that adds it to a pointer: two more instructions. x << 1 is x + x, and
//             x << 2 is that added to itself: as many instructions as the shift takes, and a pair. A product with a constant it even computes
//             anew in each round; x * 12 is x * 6 added to itself.
// Algorithm:  what a loop adds to what it goes round with, where a shift by 1 or 2 makes it outside of the loop, and what it adds to anything,
//             where a product with an even constant makes it there.
// Invariants: the same number, for all x. The stride has that definition alone.
// Left out:   strides that differ between threads, which ptxas keeps in pairs, and larger shifts, which would be longer.
// Targets:    those that add 64 bits in one instruction (costs.def): sm_107, sm_120 and sm_121.
// Cost:       linear.
// Declines:   by stride, where a shift or a product makes it: several-writes, amount, other-use (something else reads
//             what a shift makes, such as a sum before the loop, which ptxas makes one instruction of with the shift), divergent,
//             register-class, guarded.
#include <optional>
#include <utility>
#include <vector>

#include "analysis/values/uniform_registers.h"
#include "ir/register_types.h"
#include "passes/loops/address_opcodes.h"
#include "passes/util/function_pass.h"
#include "passes/util/missed_remarks.h"

namespace ptxopt {
namespace {

constexpr uint64_t kMostDoubled = 2;

class StridePairs : FunctionPass {
 public:
  StridePairs(Function& f, PassContext& context)
      : FunctionPass(f, context),
        loops_(context.analyses.loops()),
        reads_(f.registers.size()),
        added_(f.registers.size()),
        writes_(f.registers.size()),
        made_(f.registers.size()) {}

  bool run() {
    for (const InstrId id : f_)
      for (const Operand& o : f_.operandsOf(f_[id])) {
        if (!o.isRegister()) continue;
        if (o.reads()) ++reads_[o.payload];
        if (!o.writes()) continue;
        ++writes_[o.payload];
        made_[o.payload] = id;
      }
    // All are found before the first one changes: what makes a stride may stand after the sum.
    std::vector<std::pair<RegId, InstrId>> found;
    for (const InstrId id : f_)
      for (const RegId stride : stridesOf(id)) found.emplace_back(stride, id);
    for (const auto& [stride, at] : found) ++added_[stride.value];
    for (const auto& [stride, at] : found) look(stride, at);
    missed_.tell(context_, "stride");
    return changed_ != 0;
  }

 private:
  // What a sum of 64 bits in a loop adds to its own result, and all products that it adds.
  std::vector<RegId> stridesOf(InstrId id) const {
    std::vector<RegId> found;
    if (!f_[id].isInstruction()) return found;
    const OpcodeForm& form = module_.form(f_[id]);
    if ((!isAddition(form) && !isSubtraction(form)) || !loops_.of(cfg_.blockOf(id)).valid()) return found;
    const auto operands = f_.operandsOf(f_[id]).subspan(f_[id].is(Instruction::Guarded) ? 1 : 0);
    if (operands.size() != 3) return found;
    const auto isPlain = [](const Operand& o) { return o.isRegister() && o.flags == 0; };
    for (std::size_t k = 1; k < 3; ++k) {
      const Operand &stride = operands[k], &other = operands[3 - k];
      if (!isPlain(stride)) continue;
      const bool movesOn = isPlain(other) && operands[0].isRegister() && operands[0].payload == other.payload &&
                           (k == 2 || isAddition(form));
      if (movesOn || isProduct(made_[stride.payload])) found.push_back(stride.reg());
    }
    return found;
  }

  bool isProduct(InstrId id) const {
    return id.valid() && f_[id].isInstruction() && isMultiplication(module_.form(f_[id]));
  }

  // Of a number whose half is an immediate.
  static bool isDouble(int64_t factor) {
    return factor != 0 && factor % 2 == 0 && factor / 2 == static_cast<int32_t>(factor / 2);
  }

  void look(RegId stride, InstrId at) {
    const InstrId id = made_[stride.value];
    if (!id.valid() || !f_[id].isInstruction()) return;
    const bool multiplies = isProduct(id);
    if (!multiplies && !isShift(module_.form(f_[id]))) return;
    const LoopId l = loops_.of(cfg_.blockOf(at));
    if (loops_.contains(l, cfg_.blockOf(id))) return;
    if (writes_[stride.value] != 1) return missed_.add("several-writes");
    if (f_[id].is(Instruction::Guarded)) return missed_.add("guarded");
    const auto operands = f_.operandsOf(f_[id]);
    if (operands.size() != 3 || !isIntegerRegister(f_, operands[0], 64) || !isIntegerRegister(f_, operands[1], 64))
      return missed_.add("register-class");
    const auto amount = immediate(f_, operands[2]);
    if (!amount || (multiplies ? !isDouble(static_cast<int64_t>(*amount)) : *amount == 0 || *amount > kMostDoubled))
      return missed_.add("amount");
    if (!multiplies && reads_[stride.value] != added_[stride.value]) return missed_.add("other-use");
    if (!uniform_) uniform_.emplace(findUniform(module_, f_, cfg_, context_.analyses.dominators()));
    if (stride.value >= uniform_->size() || !uniform_->test(stride.value)) return missed_.add("divergent");
    RegId x = operands[1].reg();
    const auto addition = module_.synthOpcode(SynthOpcode::AddS64);
    const auto used = [](RegId r) { return registerOperand(r, Role::Use, Join::Comma); };
    if (multiplies || *amount == 2) {
      const RegId half = f_.makeRegister(ScalarType::b64);
      if (multiplies)
        f_.insert(id, OpcodeId(f_[id].payload),
                  std::vector<Operand>{registerOperand(half, Role::Def), used(x),
                                       integerOperand(static_cast<int32_t>(static_cast<int64_t>(*amount) / 2))});
      else
        f_.insert(id, addition, std::vector<Operand>{registerOperand(half, Role::Def), used(x), used(x)});
      x = half;
    }
    f_[id].payload = addition.value;
    f_.setOperands(id, std::vector<Operand>{registerOperand(stride, Role::Def), used(x), used(x)});
    f_.touch(id);
    context_.count("strides");
    ++changed_;
  }

  const Loops& loops_;
  std::vector<uint32_t> reads_;       // by RegId
  std::vector<uint32_t> added_;       // by RegId: by sums of loops
  std::vector<uint32_t> writes_;      // by RegId
  std::vector<InstrId> made_;         // by RegId: the last instruction that writes it
  std::optional<BitVector> uniform_;  // made when first asked for
  MissedRemarks missed_;
  std::size_t changed_ = 0;
};

}  // namespace

bool pairStrides(Function& f, PassContext& context) {
  if (context.costs().add64 > 1) return false;
  if (!context.hasUsableGraph() || context.analyses.loops().size() == 0) return false;
  return StridePairs(f, context).run();
}

}  // namespace ptxopt
