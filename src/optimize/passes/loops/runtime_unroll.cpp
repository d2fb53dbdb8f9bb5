// runtime-unroll: loops whose step is a register are unrolled, with a check before them.
//
// What:       ptxas unrolls loops whose iterations it can count, which takes a constant step. For one whose step is a
//             register (`i += blockDim.x`, a loop over the grid) this makes
//                     if (step > 0 && limit - (k - 1) * step is a number of the counter's type, `bound`)
//                       while (i < bound) k iterations            k: the knob runtime-unroll-copies
//                     the loop as it was, for the remaining iterations
// Algorithm:  a loop of one block that ends by `add i, i, step; setp p, i, limit; @p bra`, whose test asks whether i is
//             less than the limit (or equal). The copies of the body use its registers: PTX is not an SSA form, and
//             ptxas renames. What tests whether they go on stands in the last one alone.
// Invariants: an iteration is followed by another one if i + step < limit, in 32 or 64 bits. With step > 0, i < limit -
//             (k - 1) * step with numbers that do not wrap says that k iterations follow. Of 32 bits these are computed in
//             64; of 64 bits the step must be less than 2^31, and limit - (k - 1) * step is checked to be less than the
//             limit. i may wrap in the last of them, as it did before: the old test, and the comparison with the bound,
//             look at what it is then. So the same iterations are executed, in the same order, whatever the numbers, and
//             nothing is read that was not read before. After the copies the old test says whether the loop has ended;
//             then control goes where the old loop goes.
// Pays:       where a loop loads, as the loads of all copies wait together; and i is tested k times less often. Loops
//             of many instructions, or whose copies would cost resident blocks by the estimate, are not optimized.
// Cost:       linear.
// Declines:   too-large; loops: irreducible, blocks (more than one), no-preheader (control does not fall into it
//             alone), nounroll (a pragma of the loop, the function or the module asks for that), scope (braces,
//             declarations, other pragmas, a name that means something else before the loop), effects (calls, barriers,
//             and whatever is ordered, volatile, asynchronous, atomic or convergent), counter (no such counter and test
//             of 32 or 64 bits), constant-step, few-iterations (a hint says so), no-hint (hints are of other loops),
//             no-loads, size, register-pressure.
#include <optional>
#include <unordered_map>

#include "ir/opcode_predicates.h"
#include "ir/pragmas.h"
#include "passes/loops/loop_entry.h"
#include "passes/util/function_pass.h"
#include "passes/util/loop_register_budget.h"
#include "passes/util/missed_remarks.h"
#include "passes/util/register_scopes.h"

namespace ptxopt {
namespace {

constexpr std::size_t kMostOfIteration = 32;     // of an iteration
constexpr int32_t kMostCounterStep = INT32_MAX;  // of a counter of 64 bits, less 1

// The end of a loop.
struct CountedEnd {
  InstrId add, test, branch;
  RegId counter, step, goesOn;
  Operand limit;  // a register that the loop does not write, or a number
  bool isSigned = true;
  bool takesEqual = false;  // goes on while counter <= limit, not <
  bool isInverted = false;  // goes on where the predicate is false
  unsigned bits = 32;       // of the counter
};

class RuntimeUnroll : FunctionPass {
 public:
  RuntimeUnroll(Function& f, PassContext& context)
      : FunctionPass(f, context),
        loops_(context.analyses.loops()),
        budget_(f, context),
        copies_(static_cast<unsigned>(context.knobs[Knob::RuntimeUnrollCopies])) {}

  bool run() {
    struct Found {
      BlockId block;
      CountedEnd counter;
    };
    std::vector<Found> found;
    for (uint32_t l = 0; l < loops_.size(); ++l) {
      CountedEnd counter;
      const std::string_view why = whyNot(LoopId(l), counter);
      if (why.empty())
        found.push_back({loops_[LoopId(l)].header, counter});
      else
        missed_.add(why);
    }
    missed_.tell(context_, "loop");
    for (const Found& loop : found) unroll(cfg_[loop.block], loop.counter);
    context_.count("unrolled", found.size());
    return !found.empty();
  }

 private:
  // ---- which loops ----

  std::string_view whyNot(LoopId l, CountedEnd& counter) {
    if (context_.isDeclined(loops_[l].header)) return kAsked;
    if (isNounroll_) return "nounroll";
    if (loops_[l].irreducible) return "irreducible";
    if (loops_.blocks(l).size() != 1) return "blocks";
    const BlockId header = loops_[l].header;
    const Block& block = cfg_[header];
    if (const auto why = whyIteratesSeldom(module_, f_, cfg_, header); !why.empty()) return why;
    if (!isFallenInto(module_, f_, cfg_, loops_, l) || !f_[block.last].next.valid()) return "no-preheader";
    std::size_t instructions = 0, loads = 0;
    int units = 0;
    for (InstrId id = f_[block.first].next;; id = f_[id].next) {
      const Instruction& i = f_[id];
      if (isNounroll(module_, i)) return "nounroll";
      if (i.kind == InstrKind::Loc) continue;
      if (!i.isInstruction()) return "scope";
      if (id == block.last) break;
      if (!isCopied(i)) return "effects";
      ++instructions;
      const OpcodeForm& form = module_.form(i);
      const bool isLoad = form.op == Op::Ld && isGlobalOrGeneric(form.space);
      loads += isLoad;
      for (const Operand& o : f_.operandsOf(i)) {
        if (o.kind == OperandKind::Label) return "effects";
        if (o.isRegister() && !reaches_(o.reg(), block.first)) return "scope";
        if (isLoad && o.isRegister() && o.writes()) units += info(f_.registers[o.payload].type).bits == 64 ? 2 : 1;
      }
    }
    const auto end = counterOf(block);
    if (!end) return stepsByConstant(l) ? "constant-step" : "counter";
    counter = *end;
    if (isConstant(counter)) return "constant-step";
    if (loads == 0) return "no-loads";
    if (instructions > kMostOfIteration) return "size";
    if (!budget_.has(l, units * static_cast<int>(copies_ - 1))) return "register-pressure";
    return {};
  }

  // Computes, or accesses memory weakly.
  bool isCopied(const Instruction& i) const {
    const OpcodeForm& form = module_.form(i);
    if (!form.knowsOperands()) return false;
    for (const Operand& o : f_.operandsOf(i))
      if (o.kind == OperandKind::SpecialRegister && o.is(Operand::VolatileRead)) return false;
    if (form.op == Op::Ld || form.op == Op::St) return !form.is(~uint32_t{effect::Read | effect::Write});
    return !form.is(effect::kKeep) || becomesCall(form);
  }

  std::optional<CountedEnd> counterOf(const Block& block) const {
    std::unordered_map<uint32_t, InstrId> writers;  // of the block; of several none
    for (InstrId id = block.first; id != block.last; id = f_[id].next)
      if (f_[id].isInstruction())
        for (const Operand& o : f_.operandsOf(f_[id]))
          if (o.isRegister() && o.writes()) {
            const auto [at, isNew] = writers.try_emplace(o.payload, id);
            if (!isNew) at->second = InstrId();
          }
    CountedEnd c{.branch = block.last};
    const auto isCounted = [&](const Operand& o) { return o.isRegister() && isWhole(o, c.bits); };
    const auto isInvariant = [&](const Operand& o) { return isCounted(o) && !writers.contains(o.payload); };
    const auto writerOf = [&](RegId r, bool (*is)(const OpcodeForm&)) {
      const auto at = writers.find(r.value);
      const bool isOne = at != writers.end() && at->second.valid() && !f_[at->second].is(Instruction::Guarded) &&
                         is(module_.form(f_[at->second])) && f_[at->second].operandCount == 3;
      return isOne ? at->second : InstrId();
    };

    const auto branch = f_.operandsOf(f_[block.last]);
    if (module_.form(f_[block.last]).effects != effect::Branch || !f_[block.last].is(Instruction::Guarded) ||
        branch.size() != 2 || branch[1].kind != OperandKind::Label ||
        f_.labels[branch[1].payload].place != block.first)
      return std::nullopt;
    c.goesOn = branch[0].reg();
    c.isInverted = branch[0].is(Operand::Not);

    c.test = writerOf(c.goesOn, isTest);
    if (!c.test.valid()) return std::nullopt;
    const auto test = f_.operandsOf(f_[c.test]);
    c.bits = info(module_.form(f_[c.test]).type).bits;
    for (const unsigned at : {1u, 2u}) {
      if (!isCounted(test[at])) continue;
      c.counter = test[at].reg();
      c.add = writerOf(c.counter, isSum);
      c.limit = test[3 - at];
      if (!c.add.valid() || !isBefore(c.add, c.test, block)) continue;
      if (info(module_.form(f_[c.add]).type).bits != c.bits) continue;
      if (!isInvariant(c.limit) && !immediate(f_, c.limit)) continue;
      const auto sum = f_.operandsOf(f_[c.add]);
      const bool isFirst = isCounted(sum[1]) && sum[1].reg() == c.counter;
      const Operand& own = sum[isFirst ? 1 : 2];
      const Operand& step = sum[isFirst ? 2 : 1];
      if (!isCounted(own) || own.reg() != c.counter || !isInvariant(step)) continue;
      c.step = step.reg();
      if (readTest(c, at == 2)) return c;
    }
    return std::nullopt;
  }

  static bool isSum(const OpcodeForm& form) {
    return form.isExactly(Op::Add, ScalarType::s32) || form.isExactly(Op::Add, ScalarType::u32) ||
           form.isExactly(Op::Add, ScalarType::s64) || form.isExactly(Op::Add, ScalarType::u64);
  }
  static bool isTest(const OpcodeForm& form) {
    return form.op == Op::Setp && form.present == field::Comparison && form.typeCount == 1 &&
           (form.type == ScalarType::s32 || form.type == ScalarType::u32 || form.type == ScalarType::s64 ||
            form.type == ScalarType::u64);
  }

  bool isWhole(const Operand& o, unsigned bits) const {
    const Register& r = f_.registers[o.payload];
    return o.flags == 0 && r.lanes == 1 &&
           r.registerClass() == (bits == 64 ? RegisterClass::B64 : RegisterClass::B32);
  }

  bool isBefore(InstrId a, InstrId b, const Block& block) const {
    for (InstrId id = a; id != block.last; id = f_[id].next)
      if (id == b) return true;
    return false;
  }

  // `isSwapped`: the limit stands first.
  bool readTest(CountedEnd& c, bool isSwapped) const {
    using enum ComparisonOperator;
    const OpcodeForm& form = module_.form(f_[c.test]);
    c.isSigned = form.type == ScalarType::s32 || form.type == ScalarType::s64;
    ComparisonOperator goesOn = form.comparison;
    if (isSwapped) goesOn = goesOn == Lt ? Gt : goesOn == Gt ? Lt : goesOn == Le ? Ge : goesOn == Ge ? Le : Eq;
    if (c.isInverted) goesOn = goesOn == Lt ? Ge : goesOn == Gt ? Le : goesOn == Le ? Gt : goesOn == Ge ? Lt : Eq;
    c.takesEqual = goesOn == Le;
    return goesOn == Lt || goesOn == Le;
  }

  // ptxas unrolls such loops.
  bool isConstant(const CountedEnd& c) {
    ScalarEvolution& evolution = context_.analyses.scalarEvolution();
    const ExprId step = evolution.read(c.step, c.add);
    return step.valid() && evolution.expressions().isConstant(step);
  }

  bool stepsByConstant(LoopId l) {
    ScalarEvolution& evolution = context_.analyses.scalarEvolution();
    const auto tests = evolution.exitTests(l);
    return tests.size() == 1 && evolution.expressions().isConstant(evolution.expressions()[tests[0].tested].step());
  }

  // ---- the edits ----

  void put(InstrId place, SynthOpcode opcode, std::initializer_list<Operand> operands) {
    f_.insert(place, module_.synthOpcode(opcode), std::vector<Operand>(operands));
  }
  // To a label where the predicate is true, or where it is false.
  void branch(InstrId place, RegId predicate, bool ifTrue, LabelId label) {
    const auto flags = static_cast<uint8_t>(Operand::Guard | (ifTrue ? 0 : Operand::Not));
    put(place, SynthOpcode::Bra,
        {registerOperand(predicate, Role::Use, Join::None, flags),
         {.kind = OperandKind::Label, .payload = label.value}});
  }

  void unroll(const Block& block, const CountedEnd& c) {
    const InstrId place = block.first;  // the label, which only the old loop keeps
    const LabelId old(f_[place].payload), main = f_.makeLabelLike(f_, old), done = f_.makeLabel();
    f_.insertLabel(f_[block.last].next, done);
    const RegId bound = f_.makeRegister(c.bits == 64 ? ScalarType::b64 : ScalarType::b32);
    const RegId again = f_.makeRegister(ScalarType::pred);
    c.bits == 64 ? check64(place, c, bound, again, old) : check32(place, c, bound, again, old);
    branchBelow(place, c, bound, again, false, old);
    f_.insertLabel(place, main);
    for (unsigned copy = 1; copy <= copies_; ++copy) iteration(place, block, c, copy == copies_);
    branchBelow(place, c, bound, again, true, main);
    branch(place, c.goesOn, c.isInverted, done);
  }

  // The limit as a register.
  RegId limitOf(InstrId place, const CountedEnd& c) {
    if (c.limit.isRegister()) return c.limit.reg();
    const RegId limit = f_.makeRegister(c.bits == 64 ? ScalarType::b64 : ScalarType::b32);
    Operand number = c.limit;
    number.join = Join::Comma;
    put(place, c.bits == 64 ? SynthOpcode::MovB64 : SynthOpcode::MovU32, {defOperand(limit), number});
    return limit;
  }

  // Leaves for the old loop unless the bound is a number of the counter's type; and makes it.
  void check64(InstrId place, const CountedEnd& c, RegId bound, RegId fails, LabelId old) {
    const RegId ahead = f_.makeRegister(ScalarType::b64), limit = limitOf(place, c);
    put(place, SynthOpcode::AddS64, {defOperand(ahead), useOperand(c.step), integerOperand(-1)});
    put(place, SynthOpcode::SetpGeU64, {defOperand(fails), useOperand(ahead), integerOperand(kMostCounterStep)});
    branch(place, fails, true, old);
    put(place, SynthOpcode::MulLoS64,
        {defOperand(ahead), useOperand(c.step), integerOperand(static_cast<int32_t>(copies_ - 1))});
    put(place, SynthOpcode::SubS64, {defOperand(bound), useOperand(limit), useOperand(ahead)});
    // It wraps where it is not less than the limit: less than 2^63 are subtracted, and more than 0.
    put(place, c.isSigned ? SynthOpcode::SetpLtS64 : SynthOpcode::SetpGeU64,
        {defOperand(fails), useOperand(bound), useOperand(limit)});
    branch(place, fails, !c.isSigned, old);
  }

  void check32(InstrId place, const CountedEnd& c, RegId bound, RegId fails, LabelId old) {
    put(place, c.isSigned ? SynthOpcode::SetpLeS32 : SynthOpcode::SetpEqS32,
        {defOperand(fails), useOperand(c.step), integerOperand(0)});
    branch(place, fails, true, old);
    const RegId wide = f_.makeRegister(ScalarType::b64), ahead = f_.makeRegister(ScalarType::b64);
    const RegId limit = limitOf(place, c);
    put(place, c.isSigned ? SynthOpcode::CvtS64S32 : SynthOpcode::CvtU64U32, {defOperand(wide), useOperand(limit)});
    put(place, c.isSigned ? SynthOpcode::MulWideS32 : SynthOpcode::MulWideU32,
        {defOperand(ahead), useOperand(c.step), integerOperand(static_cast<int32_t>(copies_ - 1))});
    put(place, SynthOpcode::SubS64, {defOperand(wide), useOperand(wide), useOperand(ahead)});
    put(place, SynthOpcode::SetpLtS64,
        {defOperand(fails), useOperand(wide), c.isSigned ? integerOperand(INT32_MIN) : integerOperand(0)});
    branch(place, fails, true, old);
    put(place, SynthOpcode::CvtU32U64, {defOperand(bound), useOperand(wide)});
  }

  // Whether the counter is below the bound: goes to the label where that is `ifTrue`.
  void branchBelow(InstrId place, const CountedEnd& c, RegId bound, RegId holds, bool ifTrue, LabelId label) {
    if (c.bits == 32) {
      const SynthOpcode opcode = c.isSigned ? (c.takesEqual ? SynthOpcode::SetpLeS32 : SynthOpcode::SetpLtS32)
                                            : (c.takesEqual ? SynthOpcode::SetpLeU32 : SynthOpcode::SetpLtU32);
      put(place, opcode, {defOperand(holds), useOperand(c.counter), useOperand(bound)});
      return branch(place, holds, ifTrue, label);
    }
    // By the comparisons there are: i <= b is b >= i, and is not b < i.
    const RegId left = c.takesEqual ? bound : c.counter, right = c.takesEqual ? c.counter : bound;
    put(place, c.isSigned ? SynthOpcode::SetpLtS64 : SynthOpcode::SetpGeU64,
        {defOperand(holds), useOperand(left), useOperand(right)});
    branch(place, holds, (c.isSigned == c.takesEqual) != ifTrue, label);
  }

  void iteration(InstrId place, const Block& block, const CountedEnd& c, bool isLast) {
    const bool isTested = isLast || isReadInIteration(c, block);
    for (InstrId id = f_[block.first].next; id != block.last; id = f_[id].next) {
      if (!f_[id].isInstruction() || (id == c.test && !isTested)) continue;
      const auto operands = f_.operandsOf(f_[id]);
      f_.insert(place, f_[id].opcode(), std::vector<Operand>(operands.begin(), operands.end()));
    }
  }

  // Whether something else than the branch reads the predicate.
  bool isReadInIteration(const CountedEnd& c, const Block& block) const {
    for (InstrId id = block.first; id != block.last; id = f_[id].next)
      for (const Operand& o : f_.operandsOf(f_[id]))
        if (o.isRegister() && o.reg() == c.goesOn && o.reads()) return true;
    return false;
  }

  const Loops& loops_;
  LoopRegisterBudget budget_;
  RegisterReach reaches_{module_, f_};
  const unsigned copies_;
  const bool isNounroll_ = areAllNounroll(module_, f_);
  MissedRemarks missed_;
};

}  // namespace

bool runtimeUnroll(Function& f, PassContext& context) {
  if (!context.hasUsableIntervals() || context.analyses.loops().size() == 0) return false;
  return RuntimeUnroll(f, context).run();
}

}  // namespace ptxopt
