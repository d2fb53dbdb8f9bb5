// The tests that end loops: a part of ScalarEvolution, see scalar_evolution.h.
#include <algorithm>

#include "analysis/scalar_evolution.h"

namespace ptxopt {
namespace {

struct ComparisonName {
  std::string_view name;
  Relation comparison;
  bool isUnsigned;
};
constexpr ComparisonName kComparisons[] = {
    {"eq", Relation::Equal, false},       {"ne", Relation::NotEqual, false}, {"lt", Relation::Less, false},
    {"le", Relation::LessEqual, false},   {"gt", Relation::Greater, false},  {"ge", Relation::GreaterEqual, false},
    {"lo", Relation::Less, true},         {"ls", Relation::LessEqual, true}, {"hi", Relation::Greater, true},
    {"hs", Relation::GreaterEqual, true},
};

}  // namespace

// The tests that each round of the loop runs, of an integer recurrence with what does not vary in the loop.
void ScalarEvolution::findTests(LoopId l) {
  if (loops_[l].irreducible) return;
  const std::vector<BlockId> latches = loops_.latches(cfg_, l);
  for (const Loops::Exit& exit : loops_.exits(cfg_, l)) {
    if (!exit.to.valid() || loops_.of(exit.from) != l || cfg_.successors(exit.from).size() != 2) continue;
    if (!std::ranges::all_of(latches, [&](BlockId b) { return dominators_.dominates(exit.from, b); })) continue;
    const Instruction& branch = f_[cfg_[exit.from].last];
    if (!branch.isInstruction() || !branch.is(Instruction::Guarded) || !module_.form(branch).is(effect::Branch))
      continue;
    const auto operands = f_.operandsOf(branch);
    const Operand& guard = operands[0];
    LabelId target;
    for (const Operand& o : operands)
      if (o.kind == OperandKind::Label) target = LabelId(o.payload);
    if (!target.valid() || !guard.isRegister()) continue;
    const bool leavesWhenTaken = cfg_.blockOf(f_.labels[target.value].place) == exit.to;

    const InstrId branchId = cfg_[exit.from].last;
    const InstrId test = ranges_.definitionRead(guard.reg(), branchId);
    if (!test.valid() || loops_.of(cfg_.blockOf(test)) != l) continue;
    const OpcodeForm& form = module_.form(f_[test]);
    const std::string_view opcode = module_.text(form.text);
    const auto sources = f_.operandsOf(f_[test]);
    if (form.row == nullptr || form.row->key != "setp" || sources.size() != 3 || !sources[0].isRegister()) continue;
    const std::size_t end = opcode.find('.', 5);
    const std::string_view word = end == std::string_view::npos ? std::string_view() : opcode.substr(5, end - 5);
    const auto known = std::ranges::find(kComparisons, word, &ComparisonName::name);
    const RegisterClass type = info(form.type).registerClass;
    if (known == std::end(kComparisons) || opcode.substr(end + 1) != info(form.type).name ||
        (type != RegisterClass::B16 && type != RegisterClass::B32 && type != RegisterClass::B64))
      continue;

    const unsigned width = info(form.type).bits;
    const auto get = [&](const Operand& o) -> ExprId {
      if (const auto bits = immediate(f_, o)) return e_.constant(*bits, width);
      return o.isRegister() && o.flags == 0 && widthOf(o.reg()) == width ? read(o.reg(), test) : ExprId();
    };
    ExitTest t;
    t.loop = l;
    t.block = exit.from;
    t.test = test;
    t.branch = branchId;
    t.tested = get(sources[1]);
    t.limit = get(sources[2]);
    t.comparison = known->comparison;
    t.isSigned = info(form.type).name.starts_with('s') && !known->isUnsigned;
    if (!t.tested.valid() || !t.limit.valid()) continue;
    if (e_.isRecurrence(t.limit, l)) {
      std::swap(t.tested, t.limit);
      t.comparison = swapped(t.comparison);
      t.swapped = true;
    }
    if (!e_.isRecurrence(t.tested, l) || !e_.isInvariant(t.limit, l)) continue;
    // The loop goes on while the branch does not leave it.
    const bool goesOnWhenTrue = leavesWhenTaken == guard.is(Operand::Not);
    t.trueGoesOn = goesOnWhenTrue;
    if (!goesOnWhenTrue) t.comparison = negated(t.comparison);
    tests_[l.value].push_back(t);
  }
}

}  // namespace ptxopt
