// Each operation has a rule on pairs of count and value: sums need both, products gain from zeros, a mask from either
// side's zeros. States fall through ValueFlow until nothing changes, or all are given up after too many sweeps.
#include "analysis/values/low_bits.h"

#include <algorithm>
#include <array>
#include <bit>

#include "analysis/values/launch_sizes.h"
#include "analysis/values/plain_operands.h"
#include "ir/opcode_predicates.h"
#include "ir/parameter_loads.h"

namespace ptxopt {
namespace {

using Kind = RangeOperation::Kind;
// Not looked at yet: whatever is wanted.
constexpr KnownLowBits kOpen{UINT8_MAX, 0};

bool isOpen(KnownLowBits b) { return b == kOpen; }

KnownLowBits lowest(unsigned count, uint64_t value) {
  count = std::min(count, LowBits::kMost);
  return {static_cast<uint8_t>(count), static_cast<uint8_t>(value & ((1u << count) - 1))};
}

KnownLowBits multipleOf(uint64_t divisor) { return lowest(static_cast<unsigned>(std::countr_zero(divisor)), 0); }

// How many of the known bits are zero, from the lowest on.
unsigned zeros(KnownLowBits b) { return b.value == 0 ? b.count : static_cast<unsigned>(std::countr_zero(b.value)); }

KnownLowBits joined(KnownLowBits a, KnownLowBits b) {
  if (isOpen(a)) return b;
  if (isOpen(b)) return a;
  unsigned count = std::min(a.count, b.count);
  if (const auto apart = static_cast<unsigned>(a.value ^ b.value); apart != 0)
    count = std::min(count, static_cast<unsigned>(std::countr_zero(apart)));
  return lowest(count, a.value);
}

KnownLowBits sum(KnownLowBits a, KnownLowBits b) {
  return lowest(std::min(a.count, b.count), uint64_t{a.value} + b.value);
}
KnownLowBits difference(KnownLowBits a, KnownLowBits b) {
  return lowest(std::min(a.count, b.count), uint64_t{a.value} - b.value);
}
KnownLowBits product(KnownLowBits a, KnownLowBits b) {
  const unsigned count = std::min(zeros(a) + b.count, zeros(b) + a.count);
  return lowest(count, uint64_t{a.value} * b.value);
}

// A zero in either is one of the result; else both must be known.
KnownLowBits both(KnownLowBits a, KnownLowBits b) {
  unsigned count = 0;
  const auto isZero = [](KnownLowBits x, unsigned bit) { return bit < x.count && (x.value >> bit & 1) == 0; };
  while (count < LowBits::kMost && (isZero(a, count) || isZero(b, count) || (count < a.count && count < b.count)))
    ++count;
  return lowest(count, a.value & b.value);
}

KnownLowBits bitwise(Kind kind, KnownLowBits a, KnownLowBits b) {
  if (kind == Kind::And) return both(a, b);
  const unsigned value = kind == Kind::Or ? a.value | b.value : a.value ^ b.value;
  return lowest(std::min(a.count, b.count), value);
}

}  // namespace

LowBits::LowBits(const Module& module, const Function& function, const Cfg& cfg, const SlotIndexes& slots,
                 const LiveIntervals& intervals)
    : ValueFlow(
          module, function, cfg, slots, intervals, [](const Register&) { return true; }, kOpen) {
  operations_.reserve(module.opcodes.size());
  for (const OpcodeForm& form : module.opcodes)
    operations_.push_back(form.knowsOperands() ? readRangeOperation(form) : RangeOperation());
  if (!solve(kMostSweeps)) std::ranges::fill(states_, KnownLowBits());
}

KnownLowBits LowBits::read(RegId r, InstrId id) const {
  const KnownLowBits known = stateRead(r, id);
  return isOpen(known) ? KnownLowBits() : known;
}

KnownLowBits LowBits::address(InstrId id) const {
  const auto operands = f_.operandsOf(f_[id]);
  const auto memory = std::ranges::find(operands, OperandKind::Memory, &Operand::kind);
  if (memory == operands.end() || memory->inside() == 0 || memory->inside() > 2) return {};
  const Operand& base = *(memory + 1);
  const KnownLowBits known = source(&base, id);
  if (memory->inside() == 1 || isOpen(known)) return isOpen(known) ? KnownLowBits() : known;
  const auto offset = immediate(f_, *(memory + 2));
  if (!offset) return {};
  const KnownLowBits by = lowest(LowBits::kMost, *offset);
  return (memory + 2)->join == Join::Minus ? difference(known, by) : sum(known, by);
}

KnownLowBits LowBits::join(KnownLowBits a, KnownLowBits b) { return joined(a, b); }

KnownLowBits LowBits::entering(const FlowValue& v, BlockId, bool isRoot) const {
  return isRoot || intervals_[v.reg][v.value].kind == ValueKind::Entry ? KnownLowBits() : kOpen;
}

KnownLowBits LowBits::made(InstrId id, const Operand& to, uint32_t) {
  const Instruction& i = f_[id];
  if (!module_.form(i).knowsOperands() || to.flags != 0) return {};
  if (to.role == Role::Def) return result(id, to);
  return i.is(Instruction::Guarded) ? joined(result(id, to), stateRead(to.reg(), id)) : KnownLowBits();
}

// What an instruction leaves in its result, if that is all of a register.
KnownLowBits LowBits::result(InstrId id, const Operand& to) {
  const OpcodeForm& form = module_.form(f_[id]);
  const Register& reg = f_.registers[to.payload];
  const PlainOperands operands(f_.operandsOf(f_[id]));
  if (form.role(0) != 'd' || reg.lanes != 1 || operands.single(0) != &to) return {};
  if (form.op == Op::Ld) return loaded(id);
  if (isGlobalConversion(form)) return source(operands.single(1), id);
  const RangeOperation& operation = operations_[f_[id].payload];
  if (operation.kind == Kind::None || operands.size() < operation.sources + std::size_t{1}) return {};
  std::array<KnownLowBits, 3> s{};
  for (std::size_t k = 0; k < operation.sources; ++k) {
    s[k] = source(operands.single(k + 1), id);
    if (isOpen(s[k])) return kOpen;
  }
  switch (operation.kind) {
    case Kind::Copy:
    case Kind::Convert: return s[0];
    case Kind::Add: return sum(s[0], s[1]);
    case Kind::Sub: return difference(s[0], s[1]);
    case Kind::Negate: return difference(lowest(LowBits::kMost, 0), s[0]);
    case Kind::Not: return lowest(s[0].count, ~uint64_t{s[0].value});
    case Kind::Multiply:
    case Kind::MultiplyWide: return product(s[0], s[1]);
    case Kind::MultiplyAdd:
    case Kind::MultiplyWideAdd: return sum(product(s[0], s[1]), s[2]);
    case Kind::And:
    case Kind::Or:
    case Kind::Xor: return bitwise(operation.kind, s[0], s[1]);
    // At least by the amount's known bits; what is shifted out altogether is zero.
    case Kind::ShiftLeft: return lowest(zeros(s[0]) + s[1].value, 0);
    case Kind::Choose: return joined(s[0], s[1]);
    default: return {};
  }
}

KnownLowBits LowBits::loaded(InstrId id) const {
  const auto parameter = f_.isEntry ? wholeParameter(module_, f_, f_[id]) : std::nullopt;
  if (!parameter) return {};
  const DeclarationForm& form = module_.declarationForms[f_.variables[f_.parameters[*parameter].value].form];
  if (!isInteger(form.type)) return {};
  const unsigned declared = std::has_single_bit(form.pointeeAlignment) ? form.pointeeAlignment : 1;
  const KernelFacts* const facts = module_.factsOf(f_);
  if (facts == nullptr) return multipleOf(declared);
  const NumberFact& fact = facts->parameters[*parameter];
  if (const auto exact = fact.exact()) return lowest(LowBits::kMost, static_cast<uint64_t>(*exact));
  return multipleOf(std::max<uint64_t>(declared, uint64_t{1} << std::countr_zero(fact.multiple)));
}

KnownLowBits LowBits::source(const Operand* o, InstrId id) const {
  if (o == nullptr || o->flags & (Operand::Negated | Operand::Not | Operand::Complement)) return {};
  if (const auto bits = immediate(f_, *o)) return lowest(LowBits::kMost, *bits);
  switch (o->kind) {
    case OperandKind::Register:
      return o->flags == 0 && f_.registers[o->payload].lanes == 1 ? stateRead(o->reg(), id) : KnownLowBits();
    case OperandKind::Variable:
    case OperandKind::Symbol: return ofVariable(*o);
    case OperandKind::SpecialRegister: return ofSize(module_.text(NameId(o->payload)));
    default: return {};
  }
}

KnownLowBits LowBits::ofVariable(const Operand& o) const {
  const Variable* variable = nullptr;
  if (o.kind == OperandKind::Variable) variable = &f_.variables[o.payload];
  if (o.kind == OperandKind::Symbol && module_.symbols[o.payload].kind == SymbolKind::Variable)
    variable = &module_.variables[module_.symbols[o.payload].index];
  if (variable == nullptr) return {};
  const DeclarationForm& form = module_.declarationForms[variable->form];
  if (form.space != DeclaredSpace::Shared && form.space != DeclaredSpace::Global) return {};
  return std::has_single_bit(form.alignment) ? multipleOf(form.alignment) : KnownLowBits();
}

KnownLowBits LowBits::ofSize(std::string_view name) const {
  const auto size = launchSizeOf(name);
  const KernelFacts* const facts = module_.factsOf(f_);
  if (!size || size->isPlace || facts == nullptr || !f_.isEntry) return {};
  const NumberFact& fact = (size->isGrid ? facts->grid : facts->block)[size->component];
  if (const auto exact = fact.exact()) return lowest(LowBits::kMost, static_cast<uint64_t>(*exact));
  return multipleOf(fact.multiple);
}

}  // namespace ptxopt
