// Sets are words of 64 bits, one bit a parameter and the last for all else, and flow by union through ValueFlow. A
// second pass over the uses marks what is written and what escapes.
#include "analysis/addresses/parameter_memory.h"

#include <algorithm>

#include "analysis/addresses/address_arithmetic.h"
#include "analysis/values/constant_operand.h"
#include "analysis/values/plain_operands.h"
#include "ir/opcode_predicates.h"
#include "ir/parameter_loads.h"

namespace ptxopt {
namespace {

using Set = ParameterMemory::Set;
constexpr Set kAll = ~Set{0};

Set bitOf(std::size_t parameter) { return parameter < 63 ? Set{1} << parameter : ParameterMemory::kOther; }

bool isWeakLoad(const OpcodeForm& form) { return form.op == Op::Ld && !form.is(~uint32_t{effect::Read}); }

// What reads nothing, or reads weakly, by its address.
bool onlyReads(const OpcodeForm& form) {
  return isWeakLoad(form) || form.op == Op::Prefetch || form.op == Op::Prefetchu;
}

}  // namespace

ParameterMemory::ParameterMemory(const Module& module, const Function& kernel, const Cfg& cfg,
                                 const SlotIndexes& slots, const LiveIntervals& intervals)
    : ValueFlow(module, kernel, cfg, slots, intervals, canHoldPointer) {
  if (!f_.isEntry || f_.hidesNames || cfg_.roots().size() != 1 || !solve(kMostSweeps)) {
    written_ = escaped_ = kAll;
    std::ranges::fill(states_, kAll);
    return;
  }
  for (uint32_t b = 0; b < cfg_.size(); ++b) {
    if (!cfg_[BlockId(b)].reachable) continue;
    for (const InstrId id : slots_.instructions(BlockId(b))) {
      if (!f_[id].isInstruction()) continue;
      noteUses(id);
      noteParameters(id);
    }
  }
}

ParameterMemory::Set ParameterMemory::accessed(InstrId id) const {
  const auto operands = f_.operandsOf(f_[id]);
  const auto memory = std::ranges::find(operands, OperandKind::Memory, &Operand::kind);
  if (memory == operands.end() || memory->inside() == 0 || memory->inside() > 2) return kOther;
  const Operand& base = *(memory + 1);
  if (memory->inside() == 2 && !immediate(f_, *(memory + 2))) return kOther;
  return base.isRegister() && base.flags == 0 && isFollowed(base.reg()) ? stateRead(base.reg(), id) : kOther;
}

// What is in the registers that an instruction writes, after it.
ParameterMemory::Set ParameterMemory::left(InstrId id) const {
  const auto operands = f_.operandsOf(f_[id]);
  const auto written =
      std::ranges::find_if(operands, [](const Operand& o) { return o.isRegister() && o.writes(); });
  if (written == operands.end() || !isFollowed(written->reg())) return kOther;
  const bool isAlone =
      std::none_of(written + 1, operands.end(), [](const Operand& o) { return o.isRegister() && o.writes(); });
  if (!isAlone) return kOther;
  if (written->role == Role::Def) return result(id);
  const bool isGuarded = f_[id].is(Instruction::Guarded) && module_.form(f_[id]).knowsOperands();
  return isGuarded ? result(id) | stateRead(written->reg(), id) : kOther;
}

ParameterMemory::Set ParameterMemory::source(std::span<const Operand> operand, InstrId id) const {
  if (operand.size() != 1) return kOther;
  const Operand& o = operand.front();
  switch (o.kind) {
    case OperandKind::Register: {
      if (o.flags != 0) return kOther;
      if (isFollowed(o.reg())) return stateRead(o.reg(), id);
      const Register& reg = f_.registers[o.payload];
      return reg.lanes == 1 && info(reg.type).bits < 64 ? 0 : kOther;
    }
    case OperandKind::Integer:
    case OperandKind::WideInteger:
    case OperandKind::SpecialRegister:
    case OperandKind::Builtin: return 0;
    default: return kOther;
  }
}

ParameterMemory::Set ParameterMemory::result(InstrId id) const {
  const OpcodeForm& form = module_.form(f_[id]);
  if (!form.knowsOperands() || form.role(0) != 'd') return kOther;
  if (form.op == Op::Ld) return loaded(id);
  const PlainOperands operands(f_.operandsOf(f_[id]));
  if (operands.size() < 2 || operands.single(0) == nullptr) return kOther;
  const auto of = [&](std::size_t k) { return k < operands.size() ? source(operands[k], id) : 0; };
  switch (addressOperation(form)) {
    case AddressOperation::Copy:
    case AddressOperation::Convert: return of(1);
    case AddressOperation::Choose:
    case AddressOperation::Add:
    case AddressOperation::Subtract:
    case AddressOperation::And:
    case AddressOperation::Or:
    case AddressOperation::Mix: return of(1) | of(2);
    case AddressOperation::Multiply: return product(id, operands);
    case AddressOperation::MultiplyAdd: return product(id, operands) | of(3);
    case AddressOperation::MultiplyWide:
    case AddressOperation::Narrow: return 0;
    case AddressOperation::MultiplyAddWide: return of(3);
    case AddressOperation::ShiftLeft:
    case AddressOperation::ShiftRight: {
      const Operand* const by = operands.single(2);
      const auto amount = by == nullptr ? std::nullopt : constantOperand(module_, f_, slots_, intervals_, *by, id);
      // By 32 it may be half of an address.
      if (!amount || static_cast<uint32_t>(*amount) >= 32) return kOther;
      return static_cast<uint32_t>(*amount) == 0 ? of(1) : 0;
    }
    case AddressOperation::ToGeneric:
    case AddressOperation::FromGeneric: return namedSpace(form) == AddressKind::Global ? of(1) : kOther;
    case AddressOperation::Other: break;
  }
  return kOther;
}

ParameterMemory::Set ParameterMemory::product(InstrId id, const PlainOperands& operands) const {
  for (const std::size_t k : {std::size_t{1}, std::size_t{2}}) {
    const Operand* const o = operands.single(k);
    const auto factor = o == nullptr ? std::nullopt : constantOperand(module_, f_, slots_, intervals_, *o, id);
    if (!factor) continue;
    if (*factor == 1 || *factor == UINT64_MAX) return source(operands[3 - k], id);
    if (*factor != 0 && static_cast<uint32_t>(*factor) == 0) return kOther;
  }
  return 0;
}

ParameterMemory::Set ParameterMemory::loaded(InstrId id) const {
  const OpcodeForm& form = module_.form(f_[id]);
  if (info(form.type).bits < 64) return 0;
  const auto parameter = wholeParameter(module_, f_, f_[id]);
  return parameter ? bitOf(*parameter) : kOther;
}

// Where an instruction reads what is made of parameters: by its address, to make a result of it, or for something else.
void ParameterMemory::noteUses(InstrId id) {
  const OpcodeForm& form = module_.form(f_[id]);
  const auto operands = f_.operandsOf(f_[id]);
  Set addresses = 0, others = 0, results = 0;
  std::size_t endOfAddress = 0;
  for (std::size_t at = 0; at < operands.size(); ++at) {
    const Operand& o = operands[at];
    if (o.kind == OperandKind::Memory) endOfAddress = at + 1 + o.inside();
    if (!o.isRegister() || !isFollowed(o.reg())) continue;
    if (o.writes()) results = left(id);
    if (o.reads()) (at < endOfAddress ? addresses : others) |= stateRead(o.reg(), id);
  }
  if (!onlyReads(form)) written_ |= addresses;
  // Whatever else it does with an address may be to keep it.
  if (!onlyReads(form) && form.op != Op::St && form.op != Op::Atom && form.op != Op::Red) escaped_ |= addresses;
  if (form.op != Op::Setp || !form.knowsOperands()) escaped_ |= others & ~results;
}

// Whether a load, whose address names the parameter, reads nothing before and after it.
bool ParameterMemory::staysInside(const Instruction& load, const Variable& v) const {
  const auto operands = f_.operandsOf(load);
  const auto memory = std::ranges::find(operands, OperandKind::Memory, &Operand::kind);
  if (memory == operands.end() || memory->inside() == 0 || memory->inside() > 2) return false;
  if ((memory + 1)->kind != OperandKind::Variable) return false;
  const auto offset = memory->inside() == 1 ? std::optional<uint64_t>(0) : immediate(f_, *(memory + 2));
  const bool isForward = memory->inside() == 1 || (memory + 2)->join == Join::Plus;
  const OpcodeForm& form = module_.form(load);
  const DeclarationForm& declared = module_.declarationForms[v.form];
  const uint64_t size = v.declarator.elements * declared.lanes * (info(declared.type).bits / 8);
  const uint64_t bytes = uint64_t{form.vector} * (info(form.type).bits / 8);
  return offset && isForward && bytes <= size && *offset <= size - bytes;
}

void ParameterMemory::noteParameters(InstrId id) {
  const Instruction& i = f_[id];
  for (const Operand& o : f_.operandsOf(i)) {
    if (o.kind != OperandKind::Variable || !f_.variables[o.payload].isParameter) continue;
    const auto found = std::ranges::find(f_.parameters, VariableId(o.payload));
    if (!isParameterLoad(module_.form(i)) || found == f_.parameters.end()) {
      escaped_ = kAll;  // its address, from which that of others is not far
      continue;
    }
    const Variable& v = f_.variables[o.payload];
    if (!staysInside(i, v)) {
      escaped_ = kAll;  // it reads another one, too
      continue;
    }
    if (!v.declarator.dimensions.empty()) continue;  // a structure
    const auto parameter = wholeParameter(module_, f_, i);
    if (!parameter) {
      escaped_ |= bitOf(static_cast<std::size_t>(found - f_.parameters.begin()));
      continue;
    }
    const PlainOperands plain(f_.operandsOf(i));
    const Operand* const to = plain.single(0);
    if (to == nullptr || !to->isRegister() || !isFollowed(to->reg())) escaped_ |= bitOf(*parameter);
  }
}

}  // namespace ptxopt
