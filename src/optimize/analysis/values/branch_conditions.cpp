// Each block knows the nearest block above it whose entry has a guard. The guard's conditions are read on the first
// request, by a worklist over the predicates that it is made of, up to a limit.
#include "analysis/values/branch_conditions.h"

#include "analysis/values/plain_operands.h"

namespace ptxopt {
namespace {

enum class Combination : uint8_t { None, And, Or, Other };

// A setp of integers.
struct Setp {
  Relation relation = Relation::Equal;
  Combination combination = Combination::None;
  unsigned width = 0;  // 0: none that is understood
  bool isSigned = false;
};

Setp readSetp(const OpcodeForm& form) {
  const auto relation = relationOf(form.comparison);
  if (form.op != Op::Setp || !relation || form.typeCount != 1 || !isIntegerOrBits(form.type) ||
      !form.hasOnly(field::Comparison | field::Operation))
    return {};
  Setp s;
  s.relation = *relation;
  s.width = info(form.type).bits;
  s.isSigned = isSignedType(form.type);
  if (form.operation != CombineOperation::None)
    s.combination = form.operation == CombineOperation::And  ? Combination::And
                    : form.operation == CombineOperation::Or ? Combination::Or
                                                             : Combination::Other;
  return s;
}

}  // namespace

std::optional<Relation> relationOf(ComparisonOperator c) {
  switch (c) {
    case ComparisonOperator::Eq: return Relation::Equal;
    case ComparisonOperator::Ne: return Relation::NotEqual;
    case ComparisonOperator::Lt:
    case ComparisonOperator::Lo: return Relation::Less;
    case ComparisonOperator::Le:
    case ComparisonOperator::Ls: return Relation::LessEqual;
    case ComparisonOperator::Gt:
    case ComparisonOperator::Hi: return Relation::Greater;
    case ComparisonOperator::Ge:
    case ComparisonOperator::Hs: return Relation::GreaterEqual;
    default: return std::nullopt;
  }
}

std::string_view name(Relation r) {
  static constexpr std::string_view kNames[] = {"==", "!=", "<", "<=", ">", ">="};
  return kNames[static_cast<std::size_t>(r)];
}

Relation negated(Relation r) {
  switch (r) {
    case Relation::Equal: return Relation::NotEqual;
    case Relation::NotEqual: return Relation::Equal;
    case Relation::Less: return Relation::GreaterEqual;
    case Relation::LessEqual: return Relation::Greater;
    case Relation::Greater: return Relation::LessEqual;
    case Relation::GreaterEqual: return Relation::Less;
  }
  return r;
}

Relation swapped(Relation r) {
  switch (r) {
    case Relation::Less: return Relation::Greater;
    case Relation::LessEqual: return Relation::GreaterEqual;
    case Relation::Greater: return Relation::Less;
    case Relation::GreaterEqual: return Relation::LessEqual;
    default: return r;
  }
}

BranchConditions::BranchConditions(const Module& module, const Function& function, const Cfg& cfg,
                                   const DominatorTree& dominators, const SlotIndexes& slots,
                                   const LiveIntervals& intervals)
    : module_(module),
      f_(function),
      cfg_(cfg),
      dominators_(dominators),
      slots_(slots),
      intervals_(intervals),
      nearest_(cfg.size()),
      entries_(cfg.size()) {
  std::vector<bool> isRoot(cfg.size());
  for (const BlockId b : cfg.roots()) isRoot[b.value] = true;
  for (const BlockId b : dominators.preOrder()) {
    if (!isRoot[b.value]) entries_[b.value] = findEntry(b);
    if (entries_[b.value].guard.valid())
      nearest_[b.value] = b;
    else if (const BlockId parent = dominators.parent(b); parent.valid())
      nearest_[b.value] = nearest_[parent.value];
  }
}

BranchConditions::Entry BranchConditions::findEntry(BlockId b) const {
  // What comes from blocks that `b` dominates has come through it before.
  BlockId from;
  for (const BlockId p : cfg_.predecessors(b)) {
    if (cfg_[p].reachable && dominators_.dominates(b, p)) continue;
    if (from.valid() || !cfg_[p].reachable) return {};
    from = p;
  }
  if (!from.valid()) return {};
  const InstrId id = cfg_[from].last;
  if (!id.valid()) return {};
  const Instruction& last = f_[id];
  if (!last.isInstruction() || !last.is(Instruction::Guarded)) return {};
  const OpcodeForm& form = module_.form(last);
  if (!form.knowsOperands() || form.is(effect::IndirectBranch | effect::Unknown | effect::Call)) return {};
  const bool falls = b.value == from.value + 1;
  bool isTaken = false;
  if (form.is(effect::Branch)) {
    if (cfg_.successors(from).size() != 2) return {};  // both ways lead to one block
    isTaken = !falls;
  } else if (!form.is(effect::Return | effect::Exit | effect::NoReturn) || !falls ||
             cfg_.successors(from).size() != 1) {
    return {};
  }
  const Operand& guard = f_.operandsOf(last)[0];
  if (!guard.is(Operand::Guard) || !guard.isRegister() || guard.isGroup()) return {};
  Entry e;
  e.value = intervals_[guard.reg()].valueIn(slots_[id]);
  e.truth = isTaken != guard.is(Operand::Not);
  if (e.value.valid()) e.guard = guard.reg();
  return e;
}

BlockId BranchConditions::above(BlockId b) const {
  const BlockId parent = dominators_.parent(b);
  return parent.valid() ? nearest_[parent.value] : BlockId();
}

// With its conditions read.
const BranchConditions::Entry& BranchConditions::entryOf(BlockId b) {
  Entry& e = entries_[b.value];
  if (!e.isRead) {
    e.isRead = true;
    e.first = static_cast<uint32_t>(conditions_.size());
    work_.push_back({e.guard, e.value, e.truth});
    for (std::size_t looked = 0; !work_.empty(); ++looked) {
      const Fact fact = work_.back();
      work_.pop_back();
      if (looked < kMostOfGuard) read(fact, b);
    }
    e.count = static_cast<uint32_t>(conditions_.size()) - e.first;
  }
  return e;
}

// Reads what computed a predicate; more predicates go to the work list.
void BranchConditions::read(const Fact& fact, BlockId b) {
  const LiveValue& value = intervals_[fact.reg][fact.value];
  if (value.kind != ValueKind::Instruction || value.isPartial) return;
  const InstrId id = slots_.instructionAt(value.def);
  if (!id.valid()) return;
  const Instruction& i = f_[id];
  if (i.is(Instruction::Guarded)) return;
  const OpcodeForm& form = module_.form(i);
  if (form.op == Op::Setp) return readCompare(i, id, fact, b);
  const PlainOperands operands(f_.operandsOf(i));
  const bool isAnd = form.isExactly(Op::And, ScalarType::pred), isOr = form.isExactly(Op::Or, ScalarType::pred);
  if ((isAnd || isOr) && fact.truth == isAnd) {
    also(operands.single(1), id, fact.truth);
    also(operands.single(2), id, fact.truth);
  } else if (form.isExactly(Op::Not, ScalarType::pred) || form.isExactly(Op::Mov, ScalarType::pred)) {
    also(operands.single(1), id, fact.truth == (form.op == Op::Mov));
  }
}

// A predicate that instruction `id` reads was `truth`.
void BranchConditions::also(const Operand* o, InstrId id, bool truth) {
  if (o == nullptr || !o->isRegister() || f_.registers[o->payload].registerClass() != RegisterClass::Pred) return;
  const ValueId value = intervals_[o->reg()].valueIn(slots_[id]);
  if (value.valid()) work_.push_back({o->reg(), value, truth != o->is(Operand::Not)});
}

void BranchConditions::readCompare(const Instruction& i, InstrId id, const Fact& fact, BlockId b) {
  const PlainOperands operands(f_.operandsOf(i));
  if (operands.size() < 3) return;
  // The second result, after `|`, has the comparison negated.
  unsigned written = 0;
  bool isSecond = false;
  for (const Operand& o : operands[0])
    if (o.isRegister() && o.reg() == fact.reg) {
      ++written;
      isSecond = o.join == Join::Pipe;
    }
  if (written != 1) return;
  const Setp setp = readSetp(module_.form(i));
  if (setp.width == 0) return;
  bool holds = fact.truth;
  if (setp.combination != Combination::None) {
    // `x and c` is true, or `x or c` is false: both are.
    if (setp.combination == Combination::Other || fact.truth != (setp.combination == Combination::And)) return;
    also(operands.single(3), id, fact.truth);
  }
  if (isSecond) holds = !holds;
  BranchCondition c;
  c.compare = id;
  c.block = b;
  c.relation = holds ? setp.relation : negated(setp.relation);
  c.isSigned = setp.isSigned;
  c.truth = holds;
  c.width = setp.width;
  if (readOperand(operands.single(1), id, setp.width, c.left) &&
      readOperand(operands.single(2), id, setp.width, c.right))
    conditions_.push_back(c);
}

bool BranchConditions::readOperand(const Operand* o, InstrId id, unsigned width, ConditionOperand& operand) const {
  if (o == nullptr || o->is(Operand::Negated) || o->is(Operand::Not) || o->is(Operand::Complement)) return false;
  const uint64_t mask = width >= 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  if (const auto bits = immediate(f_, *o)) {
    operand.constant = *bits & mask;
    return true;
  }
  switch (o->kind) {
    case OperandKind::Register: {
      const Register& r = f_.registers[o->payload];
      if (r.lanes != 1 || info(r.type).bits != width) return false;
      operand.reg = o->reg();
      operand.value = intervals_[o->reg()].valueIn(slots_[id]);
      return operand.value.valid();
    }
    default: return false;
  }
}

}  // namespace ptxopt
