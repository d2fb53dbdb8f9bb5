// By how many bits shifts, factors and doublings move what a number was made of to the left: AddressSpaces::shifts_.
//
// A sum or difference may double where both sides are made of one value: `x + x`, `x - (-x)`, `x * 1 + x`. That is looked for
// through kMostWalked values; a walk that ends there counts as a doubling. A sum of things made apart is none: an offset that
// grows by a stride stays a number however often it grows.
#include <algorithm>
#include <bit>

#include "analysis/addresses/address_spaces.h"
#include "analysis/values/constant_operand.h"

namespace ptxopt {

bool AddressSpaces::visitPhi(const FlowValue& v, BlockId b) {
  unsigned shift = 0;
  forEachIncoming(v, b, [&](ValueId from) {
    if (from.valid()) shift = std::max<unsigned>(shift, shifts_[numbers_(v.reg, from)]);
  });
  return raiseShift(numbers_(v.reg, v.value), shift);
}

bool AddressSpaces::raiseShift(std::size_t value, unsigned shift) {
  const auto now = static_cast<uint8_t>(std::min(shift, kHalf));
  if (now <= shifts_[value]) return false;
  shifts_[value] = now;
  return true;
}

// The values that what instruction `id` reads in `o` is made of, itself among them; empty: too many to tell.
std::vector<std::size_t> AddressSpaces::sourcesOf(InstrId id, const Operand& o) const {
  std::vector<std::pair<RegId, ValueId>> found;
  const auto add = [&](RegId r, ValueId v) {
    if (v.valid() && std::ranges::find(found, std::pair(r, v)) == found.end()) found.emplace_back(r, v);
  };
  add(o.reg(), intervals_[o.reg()].valueIn(slots_[id]));
  for (std::size_t next = 0; next < found.size(); ++next) {
    if (found.size() > kMostWalked) return {};
    const auto [r, v] = found[next];
    const LiveValue& value = intervals_[r][v];
    if (value.kind == ValueKind::Phi) {
      for (const BlockId from : cfg_.predecessors(slots_.blockAt(value.def)))
        if (cfg_[from].reachable) add(r, intervals_[r].valueAt(slots_.last(from)));
    } else if (value.kind == ValueKind::Instruction) {
      const InstrId definition = slots_.instructionAt(value.def);
      for (const Operand& from : f_.operandsOf(f_[definition]))
        if (from.isRegister() && from.reads() && holdsAddresses(from.reg()))
          add(from.reg(), intervals_[from.reg()].valueIn(slots_[definition]));
    }
  }
  std::vector<std::size_t> indexes;
  for (const auto& [r, v] : found) indexes.push_back(numbers_(r, v));
  std::ranges::sort(indexes);
  return indexes;
}

// Whether instruction `id` may add up two operands that are made of one value. Where it stands in a loop and one of them is
// made of its own result, the other has to be, too: else that grows by the same each iteration.
bool AddressSpaces::mayDouble(InstrId id, const Operand& a, const Operand& b) const {
  const auto holds = [&](const Operand& o) { return o.isRegister() && holdsAddresses(o.reg()); };
  if (!holds(a) || !holds(b)) return false;
  const std::vector<std::size_t> ofA = sourcesOf(id, a), ofB = sourcesOf(id, b);
  if (ofA.empty() || ofB.empty()) return true;
  const RegId to = f_.operandsOf(f_[id])[f_[id].is(Instruction::Guarded) ? 1 : 0].reg();
  const std::size_t result = numbers_(to, intervals_[to].valueOut(slots_[id]));
  const auto has = [](const std::vector<std::size_t>& all, std::size_t x) {
    return std::ranges::binary_search(all, x);
  };
  if (has(ofA, result) != has(ofB, result)) return false;
  return std::ranges::any_of(ofA, [&](std::size_t x) { return has(ofB, x); });
}

// The result of instruction `id` as a number: shifts_.
unsigned AddressSpaces::shiftBy(InstrId id) const {
  const Instruction& i = f_[id];
  const PlainOperands operands(f_.operandsOf(i));
  const auto constant = [&](std::size_t k) -> std::optional<uint64_t> {
    const Operand* const o = operands.single(k);
    return o != nullptr ? constantOperand(module_, f_, slots_, intervals_, *o, id) : std::nullopt;
  };
  const auto shift = [&](std::size_t k) -> unsigned {
    const Operand* const o = operands.single(k);
    if (o == nullptr || !o->isRegister() || o->flags != 0 || !holdsAddresses(o->reg())) return 0;
    const ValueId v = intervals_[o->reg()].valueIn(slots_[id]);
    return v.valid() ? shifts_[numbers_(o->reg(), v)] : 0;
  };
  const auto factor = [&](std::size_t k) -> unsigned {
    const uint64_t by = constant(k).value_or(1);
    return by == 0 ? 0 : static_cast<unsigned>(std::countr_zero(by));
  };
  const auto doubles = [&](std::size_t k, std::size_t l) -> unsigned {
    const Operand *const a = operands.single(k), *const b = operands.single(l);
    return a != nullptr && b != nullptr && mayDouble(id, *a, *b) ? 1 : 0;
  };
  const unsigned sources = std::max(shift(1), shift(2));
  switch (addressOperation(module_.form(i))) {
    case AddressOperation::Copy:
    case AddressOperation::Convert:
    case AddressOperation::Choose:
    case AddressOperation::Or:
    case AddressOperation::Mix: return sources;
    case AddressOperation::Add:
    case AddressOperation::Subtract: return sources + doubles(1, 2);  // x - (-x)
    case AddressOperation::And: return constant(2).value_or(UINT64_MAX) <= UINT32_MAX ? 0 : sources;
    case AddressOperation::ShiftLeft: return shift(1) + static_cast<unsigned>(constant(2).value_or(0) & UINT32_MAX);
    case AddressOperation::ShiftRight: return constant(2).value_or(0) >= kHalf ? 0 : shift(1);
    case AddressOperation::Multiply:
    case AddressOperation::MultiplyWide:
    case AddressOperation::MultiplyAdd:
    case AddressOperation::MultiplyAddWide: {
      const bool isHigh = module_.form(i).half == ProductHalf::Hi;
      const unsigned product = shift(1) + shift(2) + (isHigh ? 0 : factor(1) + factor(2));
      return std::max(shift(3), product) + std::max(doubles(1, 3), doubles(2, 3));
    }
    default: return 0;
  }
}

}  // namespace ptxopt
