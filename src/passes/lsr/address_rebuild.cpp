// Wide products:  cvt.s64.s32 t, x ; shl.b64 u, t, k ; add.s64 a, base, u  (or mul.lo.s64 by a constant, or
//                 cvt.u64.u32)
//                 becomes  mul.wide.s32 u, x, 1<<k ; add.s64 a, base, u,  which is one IMAD.WIDE. mad.wide by a
//                 constant is three, so it is split the same way. For global and generic addresses only: shared
//                 ones have 32 bits and gain nothing.
// Cost:           linear.
// Declines:       no-leader-here (the index is no longer in its register), extension-needed (something else needs
//                 the extended index, too)
#include "passes/lsr/address_rebuild.h"

#include <algorithm>
#include <bit>

namespace ptxopt {

AddressRebuild::AddressRebuild(Function& f, PassContext& context, AddressValues& values, AddressEdits& edits,
                               RangeRoom& room, Declines& declines)
    : f_(f),
      context_(context),
      module_(context.module),
      slots_(context.analyses.slotIndexes()),
      evolution_(context.analyses.scalarEvolution()),
      expressions_(evolution_.expressions()),
      values_(values),
      edits_(edits),
      room_(room),
      declines_(declines),
      occurrences_(f),
      zones_(context.module, f),
      isMoved_(values.size()),
      isChanged_(f.instructions.size()) {}

bool AddressRebuild::isGlobalAddress(ValueKey k) const {
  return std::ranges::any_of(values_.uses(k),
                             [](const ValueUse& u) { return u.isAddress && u.space != MemorySpace::Shared; });
}

// Whether an addition makes a global address of it.
bool AddressRebuild::makesGlobalAddress(ValueKey k) const {
  return std::ranges::any_of(values_.uses(k), [&](const ValueUse& u) {
    const std::string_view opcode = text(u.at);
    if (opcode != "add.s64" && opcode != "add.u64") return false;
    const auto operands = f_.operandsOf(f_[u.at]);
    const ValueKey made = operands[0].isRegister() ? values_.written(operands[0].reg(), u.at) : ValueKey();
    return made.valid() && isGlobalAddress(made);
  });
}

// The register of 32 bits that operand `o` of instruction `at` extends, if it still holds the same there.
bool AddressRebuild::extensionOf(const Operand& o, InstrId at, Extension& x) const {
  if (!o.isRegister() || o.flags != 0) return false;
  const ValueKey wide = values_.read(o.reg(), at);
  if (!wide.valid() || !values_.definition(wide).valid()) return false;
  const InstrId id = values_.definition(wide);
  const std::string_view opcode = text(id);
  if (opcode != "cvt.s64.s32" && opcode != "cvt.u64.u32") return false;
  const auto operands = f_.operandsOf(f_[id]);
  if (operands.size() != 2 || !operands[1].isRegister() || operands[1].flags != 0) return false;
  x.reg = operands[1].reg();
  x.isSigned = opcode == "cvt.s64.s32";
  x.key = values_.read(x.reg, id);
  return x.key.valid() && info(f_.registers[x.reg.value].type).bits == 32;
}

bool AddressRebuild::mayRead(ValueKey k, InstrId at, bool& extends) const {
  return values_.reaches(k, at, extends) && zones_.reaches(occurrences_, values_.reg(k), at);
}

void AddressRebuild::note(Change change) {
  isChanged_[change.id.value] = true;
  changes_.push_back(change);
}

// Registers are made here and not before: analyses that are made in between know none of them.
void AddressRebuild::apply() {
  for (Change& c : changes_) {
    if (c.hasHelper) {
      const RegId made = f_.makeRegister(ScalarType::b64);
      c.helperOperands[0].payload = made.value;
      c.operands[2].payload = made.value;
      f_.insert(c.id, module_.madeOpcode(c.helper), c.helperOperands);
    }
    f_[c.id].payload = module_.madeOpcode(c.opcode).value;
    f_.setOperands(c.id, c.operands);
  }
}

bool AddressRebuild::formWideProducts() {
  bool changed = false;
  std::vector<InstrId> found;
  for (const InstrId id : f_) {
    const Instruction& i = f_[id];
    if (!i.isInstruction() || i.is(Instruction::Guarded) || !slots_[id].valid()) continue;
    if (values_.isRetired(id)) continue;
    const std::string_view opcode = text(id);
    if (opcode == "shl.b64" || opcode.starts_with("mul.lo.") || opcode.starts_with("mad.wide."))
      found.push_back(id);
  }
  // An extension that stays, because something else needs it, costs what is gained: then nothing is done.
  std::vector<std::pair<ValueKey, InstrId>> products;
  for (const InstrId id : found) {
    Extension x;
    if (text(id).starts_with("mad."))
      changed |= splitWide(id);
    else if (mayFormWide(id, x))
      products.emplace_back(values_.read(f_.operandsOf(f_[id])[1].reg(), id), id);
  }
  std::ranges::stable_sort(products, {}, &std::pair<ValueKey, InstrId>::first);
  for (std::size_t first = 0; first < products.size();) {
    std::size_t end = first;
    while (end < products.size() && products[end].first == products[first].first) ++end;
    const ValueKey wide = products[first].first;
    if (values_.isAlone(wide) && values_.uses(wide).size() == end - first)
      for (std::size_t k = first; k < end; ++k) changed |= formWide(products[k].second);
    else
      declines_.add("extension-needed");
    first = end;
  }
  return changed;
}

bool AddressRebuild::mayFormWide(InstrId id, Extension& x) const {
  const auto operands = f_.operandsOf(f_[id]);
  if (operands.size() != 3 || !operands[0].isRegister() || operands[0].role != Role::Def) return false;
  const bool shifts = text(id) == "shl.b64";
  if (!shifts && text(id) != "mul.lo.s64" && text(id) != "mul.lo.u64") return false;
  const auto bits = immediate(f_, operands[2]);
  if (!bits || !extensionOf(operands[1], id, x)) return false;
  if (shifts && *bits > 30) return false;
  const int64_t factor = shifts ? int64_t{1} << *bits : static_cast<int64_t>(*bits);
  const int64_t least = x.isSigned ? INT32_MIN : 0;
  if (factor < least || factor > INT32_MAX || factor == 0) return false;
  const ValueKey product = values_.written(operands[0].reg(), id);
  return product.valid() && makesGlobalAddress(product);
}

bool AddressRebuild::formWide(InstrId id) {
  const auto operands = f_.operandsOf(f_[id]);
  Extension x;
  if (!mayFormWide(id, x)) return false;
  const uint64_t bits = *immediate(f_, operands[2]);
  const uint64_t factor = text(id) == "shl.b64" ? uint64_t{1} << bits : bits;
  bool extends = false;
  const ValueKey wide = values_.read(operands[1].reg(), id);
  if (!mayRead(x.key, id, extends)) {
    declines_.add("no-leader-here");
    return false;
  }
  // If it lives longer now: it takes the place of its extension, which is twice as large.
  note({.id = id,
        .opcode = x.isSigned ? MadeOpcode::MulWideS32 : MadeOpcode::MulWideU32,
        .operands = {operands[0], registerOperand(x.reg, Role::Use, Join::Comma),
                     integerOperand(static_cast<int32_t>(factor))}});
  values_.dropUses(wide, id);
  values_.addUse(x.key, {.at = id, .operand = 1, .isPlain = true});
  values_.retire(wide);
  context_.count("wide-products");
  return true;
}

bool AddressRebuild::splitWide(InstrId id) {
  const std::string_view opcode = text(id);
  if (opcode != "mad.wide.s32" && opcode != "mad.wide.u32") return false;
  const auto operands = f_.operandsOf(f_[id]);
  if (operands.size() != 4 || !operands[0].isRegister() || operands[0].role != Role::Def ||
      !immediate(f_, operands[2]) || !operands[3].isRegister())
    return false;
  const ValueKey address = values_.written(operands[0].reg(), id);
  if (!address.valid() || !isGlobalAddress(address)) return false;
  note({.id = id,
        .opcode = MadeOpcode::AddS64,
        .operands = {operands[0], operands[3], registerOperand({}, Role::Use, Join::Comma)},
        .hasHelper = true,
        .helper = opcode == "mad.wide.s32" ? MadeOpcode::MulWideS32 : MadeOpcode::MulWideU32,
        .helperOperands = {registerOperand({}, Role::Def), operands[1], operands[2]}});
  context_.count("wide-products");
  return true;
}

}  // namespace ptxopt
