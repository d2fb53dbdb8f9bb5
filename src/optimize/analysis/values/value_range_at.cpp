// What the branches above a block say of the values in it: part of value_range.h.

#include "analysis/values/plain_operands.h"
#include "analysis/values/value_range.h"

namespace ptxopt {

using Kind = RangeOperation::Kind;

std::vector<BranchCondition> ValueRanges::conditionsAt(BlockId b, std::size_t most) {
  std::vector<BranchCondition> found;
  conditions_.forEach(b, kMostEdges, [&](const BranchCondition& c) {
    if (found.size() == most) return false;
    found.push_back(c);
    return true;
  });
  return found;
}

IntegerRange ValueRanges::at(const ConditionOperand& operand, unsigned width, BlockId b) {
  if (operand.isConstant()) return IntegerRange::constant(width, operand.constant);
  return at(operand.reg, operand.value, b);
}

// The value that `v` is a copy of, through plain movs between registers of one width.
ValueRanges::Value ValueRanges::original(Value v) {
  std::optional<Value>& known = originals_[index(v)];
  if (known) return *known;
  Value at = v;
  for (unsigned i = 0; i < kMostCopies; ++i) {
    const LiveValue& value = intervals_[at.reg][at.value];
    if (value.kind != ValueKind::Instruction || value.isPartial) break;
    const Definition d = definitionOf(at);
    if (d.operation == nullptr || d.operation->kind != Kind::Copy || d.isGuarded) break;
    const PlainOperands operands(f_.operandsOf(*d.instruction));
    const Operand* source = operands.single(1);
    if (source == nullptr || !source->isRegister() || widthOf(source->reg()) != widthOf(at.reg) ||
        d.operation->width != widthOf(at.reg))
      break;
    const Value from{source->reg(), valueRead(source->reg(), d.id)};
    if (!from.value.valid()) break;
    at = from;
  }
  known = at;
  return at;
}

// The values of `range` for which `relation` may hold with some value of `other`.
IntegerRange ValueRanges::constrained(const IntegerRange& range, const Constraint& c) {
  const unsigned width = range.width();
  const IntegerRange all = IntegerRange::full(width), none = IntegerRange::empty(width);
  const IntegerRange& o = c.other;
  switch (c.relation) {
    case Relation::Equal: return range.meet(o);
    case Relation::NotEqual: {
      if (!o.isConstant()) return range;
      if (range.isConstant()) return range == o ? none : range;
      // What is below the number and what is above it: that narrows where it is at an end.
      IntegerRange left = none;
      if (o.least() > 0) left = left.join(range.meet(IntegerRange::ofUnsigned(width, 0, o.least() - 1)));
      if (o.most() < all.most())
        left = left.join(range.meet(IntegerRange::ofUnsigned(width, o.most() + 1, all.most())));
      return left;
    }
    case Relation::Less:
      if (c.isSigned)
        return o.largest() == all.smallest()
                   ? none
                   : range.meet(IntegerRange::ofSigned(width, all.smallest(), o.largest() - 1));
      return o.most() == 0 ? none : range.meet(IntegerRange::ofUnsigned(width, 0, o.most() - 1));
    case Relation::LessEqual:
      return range.meet(c.isSigned ? IntegerRange::ofSigned(width, all.smallest(), o.largest())
                                   : IntegerRange::ofUnsigned(width, 0, o.most()));
    case Relation::Greater:
      if (c.isSigned)
        return o.smallest() == all.largest()
                   ? none
                   : range.meet(IntegerRange::ofSigned(width, o.smallest() + 1, all.largest()));
      return o.least() == all.most() ? none
                                     : range.meet(IntegerRange::ofUnsigned(width, o.least() + 1, all.most()));
    case Relation::GreaterEqual:
      return range.meet(c.isSigned ? IntegerRange::ofSigned(width, o.smallest(), all.largest())
                                   : IntegerRange::ofUnsigned(width, o.least(), all.most()));
  }
  return range;
}

KnownRange ValueRanges::explainAt(RegId r, ValueId v, BlockId b) {
  const BlockId nearest = conditions_.nearest(b);
  if (!v.valid() || !nearest.valid() || widthOf(r) == 0) return explain(r, v);
  const uint64_t key = uint64_t{index({r, v})} << 32 | nearest.value;
  if (const auto found = inBlocks_.find(key); found != inBlocks_.end()) return found->second;
  hold(nearest);
  std::size_t asked = 0;
  const KnownRange known = explainHere({r, v}, kMostDepth, asked);
  inBlocks_.emplace(key, known);
  return known;
}

// Gathers the conditions of a block.
void ValueRanges::hold(BlockId nearest) {
  if (heldAt_ == nearest) return;
  heldAt_ = nearest;
  held_.clear();
  ++heldNumber_;
  narrowed_.resize(numbers_.size());
  conditions_.forEach(nearest, kMostEdges, [&](const BranchCondition& c) {
    const auto originalOf = [&](const ConditionOperand& o) {
      return o.isConstant() ? Value{} : original({o.reg, o.value});
    };
    held_.push_back({c, originalOf(c.left), originalOf(c.right)});
    for (const Value& v : {held_.back().left, held_.back().right})
      if (v.value.valid()) narrowed_[index(v)] = {.held = heldNumber_, .isCompared = true};
    return true;
  });
}

// Whether a condition of those gathered says something of the value, or of one that it is made of by up to `depth` - 1
// instructions.
bool ValueRanges::mayNarrow(const Value& v, unsigned depth) {
  if (!v.value.valid() || widthOf(v.reg) == 0 || depth == 0) return false;
  const Narrowed& same = narrowed_[index(original(v))];
  if (same.held == heldNumber_ && same.isCompared) return true;
  Narrowed& n = narrowed_[index(v)];
  if (n.held != heldNumber_) n = {.held = heldNumber_};
  if (depth <= n.notUpTo) return false;
  if (n.from != 0 && depth >= n.from) return true;
  bool may = false;
  if (definition(v.reg, v.value).valid()) {
    const Definition d = definitionOf(v);
    if (d.operation != nullptr && !d.isGuarded) {
      const PlainOperands operands(f_.operandsOf(*d.instruction));
      for (std::size_t i = 1; i <= d.operation->sources && !may; ++i)
        if (const Operand* o = operands.single(i); o != nullptr && o->isRegister())
          may = mayNarrow({o->reg(), valueRead(o->reg(), d.id)}, depth - 1);
    }
  }
  Narrowed& noted = narrowed_[index(v)];
  if (may)
    noted.from = static_cast<uint8_t>(depth);
  else
    noted.notUpTo = static_cast<uint8_t>(depth);
  return may;
}

// Under the conditions gathered. `depth`: how many instructions further up are looked at. `asked` counts the
// values, so that there is an end.
KnownRange ValueRanges::explainHere(const Value& v, unsigned depth, std::size_t& asked) {
  KnownRange known = explain(v.reg, v.value);
  if (!v.value.valid() || widthOf(v.reg) == 0 || depth == 0 || ++asked > kMostAsked || !mayNarrow(v, depth))
    return known;
  const auto narrow = [&](const IntegerRange& range, RangeReason reason, InstrId where) {
    const IntegerRange both = known.range.meet(range);
    if (!both.isEmpty() && both != known.range) known = {both, reason, where};
  };

  // From its sources as they are here.
  if (definition(v.reg, v.value).valid()) {
    const Definition d = definitionOf(v);
    if (d.operation != nullptr && !d.isGuarded) {
      const KnownRange again = computeInstruction(v, d, {Sources::From::Block, depth - 1, &asked});
      narrow(again.range, again.reason, again.where);
    }
  }

  const Value self = original(v);
  std::vector<Constraint> constraints;
  for (const Held& h : held_) {
    const BranchCondition& c = h.condition;
    const bool isLeft = h.left == self, isRight = h.right == self;
    if (isLeft == isRight || c.width != widthOf(v.reg)) continue;
    const ConditionOperand& other = isLeft ? c.right : c.left;
    const IntegerRange range = other.isConstant() ? IntegerRange::constant(c.width, other.constant)
                                                  : explainHere({other.reg, other.value}, depth - 1, asked).range;
    constraints.push_back({isLeft ? c.relation : swapped(c.relation), c.isSigned, range, c.compare});
  }
  // What is not equal only counts at the ends that the others leave.
  for (const bool wantsUnequal : {false, true})
    for (const Constraint& c : constraints)
      if ((c.relation == Relation::NotEqual) == wantsUnequal)
        narrow(constrained(known.range, c), RangeReason::Branch, c.where);
  return known;
}

}  // namespace ptxopt
