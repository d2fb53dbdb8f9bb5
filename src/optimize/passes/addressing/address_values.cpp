// Values are numbered register by register; one pass notes their definitions and one their uses. Retiring a value
// follows its sources by a worklist, as far as nothing else reads them.
#include "passes/addressing/address_values.h"

#include <algorithm>
#include <memory>

#include "ir/register_types.h"

namespace ptxopt {

AddressValues::AddressValues(const Function& f, PassContext& context)
    : f_(f),
      module_(context.module),
      cfg_(context.analyses.cfg()),
      dominators_(context.analyses.dominators()),
      slots_(context.analyses.slotIndexes()),
      intervals_(context.analyses.liveIntervals()),
      first_(f.registers.size(), UINT32_MAX),
      isRetired_(f.instructions.size()) {
  for (uint32_t r = 1; r < f.registers.size(); ++r) {
    const Register& reg = f.registers[r];
    if (integerBits(reg) < 32) continue;
    first_[r] = static_cast<uint32_t>(values_.size());
    const auto& values = intervals_[RegId(r)].values();
    const bool isAlone = !reg.isParameter && std::ranges::all_of(values, [](const LiveValue& v) {
      return v.kind == ValueKind::Instruction && !v.isPartial;
    });
    for (std::size_t v = 0; v < values.size(); ++v)
      values_.push_back({.reg = RegId(r), .definition = {}, .isAlone = isAlone});
  }
  findDefinitions();
  findUses();
}

void AddressValues::findDefinitions() {
  for (uint32_t k = 0; k < values_.size(); ++k) {
    const LiveValue& v = intervals_[values_[k].reg][value(ValueKey(k))];
    if (v.kind != ValueKind::Instruction || v.isPartial) continue;
    const InstrId id = slots_.instructionAt(v.def);
    const Instruction& i = f_[id];
    const auto operands = f_.operandsOf(i);
    if (i.is(Instruction::Guarded) || operands.empty() || !operands[0].isRegister() ||
        operands[0].role != Role::Def || operands[0].reg() != values_[k].reg)
      continue;
    const bool writesMore =
        std::ranges::any_of(operands.subspan(1), [](const Operand& o) { return o.isRegister() && o.writes(); });
    if (!writesMore) values_[k].definition = id;
  }
}

// All uses in the order of the text first, then by value.
void AddressValues::findUses() {
  struct Found {
    ValueKey key;
    ValueUse use;
  };
  std::vector<Found> found;
  found.reserve(f_.operands.size());
  std::vector<bool> isNoted(values_.size());  // among addresses_
  std::vector<AddressOperand> addresses;      // of the instruction at hand
  for (uint32_t b = 0; b < cfg_.size(); ++b)
    for (const InstrId id : slots_.instructions(BlockId(b))) {
      const Instruction& i = f_[id];
      const auto operands = f_.operandsOf(i);
      const SlotIndex at = slots_[id];
      bool isKnown = false, isFirst = true;
      uint32_t end = 0;  // of the group at hand
      for (uint32_t k = 0; k < operands.size(); ++k) {
        const Operand& o = operands[k];
        if (o.isGroup()) {
          end = std::max(end, k + 1 + o.inside());
          continue;
        }
        if (!o.isRegister() || !o.reads() || first_[o.payload] == UINT32_MAX) continue;
        if (isFirst) {
          isFirst = false;
          const OpcodeForm& form = module_.form(i);
          isKnown = form.knowsOperands() && !form.is(effect::Async | effect::Unknown | effect::Call);
          addressOperands(module_, f_, i, addresses);
        }
        const ValueKey key = this->key(o.reg(), intervals_[o.reg()].valueIn(at));
        if (!key.valid()) continue;
        ValueUse use{.at = id, .operand = k};
        for (const AddressOperand& a : addresses) {
          if (a.operand != k) continue;
          // The constant bank and the parameters have narrower constants and addresses of their own.
          use.isAddress = a.immediate == static_cast<int32_t>(a.immediate) && a.space != MemorySpace::Constant &&
                          a.space != MemorySpace::Other;
          use.immediate = static_cast<int32_t>(a.immediate);
          use.space = a.space;
          break;
        }
        use.isPlain = isKnown && k >= end && o.role == Role::Use && o.flags == 0;
        if (use.isAddress && !isNoted[key.value]) {
          isNoted[key.value] = true;
          addresses_.push_back(key);
        }
        ++values_[key.value].useRoom;
        found.push_back({key, use});
      }
    }
  std::ranges::sort(addresses_);
  uses_.resize(found.size());
  ValueUse* next = uses_.data();
  for (Value& v : values_) {
    v.uses = next;
    next += v.useRoom;
  }
  for (const Found& one : found) {
    Value& v = values_[one.key.value];
    v.uses[v.useCount++] = one.use;
  }
}

void AddressValues::addUse(ValueKey k, const ValueUse& use) {
  Value& v = values_[k.value];
  if (v.useCount == v.useRoom) {
    v.useRoom = 2 * v.useRoom + 2;
    auto* const more = static_cast<ValueUse*>(more_.allocate(v.useRoom * sizeof(ValueUse), alignof(ValueUse)));
    std::uninitialized_copy_n(v.uses, v.useCount, more);
    v.uses = more;
  }
  std::construct_at(v.uses + v.useCount++, use);
}

bool AddressValues::isAddress(ValueKey k) const {
  return std::ranges::any_of(uses(k), [](const ValueUse& u) { return u.isAddress; });
}

bool AddressValues::reaches(ValueKey k, InstrId at, bool& extends) const {
  const LiveRange& range = intervals_[reg(k)];
  const SlotIndex use = slots_[at], def = range[value(k)].def;
  const ValueId now = range.valueIn(use);
  extends = !now.valid();
  if (now.valid() ? now != value(k) : range.values().size() != 1) return false;
  if (!definition(k).valid()) return now.valid() && dominators_.dominates(slots_.blockAt(def), cfg_.blockOf(at));
  const BlockId from = cfg_.blockOf(definition(k)), to = cfg_.blockOf(at);
  return from == to ? def < use : dominators_.dominates(from, to);
}

void AddressValues::dropUses(ValueKey k, InstrId id) {
  Value& v = values_[k.value];
  const auto kept = std::remove_if(v.uses, v.uses + v.useCount, [&](const ValueUse& u) { return u.at == id; });
  v.useCount = static_cast<uint32_t>(kept - v.uses);
}

void AddressValues::retire(ValueKey first) {
  std::vector<ValueKey> work{first};
  while (!work.empty()) {
    const ValueKey k = work.back();
    work.pop_back();
    const InstrId id = definition(k);
    if (!uses(k).empty() || !isAlone(k) || !id.valid() || isRetired_[id.value] ||
        (module_.form(f_[id]).effects & effect::kKeep) != 0)
      continue;
    isRetired_[id.value] = true;
    for (const Operand& o : f_.operandsOf(f_[id])) {
      if (!o.isRegister() || !o.reads() || first_[o.payload] == UINT32_MAX) continue;
      const ValueKey source = read(o.reg(), id);
      if (!source.valid()) continue;
      dropUses(source, id);
      work.push_back(source);
    }
  }
}

}  // namespace ptxopt
