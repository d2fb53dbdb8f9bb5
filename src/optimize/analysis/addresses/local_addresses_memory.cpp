// Loads and stores of local variables: which instructions are such accesses, and what the variables hold by them.
#include <algorithm>

#include "analysis/addresses/local_addresses.h"
#include "analysis/values/plain_operands.h"
#include "ir/operand_predicates.h"

namespace ptxopt {
namespace {

// Nothing else can be meant by the address of a local variable.
bool isLocalOrGeneric(StateSpace s) { return s == StateSpace::None || s == StateSpace::Local; }

bool isFloating(const Operand& o) {
  return o.kind == OperandKind::Float32 || o.kind == OperandKind::Float64 || o.kind == OperandKind::Decimal;
}

}  // namespace

// Whether the entry is a scalar register, as it is, with all the bits of an element; of any class, since a load extends
// to an .f64 register as it does to a .b64 one. Not of 128 bits, nor of the types of 8 bits, nor a predicate.
bool LocalAddresses::isWholeRegister(const Operand& o, unsigned bits) const {
  if (!o.isRegister() || o.flags != 0) return false;
  const Register& r = f_.registers[o.payload];
  const unsigned width = info(r.type).bits;
  return r.lanes == 1 && width >= bits && width >= 16 && width <= 64;
}

// Whether what is stored is a register, a constant, a constant expression, or a register of an integer type to which
// ptxas adds a constant (what it makes of `%f1 + 4` is nothing that one could say). What has several entries is left
// to ptxas (promote/slot_code.h).
bool LocalAddresses::isStorable(InstrId id, ScalarType type) const {
  const PlainOperands operands(f_.operandsOf(f_[id]));
  if (operands.size() < 2) return false;
  const auto stored = operands[1];
  const bool isSum = stored[0].is(Operand::Compound) && stored[0].isRegister();
  if (isSum) {
    Operand first = stored[0];
    first.flags &= static_cast<uint8_t>(~Operand::Compound);
    if (!isWholeRegister(first, info(type).bits) || !isIntegerOrBits(f_.registers[first.payload].type))
      return false;
  }
  // An expression is left to a mov of the bits: it must be one of integers.
  if (stored.size() > 1 && (!isInteger(type) || std::ranges::any_of(stored, isFloating))) return false;
  return std::ranges::all_of(stored.subspan(isSum), [&](const Operand& o) {
    return isConstantExpression(o) || (stored.size() == 1 && isWholeRegister(o, info(type).bits));
  });
}

// Whether the instruction is a load or store of a local variable: then `access` says which. `base`: the entry that
// holds the address, where there is one. `whyNot`: it is one, of a kind that pins the variable.
bool LocalAddresses::readAccess(InstrId id, LocalAccess& access, uint32_t& base, uint32_t& chain,
                                std::string_view& whyNot) const {
  const Instruction& i = f_[id];
  const OpcodeForm& form = module_.form(i);
  if (form.op != Op::Ld && form.op != Op::St) return false;
  const auto operands = f_.operandsOf(i);
  uint32_t memory = 0;
  while (memory < operands.size() && operands[memory].kind != OperandKind::Memory) ++memory;
  if (memory == operands.size()) return false;
  const std::size_t inside = operands[memory].inside();
  if (inside == 0 || inside > 2) return false;
  base = memory + 1;
  const auto entries = operands.subspan(base, inside);
  Address a = named(entries);
  if (entries[0].isRegister() && entries[0].role == Role::Use && entries[0].flags == 0 &&
      ValueFlow::isFollowed(entries[0].reg())) {
    a = stateRead(entries[0].reg(), id);
    if (a.kind == Address::Known && inside == 2) {
      const auto offset = immediate(f_, entries[1]);
      if (!offset || entries[1].join != Join::Plus) whyNot = "named-otherwise";
      const Address sum = a.plus(static_cast<int64_t>(offset.value_or(0)));
      if (sum.kind == Address::Known)
        a = sum;
      else
        whyNot = "out-of-bounds";
    }
  }
  if (a.kind != Address::Known) return false;
  const unsigned bits = info(form.type).bits;
  chain = a.chain;
  access.at = id;
  access.variable = a.variable;
  access.offset = a.offset;
  access.isStore = form.op == Op::St;
  access.isSigned = isSignedType(form.type);
  access.bytes = static_cast<uint8_t>(bits / 8);
  access.elements = form.vector;
  // A load names its results first, a store what it stores after the address.
  uint32_t first =
      access.isStore ? memory + 1 + static_cast<uint32_t>(inside) : (i.is(Instruction::Guarded) ? 1 : 0);
  const auto size = int64_t{access.bytes} * access.elements;
  if (form.is(effect::Volatile))
    whyNot = "volatile";
  else if (!isLocalOrGeneric(form.space))
    whyNot = "other-space";
  else if (bits < 8 || bits > 64)
    whyNot = "wide";
  else if (chain == kNoChain && (a.offset < 0 || a.offset + size > static_cast<int64_t>(bytes_[a.variable.value])))
    whyNot = "out-of-bounds";
  if (first < operands.size() && operands[first].kind == OperandKind::Selector) whyNot = "volatile";  // .unified
  if (!whyNot.empty()) return false;
  if (first >= operands.size()) {
    whyNot = "escapes";
    return false;
  }
  const bool isVector = operands[first].kind == OperandKind::Vector;
  if (isVector != (access.elements > 1) || (isVector && operands[first].inside() != access.elements)) {
    whyNot = "lanes";
    return false;
  }
  if (isVector) ++first;
  access.firstElement = first;
  for (uint32_t k = first; k < first + access.elements; ++k) {
    const Operand& o = operands[k];
    const bool isUsable =
        !access.isStore ? isWholeRegister(o, bits) || o.kind == OperandKind::Sink
        : isVector      ? isWholeRegister(o, info(form.type).bits) || (isConstantExpression(o) && !o.isGroup())
                        : isStorable(id, form.type);
    if (!isUsable) whyNot = "lanes";
    for (uint32_t j = first; j < k && !access.isStore; ++j)
      if (o.isRegister() && operands[j].isRegister() && operands[j].reg() == o.reg()) whyNot = "lanes";
  }
  return whyNot.empty();
}

void LocalAddresses::addIndexed(const LocalAccess& access, uint32_t chain) {
  IndexedAccess& indexed = indexed_.emplace_back();
  indexed.at = access.at;
  indexed.variable = access.variable;
  indexed.offset = access.offset;
  indexed.bytes = uint32_t{access.bytes} * access.elements;
  for (; chain != kNoChain; chain = chains_[chain].before) indexed.addends.push_back(chains_[chain].addend);
}

// Variables with addresses in them that somebody else may reach: what is read there may be anything. Whether there
// are more of these than before.
bool LocalAddresses::distrust() {
  bool any = false;
  for (const VariableId v : variables_) {
    Contents& c = contents_[v.value];
    const bool keepsAny = std::ranges::any_of(c.kept, [](const Kept& k) { return k.value.kind == Address::Known; });
    const bool isNew = keepsAny && !c.isUnknown && !whyPinned(v).empty();
    c.isUnknown |= isNew;
    any |= isNew;
  }
  if (any)
    for (Contents& c : contents_) {
      c.kept.clear();
      c.others.clear();
    }
  return any;
}

// What 64 bits of a variable hold.
LocalAddresses::Address LocalAddresses::keptAt(VariableId v, int64_t offset) const {
  const Contents& c = contents_[v.value];
  if (c.isUnknown) return {.kind = Address::Lost};
  Address held;
  for (const Kept& k : c.kept) {
    if (k.offset == offset)
      held = join(held, k.value);
    else if (k.offset < offset + 8 && offset < k.offset + 8)
      return {.kind = Address::Lost};
  }
  for (const auto& [begin, end] : c.others)
    if (begin < offset + 8 && offset < end) return {.kind = Address::Lost};
  return held;
}

// Notes what a load or store does to what a variable holds; whether that is news.
bool LocalAddresses::lookAtMemory(InstrId id) {
  LocalAccess access;
  uint32_t base = UINT32_MAX, chain = kNoChain;
  std::string_view whyNot;
  if (!readAccess(id, access, base, chain, whyNot)) return false;
  Contents& c = contents_[access.variable.value];
  if (c.isUnknown) return false;
  if (chain != kNoChain || access.bytes != 8 || access.elements != 1) {
    std::pair<int64_t, int64_t> bytes{access.offset, access.offset + int64_t{access.bytes} * access.elements};
    if (chain != kNoChain) bytes = {INT64_MIN / 2, INT64_MAX / 2};
    if (std::ranges::find(c.others, bytes) != c.others.end()) return false;
    c.others.push_back(bytes);
    return true;
  }
  if (!access.isStore) return false;
  const Operand& from = f_.operandsOf(f_[id])[access.firstElement];
  // Nothing is kept of `st [p], a + 4`: what is stored is not what the register holds.
  const bool isWhole = from.isRegister() && from.flags == 0 && ValueFlow::isFollowed(from.reg());
  const Address stored = isWhole ? stateRead(from.reg(), id) : Address{.kind = Address::Lost};
  auto held = std::ranges::find(c.kept, access.offset, &Kept::offset);
  if (held == c.kept.end()) held = c.kept.insert(held, {access.offset, {}});
  const Address now = join(held->value, stored);
  if (now == held->value) return false;
  held->value = now;
  return true;
}

// What a load leaves in its register.
LocalAddresses::Address LocalAddresses::loaded(InstrId id) const {
  const Instruction& i = f_[id];
  const OpcodeForm& form = module_.form(i);
  if (form.op != Op::Ld || info(form.type).bits != 64 || form.vector != 1) return {.kind = Address::Lost};
  const auto operands = f_.operandsOf(i);
  for (std::size_t k = 0; k + 1 < operands.size(); ++k) {
    const Operand& o = operands[k + 1];
    if (operands[k].kind == OperandKind::Memory && o.isRegister() && ValueFlow::isFollowed(o.reg()) &&
        stateRead(o.reg(), id).kind == Address::None)
      return {};
  }
  LocalAccess access;
  uint32_t base = UINT32_MAX, chain = kNoChain;
  std::string_view whyNot;
  if (!readAccess(id, access, base, chain, whyNot) || chain != kNoChain) return {.kind = Address::Lost};
  return keptAt(access.variable, access.offset);
}

// Whether the address goes to a place where it is all that is ever kept.
bool LocalAddresses::isKept(InstrId id, const Address& a) const {
  LocalAccess access;
  uint32_t base = UINT32_MAX, chain = kNoChain;
  std::string_view whyNot;
  return readAccess(id, access, base, chain, whyNot) && access.isStore && access.bytes == 8 &&
         access.elements == 1 && chain == kNoChain && keptAt(access.variable, access.offset) == a;
}

}  // namespace ptxopt
