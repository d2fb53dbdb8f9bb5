// Values are numbered register by register; one pass over the instructions notes their uses. Retiring a value follows its
// sources by a worklist, as far as nothing else reads them.
#include "passes/addressing/address_values.h"

#include <algorithm>
#include <cassert>
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
  values_.reserve(f.registers.size() + f.registers.size() / 4);
  for (uint32_t r = 1; r < f.registers.size(); ++r) {
    const Register& reg = f.registers[r];
    if (integerBits(reg) < 32) continue;
    first_[r] = static_cast<uint32_t>(values_.size());
    const auto& values = intervals_[RegId(r)].values();
    const bool isAlone = !reg.isParameter && std::ranges::all_of(values, [](const LiveValue& v) {
      return v.kind == ValueKind::Instruction && !v.isPartial;
    });
    for (std::size_t v = 0; v < values.size(); ++v) values_.push_back({.reg = RegId(r), .isAlone = isAlone});
  }
}

void AddressValues::findDefinition(ValueKey k) const {
  Value& known = values_[k.value];
  known.isDefinitionKnown = true;
  const LiveValue& v = intervals_[known.reg][value(k)];
  if (v.kind != ValueKind::Instruction || v.isPartial) return;
  const InstrId id = slots_.instructionAt(v.def);
  const Instruction& i = f_[id];
  const auto operands = f_.operandsOf(i);
  if (i.is(Instruction::Guarded) || operands.empty() || !operands[0].isRegister() ||
      operands[0].role != Role::Def || operands[0].reg() != known.reg)
    return;
  const bool writesMore =
      std::ranges::any_of(operands.subspan(1), [](const Operand& o) { return o.isRegister() && o.writes(); });
  if (!writesMore) known.definition = id;
}

// Without a constructor: there are many.
struct AddressValues::FoundUse {
  uint32_t key, at, operand;
  int32_t immediate;
  MemorySpace space;
  bool isAddress, isPlain;
};

// For an operand of an instruction; `addresses`: all of that instruction.
AddressValues::FoundUse AddressValues::foundUse(uint32_t operand, std::span<const AddressOperand> addresses) {
  FoundUse use{.operand = operand, .immediate = 0, .space = MemorySpace::Generic, .isAddress = false};
  for (const AddressOperand& a : addresses) {
    if (a.operand != operand) continue;
    use.immediate = static_cast<int32_t>(a.immediate);
    use.space = a.space;
    // The constant bank and the parameters have narrower constants and addresses of their own.
    use.isAddress =
        a.immediate == use.immediate && a.space != MemorySpace::Constant && a.space != MemorySpace::Other;
    break;
  }
  return use;
}

// All uses in the order of the text first, then by value.
void AddressValues::findUses() const {
  assert(f_.instructions.size() == isRetired_.size());
  uses_ = std::make_unique<Uses>();
  std::vector<Uses::Row>& rows = uses_->rows;
  rows.resize(values_.size());
  const auto found = std::make_unique_for_overwrite<FoundUse[]>(f_.operands.size());
  FoundUse* end = found.get();
  std::vector<bool> isNoted(values_.size());  // among the addresses
  std::vector<AddressOperand> addresses;      // of the instruction at hand
  const uint32_t* const first = first_.data();
  for (uint32_t b = 0; b < cfg_.size(); ++b)
    for (const InstrId id : slots_.instructions(BlockId(b))) {
      const auto operands = f_.operandsOf(f_[id]);
      bool isKnown = false, isFirst = true;
      const Operand* groupEnd = nullptr;  // of the group at hand
      for (const Operand& o : operands) {
        if (!o.isRegister()) {
          if (o.isGroup()) groupEnd = std::max(groupEnd, &o + 1 + o.inside());
          continue;
        }
        if (!o.reads() || first[o.payload] == UINT32_MAX) continue;
        if (isFirst) {
          isFirst = false;
          const OpcodeForm& form = module_.form(f_[id]);
          isKnown = form.knowsOperands() && !form.is(effect::Async | effect::Unknown | effect::Call);
          addresses.clear();
          if (mayHaveAddresses(form.op)) addressOperands(module_, f_, f_[id], addresses);
        }
        const ValueId value = intervals_[o.reg()].valueIn(slots_[id]);
        if (!value.valid()) continue;
        const ValueKey key(first[o.payload] + value.value);
        *end = foundUse(static_cast<uint32_t>(&o - operands.data()), addresses);
        end->key = key.value;
        end->at = id.value;
        end->isPlain = isKnown && &o >= groupEnd && o.role == Role::Use && o.flags == 0;
        if (end->isAddress && !isNoted[key.value]) {
          isNoted[key.value] = true;
          uses_->addresses.push_back(key);
        }
        ++end;
        ++rows[key.value].room;
      }
    }
  std::ranges::sort(uses_->addresses);
  sortUses({found.get(), end});
}

void AddressValues::sortUses(std::span<const FoundUse> found) const {
  std::vector<Uses::Row>& rows = uses_->rows;
  auto* next = static_cast<ValueUse*>(uses_->memory.allocate(found.size() * sizeof(ValueUse), alignof(ValueUse)));
  for (Uses::Row& row : rows) {
    row.first = next;
    next += row.room;
  }
  for (const FoundUse& u : found) {
    Uses::Row& row = rows[u.key];
    std::construct_at(row.first + row.count++, ValueUse{.at = InstrId(u.at),
                                                        .operand = u.operand,
                                                        .immediate = u.immediate,
                                                        .isAddress = u.isAddress,
                                                        .space = u.space,
                                                        .isPlain = u.isPlain});
  }
}

void AddressValues::addUse(ValueKey k, const ValueUse& use) {
  Uses::Row& row = allUses().rows[k.value];
  if (row.count == row.room) {
    row.room = 2 * row.room + 2;
    auto* const more =
        static_cast<ValueUse*>(uses_->memory.allocate(row.room * sizeof(ValueUse), alignof(ValueUse)));
    std::uninitialized_copy_n(row.first, row.count, more);
    row.first = more;
  }
  std::construct_at(row.first + row.count++, use);
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
  Uses::Row& row = allUses().rows[k.value];
  const auto kept = std::remove_if(row.first, row.first + row.count, [&](const ValueUse& u) { return u.at == id; });
  row.count = static_cast<uint32_t>(kept - row.first);
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
