// The states are solved by ValueFlow; then phis and uses are looked at, and each may pin a variable. What variables
// hold is trusted at first, and all is solved again without those that turned out to be pinned.
#include "analysis/addresses/local_addresses.h"

#include <algorithm>

#include "analysis/values/constant_operand.h"

namespace ptxopt {

LocalAddresses::LocalAddresses(const Module& module, const Function& function, const Cfg& cfg,
                               const SlotIndexes& slots, const LiveIntervals& intervals)
    : ValueFlow(module, function, cfg, slots, intervals, canHoldPointer),
      bytes_(function.variables.size()),
      why_(function.variables.size()),
      computations_(function.variables.size()),
      isKept_(function.variables.size()),
      contents_(function.variables.size()) {
  collect();
  if (variables_.empty()) return;
  do follow();
  while (distrust());
}

// From the start, with what is known of the variables that cannot be trusted.
void LocalAddresses::follow() {
  std::ranges::fill(states_, Address());
  std::ranges::fill(why_, std::string_view());
  isKept_.assign(isKept_.size(), false);
  for (std::vector<InstrId>& all : computations_) all.clear();
  accesses_.clear();
  indexed_.clear();
  if (!solve(kMostSweeps)) {
    for (const VariableId v : variables_) why_[v.value] = "too-deep";
    return;
  }
  for (std::size_t b = 0; b < cfg_.size(); ++b)
    if (cfg_[BlockId(b)].reachable) lookAtPhis(BlockId(b));
  for (const InstrId id : f_)
    if (f_[id].isInstruction() && slots_[id].valid() && cfg_[cfg_.blockOf(id)].reachable) lookAtUses(id);
}

void LocalAddresses::collect() {
  for (std::size_t v = 0; v < f_.variables.size(); ++v) {
    const Variable& variable = f_.variables[v];
    const DeclarationForm& form = module_.declarationForms[variable.form];
    if (variable.isParameter || form.space != DeclaredSpace::Local) continue;
    bytes_[v] = variable.declarator.elements * form.lanes * info(form.type).bits / 8;
    if (bytes_[v] == 0 || variable.declarator.isRange || form.isExtern) {
      bytes_[v] = 0;
      continue;
    }
    variables_.push_back(VariableId(v));
  }
}

LocalAddresses::Address LocalAddresses::join(const Address& a, const Address& b) {
  if (a.kind == Address::None) return b;
  if (b.kind == Address::None || a == b) return a;
  return Address{.kind = Address::Lost};
}

LocalAddresses::Address LocalAddresses::entering(const FlowValue& v, BlockId b, bool isRoot) const {
  const bool isUnknown = isRoot && (b != cfg_.roots().front() || f_.registers[v.reg.value].isParameter);
  return isUnknown ? unknown() : Address();
}

LocalAddresses::Address LocalAddresses::made(InstrId id, const Operand& to, uint32_t) {
  const Address now = isFollowed(id) ? result(id) : loaded(id);
  return to.role == Role::Mod ? join(stateRead(to.reg(), id), now) : now;
}

// `v` or `v+4` of a local variable.
LocalAddresses::Address LocalAddresses::named(std::span<const Operand> operand) const {
  if (operand.empty() || operand[0].kind != OperandKind::Variable || bytes_[operand[0].payload] == 0 ||
      operand.size() > 2)
    return Address{.kind = Address::Lost};
  Address a{.kind = Address::Known, .variable = VariableId(operand[0].payload)};
  if (operand.size() == 1) return a;
  const auto offset = immediate(f_, operand[1]);
  if (!offset || operand[1].join != Join::Plus) return Address{.kind = Address::Lost};
  return a.plus(static_cast<int64_t>(*offset));
}

// Whether the instruction has one result, which may be an address of what it reads.
bool LocalAddresses::isFollowed(InstrId id) const {
  const Instruction& i = f_[id];
  const OpcodeForm& form = module_.form(i);
  if (!form.knowsOperands() || form.role(0) != 'd') return false;
  const PlainOperands operands(f_.operandsOf(i));
  if (operands.size() < 2 || operands.single(0) == nullptr) return false;
  switch (addressOperation(form)) {
    case AddressOperation::Copy:
    case AddressOperation::Convert:
    case AddressOperation::Add:
    case AddressOperation::Or:
    case AddressOperation::Subtract: return true;
    case AddressOperation::ToGeneric:
    case AddressOperation::FromGeneric: return namedSpace(form) == AddressKind::Local;
    default: return false;
  }
}

LocalAddresses::Address LocalAddresses::result(InstrId id) {
  const Instruction& i = f_[id];
  const PlainOperands operands(f_.operandsOf(i));
  const auto source = [&](std::size_t k) -> Address {
    const Operand* const single = operands.single(k);
    if (single != nullptr && single->isRegister() && single->flags == 0 && ValueFlow::isFollowed(single->reg()))
      return stateRead(single->reg(), id);
    return named(operands[k]);
  };
  const AddressOperation operation = addressOperation(module_.form(i));
  Address a = source(1);
  const bool isSum = operation == AddressOperation::Add || operation == AddressOperation::Or;
  if (!isSum && operation != AddressOperation::Subtract) return a;
  if (operands.size() != 3) return Address{.kind = Address::Lost};
  auto by = constant(operands.single(2), id);
  if (!by && isSum) {
    by = constant(operands.single(1), id);
    a = source(2);
  }
  if (a.kind == Address::None) return a;
  if (!by && operation == AddressOperation::Add) {
    const Address first = source(1);
    if (first.kind == Address::None) return first;
    if (first.kind == Address::Known)
      return a.kind == Address::Known ? Address{.kind = Address::Lost} : indexedBy(first, operands.single(2), id);
    if (a.kind == Address::Known) return indexedBy(a, operands.single(1), id);
  }
  if (!by || a.kind == Address::Lost) return Address{.kind = Address::Lost};
  if (operation == AddressOperation::Or) {
    if (a.chain != kNoChain || *by >= alignmentOf(a.variable)) return Address{.kind = Address::Lost};
    a.offset = static_cast<int64_t>(static_cast<uint64_t>(a.offset) | *by);
    return a;
  }
  // The least number is its own negative, and far.
  return a.plus(static_cast<int64_t>(isSum ? *by : -*by));
}

LocalAddresses::Address LocalAddresses::indexedBy(const Address& a, const Operand* index, InstrId id) {
  if (index == nullptr || !index->isRegister() || index->flags != 0) return {.kind = Address::Lost};
  const auto [at, isNew] =
      chainOf_.try_emplace(uint64_t{id.value} << 32 | a.chain, static_cast<uint32_t>(chains_.size()));
  if (isNew) chains_.push_back({a.chain, {id, index->reg()}});
  Address sum = a;
  sum.chain = at->second;
  return sum;
}

std::optional<uint64_t> LocalAddresses::constant(const Operand* o, InstrId id) const {
  return o != nullptr ? constantOperand(module_, f_, slots_, intervals_, *o, id) : std::nullopt;
}

uint64_t LocalAddresses::alignmentOf(VariableId v) const {
  const DeclarationForm& form = module_.declarationForms[f_.variables[v.value].form];
  return std::min<uint64_t>(form.alignment != 0 ? form.alignment : info(form.type).bits / 8, kWindowAlignment);
}

void LocalAddresses::pin(const Address& a, std::string_view why) {
  if (a.kind == Address::Known && why_[a.variable.value].empty()) why_[a.variable.value] = why;
}

void LocalAddresses::lookAtPhis(BlockId b) {
  for (const FlowValue& v : beginning(b)) {
    if (at(v.reg, v.value).kind != Address::Lost) continue;
    forEachIncoming(v, b, [&](ValueId from) { pin(at(v.reg, from), "dynamic-index"); });
  }
}

void LocalAddresses::lookAtUses(InstrId id) {
  const Instruction& i = f_[id];
  const OpcodeForm& form = module_.form(i);
  const auto operands = f_.operandsOf(i);
  LocalAccess access;
  uint32_t base = UINT32_MAX;
  std::string_view whyNot;
  uint32_t chain = kNoChain;
  const bool isAccess = readAccess(id, access, base, chain, whyNot);
  if (isAccess) {
    if (chain == kNoChain)
      accesses_.push_back(access);
    else
      addIndexed(access, chain);
  }
  const Address made = isFollowed(id) ? result(id) : loaded(id);
  const PlainOperands plain(operands);
  const Operand* const to = plain.size() > 0 ? plain.single(0) : nullptr;
  // A definition under a guard leaves one address or the other.
  const bool keeps = made.kind == Address::Known && to != nullptr && to->isRegister() &&
                     ValueFlow::isFollowed(to->reg()) &&
                     at(to->reg(), intervals_[to->reg()].valueOut(slots_[id])) == made;
  for (uint32_t k = 0; k < operands.size(); ++k) {
    const Operand& o = operands[k];
    Address a;
    if (o.kind == OperandKind::Variable && bytes_[o.payload] != 0)
      a = {.kind = Address::Known, .variable = VariableId(o.payload)};
    if (o.isRegister() && o.reads() && ValueFlow::isFollowed(o.reg())) a = stateRead(o.reg(), id);
    if (a.kind != Address::Known) continue;
    if (k == base) {
      if (!isAccess) pin(a, whyNot.empty() ? "named-otherwise" : whyNot);
      continue;
    }
    // The old value of a register that is written under a guard.
    if (keeps) continue;
    if (isKept(id, a)) {
      isKept_[a.variable.value] = true;
      continue;
    }
    const AddressOperation operation = form.knowsOperands() ? addressOperation(form) : AddressOperation::Other;
    if (form.is(effect::Unknown))
      pin(a, "unknown-opcode");
    else if (form.op == Op::Atom || form.op == Op::Red || form.op == Op::RedAsync)
      pin(a, "atomic");
    else if (form.op == Op::Setp || form.op == Op::Set)
      pin(a, "compared");
    else if (o.kind == OperandKind::Variable)
      pin(a, "named-otherwise");
    else if (operation != AddressOperation::Other && operation != AddressOperation::Copy)
      pin(a, "dynamic-index");
    else
      pin(a, "escapes");
  }
  // What a load brings back has no operand that reads it. It is lost in a register that is not followed, or that holds
  // something else as well when the load is guarded.
  if (!keeps && to != nullptr && to->isRegister()) pin(made, "escapes");
  if (keeps && isFollowed(id)) computations_[made.variable.value].push_back(id);
}

}  // namespace ptxopt
