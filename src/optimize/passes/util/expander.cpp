// Registers that hold a value are hashed by their expression without its constant, as far up the dominator tree as a
// question needs. The nearest one that dominates the place is taken; what has been emitted is kept by expression and
// place.
#include "passes/util/expander.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <numeric>

#include "passes/util/insert_copy.h"
#include "passes/util/insertion_places.h"

namespace ptxopt {
namespace {

constexpr std::size_t kMostHolders = 16;

}  // namespace

Expander::Expander(Function& f, PassContext& context)
    : f_(f),
      context_(context),
      evolution_(context.analyses.scalarEvolution()),
      e_(evolution_.expressions()),
      cfg_(context.analyses.cfg()),
      dominators_(context.analyses.dominators()),
      slots_(context.analyses.slotIndexes()),
      intervals_(context.analyses.liveIntervals()),
      scopes_(context.module, f),
      known_(f.instructions.size()) {
  if (scopes_.areMany()) occurrences();
}

const Occurrences& Expander::occurrences() const {
  if (occurrences_) return *occurrences_;
  assert(f_.instructions.size() == known_);
  return occurrences_.emplace(f_);
}

// A name means before new instructions what it means before the next instruction of the function.
bool Expander::canBeNamed(RegId r, InstrId place) const {
  if (!scopes_.areMany()) return true;
  while (place.valid() && place.value >= known_) place = f_[place].next;
  return scopes_.reaches(occurrences(), r, place);
}

// What each value holds. A value that is a recurrence holds its expression only in the iteration in which it begins.
void Expander::findValues() {
  isSearched_.resize(cfg_.size());
  const auto forEachValue = [&](auto visit) {
    for (uint32_t r = 0; r < intervals_.size(); ++r) {
      if (RegId(r) == Function::kCarry || f_.registers[r].lanes != 1) continue;
      const auto& values = intervals_[RegId(r)].values();
      for (uint32_t v = 0; v < values.size(); ++v)
        visit(slots_.blockAt(values[v].def).value, Value{RegId(r), ValueId(v)});
    }
  };
  valueStart_.assign(cfg_.size() + 2, 0);
  forEachValue([&](uint32_t block, const Value&) { ++valueStart_[block + 2]; });
  std::partial_sum(valueStart_.begin(), valueStart_.end(), valueStart_.begin());
  values_.resize(valueStart_.back());
  // Each start moves to the end of its row, where the next one's is.
  forEachValue([&](uint32_t block, const Value& v) { values_[valueStart_[block + 1]++] = v; });
}

void Expander::findHolders(BlockId b) {
  isSearched_[b.value] = true;
  for (const Value& known : valuesOf(b)) {
    const LiveValue& v = intervals_[known.reg][known.value];
    const ExprId e = evolution_.of(known.reg, known.value);
    if (!e.valid() || e_.isConstant(e)) continue;
    const InstrId definition = v.kind == ValueKind::Instruction ? slots_.instructionAt(v.def) : InstrId();
    if (v.kind == ValueKind::Instruction && !definition.valid()) continue;
    const int64_t constant = signedAt(e_.constantPart(e), e_[e].width);
    const ExprId key = e_.withoutConstant(e);
    if (holders_.size() <= key.value) holders_.resize(e_.size());
    Holders& holders = holders_[key.value];
    if (holders.count == kMostHolders) continue;
    ++holders.count;
    Holder& added = allHolders_.emplace_back(Holder{known.reg, known.value, b, definition, constant});
    (holders.last == nullptr ? holders.first : holders.last->next) = &added;
    holders.last = &added;
  }
}

bool Expander::dominates(const Holder& h, const ExpansionPlace& place) const {
  if (h.block != place.block) return dominators_.dominates(h.block, place.block);
  if (!h.definition.valid()) return true;
  if (!place.before.valid() || cfg_.blockOf(place.before) != place.block) return true;  // the block's end
  const SlotIndex at = slots_[place.before];
  return !at.valid() || slots_[h.definition] < at;
}

// A recurrence varies with the iterations: the place must be in its loops, and in the iteration of the definition,
// which is so where the definition dominates it and the loops around both are the same.
bool Expander::canName(const Holder& h, const ExpansionPlace& place) const {
  if (!dominates(h, place)) return false;
  const Loops& loops = context_.analyses.loops();
  for (LoopId l = loops.of(h.block); l.valid(); l = loops[l].parent)
    if (!loops.contains(l, place.block)) return false;
  // A copy of a phi would stand at the start of its block.
  if (!h.definition.valid() && !canBeNamed(h.reg, placeAtStart(context_.module, f_, cfg_[h.block]))) return false;
  return canBeNamed(h.reg, place.before);
}

template <typename Accept>
const Expander::Holder* Expander::findHolder(ExprId e, const ExpansionPlace& place, Accept&& accept) {
  // Only what dominates the place holds anything there: what was searched for one place need not be for the next.
  if (values_.empty()) findValues();
  for (BlockId b = place.block; b.valid() && !isSearched_[b.value]; b = dominators_.parent(b)) findHolders(b);
  const ExprId key = e_.withoutConstant(e);
  if (key.value >= holders_.size()) return nullptr;
  const Holder* best = nullptr;
  for (const Holder* h = holders_[key.value].first; h != nullptr; h = h->next)
    if (accept(*h) && canName(*h, place) &&
        (best == nullptr || dominators_.depth(h->block) > dominators_.depth(best->block)))
      best = h;
  return best;
}

const Expander::Holder* Expander::holderAt(ExprId e, const ExpansionPlace& place) {
  const int64_t constant = signedAt(e_.constantPart(e), e_[e].width);
  return findHolder(e, place, [&](const Holder& h) { return h.constant == constant; });
}

const Expander::Holder* Expander::nearAt(ExprId e, const ExpansionPlace& place) {
  return findHolder(e, place, [](const Holder&) { return true; });
}

// In each iteration a recurrence of the loop is its start and that many steps, as the counter is: the counts are the
// same.
std::optional<Expander::OfCounter> Expander::ofCounter(ExprId recurrence, const ExpansionPlace& place) {
  const Expr n = e_[recurrence];
  const Loops& loops = context_.analyses.loops();
  if (!loops.contains(n.loop, place.block)) return std::nullopt;
  if (values_.empty()) findValues();
  std::size_t tries = 0;
  for (const Value& known : valuesOf(loops[n.loop].header)) {
    if (intervals_[known.reg][known.value].kind != ValueKind::Phi) continue;
    OfCounter made{.counter = evolution_.of(known.reg, known.value), .rest = {}};
    if (!made.counter.valid() || !e_.isRecurrence(made.counter, n.loop)) continue;
    if (++tries > kMostHolders) return std::nullopt;
    for (made.isSigned = true;; made.isSigned = false) {
      const bool isNarrow = e_[made.counter].width == 32 && n.width == 64;
      if (!isNarrow && e_[made.counter].width != n.width) break;
      const ExprId wide = !isNarrow       ? made.counter
                          : made.isSigned ? evolution_.signExtend(made.counter, 64)
                                          : evolution_.zeroExtend(made.counter, 64);
      if (e_.isRecurrence(wide, n.loop)) {
        const Expr step = e_[e_[wide].step()], wanted = e_[n.step()];
        const int64_t one = signedAt(step.constant, n.width), all = signedAt(wanted.constant, n.width);
        const bool isMultiple = step.kind == ExprKind::Constant && wanted.kind == ExprKind::Constant && one != 0 &&
                                all != INT64_MIN && all % one == 0 && fitsSigned32(all / one);
        if (isMultiple) made.factor = static_cast<uint64_t>(all / one);
        // mul.wide.u32 takes its constant without a sign, as 32 bits.
        const bool isTaken = !isNarrow || made.isSigned || static_cast<int64_t>(made.factor) > 0;
        if ((isMultiple || e_[wide].step() == n.step()) && isTaken) {
          made.factor = maskTo(made.factor, n.width);
          made.rest = e_.subtract(recurrence, e_.scale(wide, made.factor));
          if (e_.isInvariant(made.rest, n.loop) && holderAt(made.counter, place) != nullptr) return made;
        }
      }
      if (!isNarrow || !made.isSigned) break;
    }
  }
  return std::nullopt;
}

RegId Expander::make(unsigned width) {
  return f_.makeRegister(width == 64 ? ScalarType::b64 : width == 32 ? ScalarType::b32 : ScalarType::b16);
}

RegId Expander::use(const Holder& h, const ExpansionPlace& place) {
  const LiveRange& range = intervals_[h.reg];
  if (range.values().size() == 1) return h.reg;
  const SlotIndex at =
      place.before.valid() && slots_[place.before].valid() && cfg_.blockOf(place.before) == place.block
          ? slots_[place.before].base()
          : slots_.last(place.block);
  if (range.valueAt(at) == h.value) return h.reg;
  RegId& copy = copies_[{h.reg.value, h.value.value}];
  if (!copy.valid()) {
    copy = f_.makeRegister(f_.registers[h.reg.value].type);
    const InstrId after =
        h.definition.valid() ? f_[h.definition].next : placeAtStart(context_.module, f_, cfg_[h.block]);
    insertCopy(context_.module, f_, copy, h.reg, after);
    ++inserted_;
  }
  return copy;
}

InstrId Expander::instruction(SynthOpcode opcode, std::initializer_list<Operand> operands, InstrId before) {
  ++inserted_;
  return f_.insert(before, context_.module.synthOpcode(opcode), std::vector<Operand>(operands));
}

void Expander::addTo(RegId to, RegId a, RegId b, unsigned width, InstrId before) {
  instruction(width == 64 ? SynthOpcode::AddS64 : SynthOpcode::AddS32,
              {defOperand(to), useOperand(a), useOperand(b)}, before);
}

RegId Expander::add(RegId a, RegId b, unsigned width, InstrId before) {
  const RegId to = make(width);
  addTo(to, a, b, width, before);
  return to;
}

RegId Expander::addImmediate(RegId a, int64_t c, unsigned width, InstrId before) {
  if (c == 0) return a;
  if (!fitsSigned32(c)) {
    const RegId constant = make(width);
    instruction(SynthOpcode::MovB64, {defOperand(constant), f_.numberOperand(c)}, before);
    return add(a, constant, width, before);
  }
  const RegId to = make(width);
  instruction(width == 64 ? SynthOpcode::AddS64 : SynthOpcode::AddS32,
              {defOperand(to), useOperand(a), f_.numberOperand(c)}, before);
  return to;
}

void Expander::addConstantTo(RegId reg, int64_t c, unsigned width, InstrId before) {
  if (!fitsSigned32(c)) {
    addTo(reg, reg, emit(e_.constant(static_cast<uint64_t>(c), width), {BlockId(), before}), width, before);
    return;
  }
  instruction(width == 64 ? SynthOpcode::AddS64 : SynthOpcode::AddS32,
              {defOperand(reg), useOperand(reg), f_.numberOperand(c)}, before);
}

RegId Expander::multiplyWide(RegId a, int64_t factor, bool isSigned, InstrId before) {
  const RegId to = f_.makeRegister(ScalarType::b64, 1, NameHint::Product);
  instruction(isSigned ? SynthOpcode::MulWideS32 : SynthOpcode::MulWideU32,
              {defOperand(to), useOperand(a), f_.numberOperand(factor)}, before);
  return to;
}

RegId Expander::multiplyWide(RegId a, RegId b, bool isSigned, InstrId before) {
  const RegId to = f_.makeRegister(ScalarType::b64, 1, NameHint::Product);
  instruction(isSigned ? SynthOpcode::MulWideS32 : SynthOpcode::MulWideU32,
              {defOperand(to), useOperand(a), useOperand(b)}, before);
  return to;
}

RegId Expander::subtract(RegId a, RegId b, InstrId before) {
  const RegId to = make(64);
  instruction(SynthOpcode::SubS64, {defOperand(to), useOperand(a), useOperand(b)}, before);
  return to;
}

void Expander::copyTo(RegId to, RegId from, InstrId before) {
  insertCopy(context_.module, f_, to, from, before);
  ++inserted_;
}

RegId Expander::constantDefinition(const Expr& n, const ExpansionPlace& place) {
  const InstrId id = evolution_.constantDefinition(n.reg(), n.value());
  const Instruction i = f_[id];
  const auto operands = f_.operandsOf(i);
  std::vector<Operand> copy(operands.begin(), operands.end());
  const RegId to = f_.makeRegister(f_.registers[n.reg().value].type);
  copy[0] = defOperand(to);
  f_.insert(place.before, i.opcode(), copy);
  ++inserted_;
  return to;
}

RegId Expander::emit(ExprId e, const ExpansionPlace& place) {
  if (const Holder* h = holderAt(e, place)) return use(*h, place);
  if (const RegId known = emitted_[{e.value, place.before.value}]; known.valid()) return known;
  const Expr n = e_[e];
  if (n.kind != ExprKind::Constant) {
    if (const Holder* h = nearAt(e, place)) {
      const int64_t constant = signedAt(e_.constantPart(e), n.width) - h->constant;
      return emitted_[{e.value, place.before.value}] =
                 addImmediate(use(*h, place), constant, n.width, place.before);
    }
  }
  RegId result;
  switch (n.kind) {
    case ExprKind::Constant: {
      result = make(n.width);
      instruction(n.width == 64 ? SynthOpcode::MovB64 : SynthOpcode::MovB32,
                  {defOperand(result), f_.numberOperand(signedAt(n.constant, n.width))}, place.before);
      break;
    }
    case ExprKind::Value: result = constantDefinition(n, place); break;
    case ExprKind::Sum: result = emitSum(e, place); break;
    case ExprKind::Product: {
      for (uint32_t k = 0; k < n.termCount; ++k) {
        const ExprId expr = e_.terms(e)[k].expr;
        const RegId factor = emit(expr, place);
        if (!result.valid()) {
          result = factor;
          continue;
        }
        const RegId product = make(n.width);
        instruction(n.width == 64 ? SynthOpcode::MulLoS64 : SynthOpcode::MulLoS32,
                    {defOperand(product), useOperand(result), useOperand(factor)}, place.before);
        result = product;
      }
      break;
    }
    case ExprKind::SignExtend:
    case ExprKind::ZeroExtend: {
      const RegId inner = emit(n.operand(), place);
      result = make(64);
      instruction(n.kind == ExprKind::SignExtend ? SynthOpcode::CvtS64S32 : SynthOpcode::CvtU64U32,
                  {defOperand(result), useOperand(inner)}, place.before);
      break;
    }
    case ExprKind::Recurrence: result = emitOfCounter(e, place); break;
    default: {  // Truncate
      const RegId inner = emit(n.operand(), place);
      result = make(32);
      instruction(SynthOpcode::CvtU32U64, {defOperand(result), useOperand(inner)}, place.before);
    }
  }
  emitted_[{e.value, place.before.value}] = result;
  return result;
}

RegId Expander::emitOfCounter(ExprId recurrence, const ExpansionPlace& place) {
  const unsigned width = e_[recurrence].width;
  const auto made = ofCounter(recurrence, place);
  RegId all;
  if (e_[made->counter].width == width) {
    all = emitProduct(made->counter, made->factor, place);
  } else if (const RegId counter = emit(made->counter, place); made->factor == 1) {
    all = make(width);
    instruction(made->isSigned ? SynthOpcode::CvtS64S32 : SynthOpcode::CvtU64U32,
                {defOperand(all), useOperand(counter)}, place.before);
  } else {
    all = multiplyWide(counter, signedAt(made->factor, width), made->isSigned, place.before);
  }
  if (e_.isConstant(made->rest))
    return addImmediate(all, signedAt(e_[made->rest].constant, width), width, place.before);
  return add(emit(made->rest, place), all, width, place.before);
}

RegId Expander::emitToKeep(ExprId e, const ExpansionPlace& place) {
  const RegId r = emit(e, place);
  if (r.value >= intervals_.size()) return r;  // made here
  if (intervals_[r].values().size() == 1 && !scopes_.areMany()) return r;
  const RegId copy = f_.makeRegister(f_.registers[r.value].type);
  copyTo(copy, r, place.before);
  return copy;
}

RegId Expander::emitProduct(ExprId e, uint64_t factor, const ExpansionPlace& place) {
  const unsigned width = e_[e].width;
  const RegId x = emit(e, place);
  if (factor == 1) return x;
  const RegId to = make(width);
  if (std::has_single_bit(factor)) {
    instruction(width == 64 ? SynthOpcode::ShlB64 : SynthOpcode::ShlB32,
                {defOperand(to), useOperand(x), integerOperand(std::countr_zero(factor))}, place.before);
    return to;
  }
  const int64_t c = signedAt(factor, width);
  if (c == -1) {
    instruction(width == 64 ? SynthOpcode::NegS64 : SynthOpcode::NegS32, {defOperand(to), useOperand(x)},
                place.before);
    return to;
  }
  if (fitsSigned32(c)) {
    instruction(width == 64 ? SynthOpcode::MulLoS64 : SynthOpcode::MulLoS32,
                {defOperand(to), useOperand(x), f_.numberOperand(c)}, place.before);
    return to;
  }
  const RegId constant = emit(e_.constant(factor, width), place);
  instruction(SynthOpcode::MulLoS64, {defOperand(to), useOperand(x), useOperand(constant)}, place.before);
  return to;
}

RegId Expander::emitSum(ExprId e, const ExpansionPlace& place) {
  const Expr n = e_[e];
  const int64_t constant = signedAt(n.constant, n.width);
  std::vector<WideProduct> wides;
  RegId all;
  const auto take = [&](RegId r) { all = all.valid() ? add(all, r, n.width, place.before) : r; };
  for (uint32_t k = 0; k < n.termCount; ++k) {
    const ExprTerm t = e_.terms(e)[k];
    if (const auto wide = wideTerm(n, t))
      wides.push_back(*wide);
    else
      take(emitProduct(t.expr, t.factor, place));
  }
  if (constant != 0 && all.valid()) all = addImmediate(all, constant, n.width, place.before);
  const bool constantLast = constant != 0 && !all.valid();
  for (const WideProduct& w : wides) {
    const RegId left = emit(w.left, place);
    take(w.right.valid() ? multiplyWide(left, emit(w.right, place), w.isSigned, place.before)
                         : multiplyWide(left, w.constant, w.isSigned, place.before));
  }
  return constantLast ? addImmediate(all, constant, n.width, place.before) : all;
}

}  // namespace ptxopt
