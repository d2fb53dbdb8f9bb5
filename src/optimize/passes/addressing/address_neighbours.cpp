// Addresses from their neighbours: one that is another one plus or minus a register of 64 bits, shifted perhaps, is
// computed from that one, where it takes fewer instructions than what dies with the old way. A part of
// address_rebuild.h.
//
// Counted is what ptxas makes of each PTX instruction (weight()), and only what varies in the loop around, since it
// hoists the rest. Cost: linear; the latest few addresses are compared with each one that is dear enough.
// Declines: pressure, scope.
#include <algorithm>
#include <bit>

#include "passes/addressing/address_rebuild.h"

namespace ptxopt {
namespace {

bool has64Bits(const OpcodeForm& form) { return info(form.type).bits == 64 || info(form.sourceType).bits == 64; }

// A sum or a difference of whatever type.
bool isSum(const OpcodeForm& form) { return form.op == Op::Add || form.op == Op::Sub; }

}  // namespace

// Machine instructions that ptxas makes of one.
unsigned AddressRebuild::weight(InstrId id) const {
  const OpcodeForm& opcode = form(id);
  const auto operands = f_.operandsOf(f_[id]);
  if (opcode.isConversion(ScalarType::u64, ScalarType::u32) || isFreeCopy(opcode)) return 0;
  const bool isWide = has64Bits(opcode);
  // What is there stands until apply().
  if (isChanged_[id.value] && (isShift(opcode) || opcode.op == Op::Mul)) return 1;
  if (isWideProduct(opcode) || opcode.op == Op::Cvt) return 1;
  if ((opcode.op == Op::Mul || opcode.op == Op::Mad) && opcode.half == ProductHalf::Lo) {
    if (!isWide) return 1;
    const auto bits = immediate(f_, operands[2]);
    return bits && std::has_single_bit(*bits) ? 2 : 4;
  }
  if (isShift(opcode) || isSum(opcode)) {
    if (!isWide) return 1;
    // A sum with a product or a shift of a single use takes that in: IMAD.WIDE; LEA, LEA.HI.X.
    if (opcode.op == Op::Add)
      for (const Operand& o : operands.subspan(1)) {
        if (!o.isRegister()) continue;
        const ValueKey k = values_.read(o.reg(), id);
        if (!k.valid() || !values_.definition(k).valid() || values_.uses(k).size() != 1) continue;
        const OpcodeForm& source = form(values_.definition(k));
        if (isWideProduct(source) || isShift(source)) return 0;
      }
    return 2;
  }
  return isWide ? 2 : 1;
}

bool AddressRebuild::isInvariantAt(ValueKey k, LoopId l) const {
  if (!l.valid()) return false;
  const ExprId e = evolution_.of(values_.reg(k), values_.value(k));
  return e.valid() && expressions_.isInvariant(e, l);
}

// Whether another register holds the same: ptxas computes it once for both, and still does for one.
bool AddressRebuild::isHeldTwice(ValueKey k) const {
  const ExprId e = evolution_.of(values_.reg(k), values_.value(k));
  return e.valid() && e.value < holders_.size() && holders_[e.value] > 1;
}

void AddressRebuild::countHolders() {
  holders_.assign(expressions_.size(), 0);
  for (uint32_t k = 0; k < values_.size(); ++k) {
    const ValueKey key(k);
    const InstrId id = values_.definition(key);
    if (!id.valid() || values_.isRetired(id) || values_.uses(key).empty()) continue;
    const ExprId e = evolution_.of(values_.reg(key), values_.value(key));
    if (e.valid() && e.value < holders_.size()) ++holders_[e.value];
  }
}

// Machine instructions that go when the definition of `k` is replaced, with what only it needs.
unsigned AddressRebuild::freedWith(ValueKey k) const {
  const LoopId loop = context_.analyses.loops().of(slots_.blockAt(values_.place(k)));
  unsigned sum = 0;
  std::vector<ValueKey> dead{k};
  std::vector<std::pair<ValueKey, std::size_t>> lost;  // uses that died
  for (std::size_t at = 0; at < dead.size() && at < 16; ++at) {
    const InstrId id = values_.definition(dead[at]);
    sum += weight(id);
    if (isChanged_[id.value]) continue;  // it reads something else now
    const auto operands = f_.operandsOf(f_[id]);
    for (std::size_t o = 1; o < operands.size(); ++o) {
      if (!operands[o].isRegister() || !operands[o].reads()) continue;
      const ValueKey source = values_.read(operands[o].reg(), id);
      if (!source.valid() || !values_.isAlone(source) || !values_.definition(source).valid()) continue;
      if ((module_.form(f_[values_.definition(source)]).effects & effect::kKeep) != 0 ||
          module_.form(f_[values_.definition(source)]).is(effect::Read) || isInvariantAt(source, loop) ||
          isHeldTwice(source))
        continue;
      auto found = std::ranges::find(lost, source, &std::pair<ValueKey, std::size_t>::first);
      if (found == lost.end()) found = lost.insert(lost.end(), {source, 0});
      if (++found->second == values_.uses(source).size()) dead.push_back(source);
    }
  }
  return sum;
}

// +-(step << shift) + constant
bool AddressRebuild::readDistance(ExprId difference, Distance& d, int64_t& constant) const {
  const Expr& e = expressions_[difference];
  ExprTerm term{difference, 1};
  constant = 0;
  if (e.kind == ExprKind::Sum) {
    if (expressions_.terms(difference).size() != 1) return false;
    term = expressions_.terms(difference)[0];
    constant = static_cast<int64_t>(e.constant);
  }
  const auto factor = static_cast<int64_t>(term.factor);
  const uint64_t size = factor < 0 ? ~term.factor + 1 : term.factor;
  if (expressions_[term.expr].kind != ExprKind::Value || !std::has_single_bit(size)) return false;
  d = {term.expr, static_cast<unsigned>(std::countr_zero(size)), factor < 0};
  return d.shift < 32;
}

bool AddressRebuild::rebuildFrom(ValueKey k, ValueKey base, int freed) {
  const InstrId id = values_.definition(k);
  const BlockId block = context_.analyses.cfg().blockOf(id);
  const RegId reg = values_.reg(k), from = values_.reg(base);
  const ExprId mine = evolution_.of(reg, values_.value(k));
  const ExprId other = evolution_.of(from, values_.value(base));
  if (evolution_.seenFrom(from, values_.value(base), block) != other ||
      evolution_.seenFrom(reg, values_.value(k), block) != mine)
    return false;
  Distance d;
  int64_t constant = 0;
  if (!readDistance(expressions_.subtract(mine, other), d, constant)) return false;
  const Expr step = expressions_[d.step];
  const ValueKey stepKey = values_.key(step.reg(), step.value());
  bool extends = false;
  if (!stepKey.valid() || info(f_.registers[step.reg().value].type).bits != 64) return false;
  if (!values_.reaches(stepKey, id, extends) || extends) return false;
  if (!values_.reaches(base, id, extends)) return false;
  // What is added is hoisted where it does not vary; else a shift goes into an addition, but not into a
  // subtraction.
  const LoopId loop = context_.analyses.loops().of(block);
  const bool isFree = loop.valid() && expressions_.isInvariant(d.step, loop);
  const int cost = 2 + (d.isNegative && d.shift != 0 && !isFree ? 2 : 0);
  if (cost >= freed) return false;
  if (!reaches_(from, id) || !reaches_(step.reg(), id)) {
    missed_.add("scope");
    return false;
  }
  if (constant != 0)
    for (const ValueUse& u : values_.uses(k))
      if (!u.isAddress || !AddressValues::fits(u.immediate + constant)) return false;
  if (extends && !budget_.grant(2, values_.place(base), slots_[id])) {
    missed_.add("pressure");
    return false;
  }
  const Operand result = f_.operandsOf(f_[id])[0];
  std::vector<ValueKey> sources;
  for (const Operand& o : f_.operandsOf(f_[id]))
    if (o.isRegister() && o.reads())
      if (const ValueKey source = values_.read(o.reg(), id); source.valid()) sources.push_back(source);
  Change change{.id = id,
                .opcode = d.isNegative ? SynthOpcode::SubS64 : SynthOpcode::AddS64,
                .operands = {result, useOperand(from), useOperand(step.reg())}};
  if (d.shift != 0) {
    change.hasHelper = true;
    change.helper = SynthOpcode::ShlB64;
    change.helperOperands = {defOperand({}), useOperand(step.reg()), integerOperand(static_cast<int32_t>(d.shift))};
  }
  note(change);
  for (const ValueKey source : sources) values_.dropUses(source, id);
  values_.addUse(base, {.at = id, .operand = 1, .isPlain = true});
  values_.addUse(stepKey, {.at = id, .operand = 2, .isPlain = true});
  for (const ValueKey source : sources) values_.retire(source);
  if (constant != 0) {
    std::vector<ValueUse> uses(values_.uses(k).begin(), values_.uses(k).end());
    values_.clearUses(k);
    isMoved_[k.value] = true;
    for (ValueUse& u : uses) {
      u.immediate = static_cast<int32_t>(u.immediate + constant);
      values_.addUse(k, u);
      edits_.add({u.at, u.operand, reg, u.immediate, true});
    }
  }
  context_.count("from-neighbours");
  return true;
}

bool AddressRebuild::fromNeighbours() {
  if (context_.knobs[Knob::LsrCommonStrides] == 0) return false;
  std::vector<ValueKey> order(values_.addresses().begin(), values_.addresses().end());
  std::erase_if(order, [&](ValueKey k) { return values_.uses(k).empty() || !isGlobalAddress(k); });
  std::ranges::sort(order, [&](ValueKey a, ValueKey b) { return values_.place(a) < values_.place(b); });
  countHolders();
  bool changed = false;
  for (std::size_t at = 0; at < order.size(); ++at) {
    const ValueKey k = order[at];
    const InstrId id = values_.definition(k);
    if (!id.valid() || isChanged_[id.value] || !values_.isAlone(k) || values_.uses(k).empty()) continue;
    if (info(f_.registers[values_.reg(k).value].type).bits != 64) continue;
    if (!isSum(form(id))) continue;
    if (context_.isDeclined(id) ||
        std::ranges::any_of(values_.uses(k), [&](const ValueUse& u) { return context_.isDeclined(u.at); })) {
      missed_.add(kAsked);
      continue;
    }
    const LoopId loop = context_.analyses.loops().of(slots_.blockAt(values_.place(k)));
    if (isInvariantAt(k, loop)) continue;
    const unsigned freed = freedWith(k);
    if (freed <= 2) continue;
    const std::size_t end = at > kMostNeighbours ? at - kMostNeighbours : 0;
    for (std::size_t before = at; before-- > end;) {
      // One whose constant went into its uses holds something else now.
      if (values_.uses(order[before]).empty() || isMoved_[order[before].value]) continue;
      if (rebuildFrom(k, order[before], static_cast<int>(freed))) {
        changed = true;
        break;
      }
    }
  }
  return changed;
}

}  // namespace ptxopt
