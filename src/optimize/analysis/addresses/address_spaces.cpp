// The class supplies ValueFlow with the states of entries, definitions and stores; operations are classed once for each
// opcode. How far numbers were shifted is tracked beside the states, so that halves of addresses are not taken for
// numbers.
#include "analysis/addresses/address_spaces.h"

#include <algorithm>

#include "analysis/dataflow/direct_calls.h"
#include "analysis/values/constant_operand.h"
#include "analysis/values/plain_operands.h"
#include "analysis/values/scev_instructions.h"
#include "analysis/values/sent_halves.h"
#include "ir/opcode_predicates.h"

namespace ptxopt {
namespace {

AddressState stateIn(DeclaredSpace space) {
  if (space == DeclaredSpace::Global) return {AddressKind::Global};
  if (space == DeclaredSpace::Shared) return {AddressKind::SharedOffset};
  if (space == DeclaredSpace::Local) return {AddressKind::LocalOffset};
  if (space == DeclaredSpace::Const) return {AddressKind::ConstOffset};
  return kUnknownAddress;
}

// The variable that `[v]` or `[v+4]` names; nullptr for others. `offset` is not zero for what is not a plain number,
// too.
const Operand* namedVariable(const Function& f, std::span<const Operand> operands, std::size_t memory,
                             uint64_t& offset) {
  const std::size_t inside = operands[memory].inside();
  if (inside == 0 || operands[memory + 1].kind != OperandKind::Variable) return nullptr;
  offset = 0;
  if (inside > 1) offset = inside == 2 ? immediate(f, operands[memory + 2]).value_or(1) : 1;
  return &operands[memory + 1];
}

std::size_t memoryOperand(std::span<const Operand> operands) {
  std::size_t at = 0;
  while (at < operands.size() && operands[at].kind != OperandKind::Memory) ++at;
  return at;
}

// Whether addresses may come from memory.
bool loadsAddresses(const Module& module, const Function& f) {
  for (const InstrId id : f) {
    if (!f[id].isInstruction()) continue;
    const OpcodeForm& form = module.form(f[id]);
    if (form.op == Op::Ld && canHoldPointer(form.type) && !isParameter(form.space)) return true;
  }
  return false;
}

}  // namespace

AddressSpaces::AddressSpaces(const Module& module, const Function& function, const Cfg& cfg,
                             const SlotIndexes& slots, const LiveIntervals& intervals,
                             const ModuleAddressFacts* facts, bool memoryIsGlobal)
    : ValueFlow(module, function, cfg, slots, intervals, canHoldPointer),
      facts_(facts),
      memoryIsGlobal_(memoryIsGlobal),
      shifts_(numbers_.size()),
      parameters_(function.variables.size(), kUnknownAddress),
      stored_(function.variables.size()),
      operations_(module.opcodes.size()) {
  collectParameters();
  if (memoryIsGlobal && takesMemoryAsGlobal()) launch_.emplace(module_, f_, cfg_);
  if (!solve(kMostSweeps)) {
    std::ranges::fill(states_, kUnknownAddress);
    std::ranges::fill(stored_, kUnknownAddress);
  }
  // What a call left in a variable, or the caller in a parameter, may be passed on as it is.
  for (const VariableId v : filled_) stored_[v.value] = join(stored_[v.value], parameters_[v.value]);
}

bool AddressSpaces::differs() const {
  const AddressSpaces anew(module_, f_, cfg_, slots_, intervals_, facts_, memoryIsGlobal_);
  return states_ != anew.states_ || parameters_ != anew.parameters_ || stored_ != anew.stored_;
}

AddressState AddressSpaces::source(const Operand& o, InstrId id) const {
  switch (o.kind) {
    case OperandKind::Register:
      if (o.flags != 0) return kUnknownAddress;
      if (holdsAddresses(o.reg())) return read(o.reg(), id);
      // Less than 64 bits wide; a vector register is read whole: `mov.b64 p, v` with v of `.v2 .b32` makes an
      // address.
      return f_.registers[o.payload].lanes == 1 && info(f_.registers[o.payload].type).bits < 64 ? kNumberAddress
                                                                                                : kUnknownAddress;
    case OperandKind::Integer:
    case OperandKind::WideInteger:
    case OperandKind::SpecialRegister:
    case OperandKind::Builtin: return kNumberAddress;
    case OperandKind::Variable:
    case OperandKind::Symbol: return addressOf(o);
    default: return kUnknownAddress;
  }
}

AddressKind AddressSpaces::accessed(InstrId id) const {
  const auto operands = f_.operandsOf(f_[id]);
  const std::size_t memory = memoryOperand(operands);
  const std::size_t inside = memory < operands.size() ? operands[memory].inside() : 0;
  if (inside == 0 || inside > 2 || (inside == 2 && !immediate(f_, operands[memory + 2])))
    return AddressKind::Unknown;
  const AddressKind kind = source(operands[memory + 1], id).kind;
  return isSpace(kind) ? kind : AddressKind::Unknown;
}

AddressState AddressSpaces::addressOf(const Operand& o) const {
  const Variable* variable = nullptr;
  if (o.kind == OperandKind::Variable) variable = &f_.variables[o.payload];
  if (o.kind == OperandKind::Symbol && module_.symbols[o.payload].kind == SymbolKind::Variable)
    variable = &module_.variables[module_.symbols[o.payload].index];
  if (variable == nullptr) return kUnknownAddress;
  return stateIn(module_.declarationForms[variable->form].space);
}

void AddressSpaces::collectParameters() {
  filled_ = f_.parameters;
  if (facts_ != nullptr) {
    const std::vector<AddressState>& own = facts_->functions[f_.index].parameters;
    for (std::size_t k = 0; k < own.size(); ++k) parameters_[f_.parameters[k].value] = own[k];
  }
  std::vector<bool> isResult(parameters_.size()), isStored(parameters_.size());
  for (const InstrId id : f_) {
    const Instruction& i = f_[id];
    if (!i.isInstruction()) continue;
    const auto operands = f_.operandsOf(i);
    if (module_.form(i).is(effect::Call)) {
      const DirectCall call(module_, f_, i);
      for (std::size_t k = 0; k < call.results.size(); ++k) {
        if (call.results[k].kind != OperandKind::Variable) continue;
        AddressState state = kUnknownAddress;
        if (call.callee != nullptr && facts_ != nullptr && k < facts_->functions[call.index].returns.size())
          state = facts_->functions[call.index].returns[k];
        AddressState& known = parameters_[call.results[k].payload];
        known = isResult[call.results[k].payload] ? join(known, state) : state;
        isResult[call.results[k].payload] = true;
        filled_.push_back(VariableId(call.results[k].payload));
      }
      continue;
    }
    // A parameter whose address is taken may be written or read without being named.
    const bool isNamed =
        std::ranges::any_of(operands, [](const Operand& o) { return o.kind == OperandKind::Variable; });
    if (isNamed && isParameterStore(module_.form(i)))
      for (const Operand& o : operands)
        if (o.kind == OperandKind::Variable) isStored[o.payload] = true;
    if (!isNamed || memoryOperand(operands) < operands.size()) continue;
    for (const Operand& o : operands)
      if (o.kind == OperandKind::Variable) stored_[o.payload] = parameters_[o.payload] = kUnknownAddress;
  }
  // A variable that takes the result of a call may be an argument of the next: a load may give what was stored.
  for (std::size_t v = 0; v < parameters_.size(); ++v)
    if (isResult[v] && isStored[v]) parameters_[v] = kUnknownAddress;
}

// For a phi or an entry value: what is in the register when control comes.
AddressState AddressSpaces::entering(const FlowValue& v, BlockId b, bool isRoot) const {
  const bool isUnknown = isRoot && (b != cfg_.roots().front() || f_.registers[v.reg.value].isParameter);
  return isUnknown ? kUnknownAddress : AddressState();
}

AddressState AddressSpaces::made(InstrId id, const Operand& to, uint32_t number) {
  AddressState state = kUnknownAddress;
  if (to.role == Role::Def)
    state = result(id, to);
  else if (f_[id].is(Instruction::Guarded) && module_.form(f_[id]).knowsOperands())
    state = join(result(id, to), read(to.reg(), id));
  if (state.kind != AddressKind::Number) return state;
  const unsigned shift = shiftBy(id);
  changed_ |= raiseShift(number, shift);
  return shift >= kHalf ? kUnknownAddress : state;
}

// A store into a parameter.
bool AddressSpaces::visit(InstrId id) {
  const Instruction& i = f_[id];
  const OpcodeForm& form = module_.form(i);
  if (!isParameterStore(form)) return false;
  const auto operands = f_.operandsOf(i);
  const std::size_t memory = memoryOperand(operands);
  uint64_t offset = 0;
  const Operand* const variable = memory < operands.size() ? namedVariable(f_, operands, memory, offset) : nullptr;
  if (variable == nullptr) return false;
  const PlainOperands plain(operands);
  const bool isPlain = canHoldPointer(form.type) && form.vector == 1 && offset == 0 && plain.single(1) != nullptr;
  return raise(stored_[variable->payload], isPlain ? source(*plain.single(1), id) : kUnknownAddress);
}

AddressOperation AddressSpaces::operationOf(OpcodeId opcode) {
  uint8_t& note = operations_[opcode.value];
  if (note == 0) {
    const OpcodeForm& form = module_.opcodes[opcode.value];
    const AddressOperation operation = form.knowsOperands() ? addressOperation(form) : AddressOperation::Other;
    note = static_cast<uint8_t>(static_cast<uint8_t>(operation) + 1);
  }
  return static_cast<AddressOperation>(note - 1);
}

// What instruction `id` leaves in the operand `to`, whose register holds addresses.
AddressState AddressSpaces::result(InstrId id, const Operand& to) {
  const Instruction& i = f_[id];
  const OpcodeForm& form = module_.form(i);
  if (!form.knowsOperands() || form.role(0) != 'd') return kUnknownAddress;
  if (form.op == Op::Ld) return loaded(id);
  const PlainOperands operands(f_.operandsOf(i));
  if (operands.size() < 2 || operands.single(0) != &to) return kUnknownAddress;
  if (const auto halves = sentHalves(module_, f_, cfg_, slots_, intervals_, id); halves.unpack.valid())
    return source(*halves.whole, halves.unpack);
  const AddressOperation operation = operationOf(i.opcode());
  if (operation == AddressOperation::Other) return kUnknownAddress;
  const auto state = [&](std::size_t k) {
    if (k >= operands.size()) return kNumberAddress;
    // The address of a variable, perhaps with an offset.
    if (operands[k].size() == 2 && operands[k][1].join == Join::Plus) return addressOf(operands[k][0]);
    return operands.single(k) != nullptr ? source(*operands.single(k), id) : kUnknownAddress;
  };
  const AddressState a = state(1);
  if (operation == AddressOperation::ToGeneric || operation == AddressOperation::FromGeneric) {
    const AddressKind space = namedSpace(form);
    // Shared memory of another block of the cluster is addressed alike, and is not .shared without ::cluster.
    if (space == AddressKind::Shared && module_.synth.mapsShared && a.kind != AddressKind::SharedOffset &&
        a.kind != AddressKind::Shared)
      return kUnknownAddress;
    // A program may convert before it asks where an address lies: that proves nothing of global memory.
    const bool isAssumed = space == AddressKind::Global && a.kind != AddressKind::None && !isCertainlyGlobal(a);
    return {operation == AddressOperation::FromGeneric ? offsetKind(space) : space, a.mayBeNumber, isAssumed};
  }
  std::optional<uint64_t> constant;
  if (const Operand* second = operands.single(2); second != nullptr)
    constant = constantOperand(module_, f_, slots_, intervals_, *second, id);
  // The factor may stand first.
  const bool isProduct = operation == AddressOperation::Multiply || operation == AddressOperation::MultiplyAdd;
  if (const Operand* first = operands.single(1); first != nullptr && isProduct)
    if (const auto factor = constantOperand(module_, f_, slots_, intervals_, *first, id);
        factor && (*factor > UINT32_MAX || *factor == 1))
      constant = factor;
  return addressResult(operation, a, state(2), state(3), constant);
}

AddressState AddressSpaces::loaded(InstrId id) const {
  const Instruction& i = f_[id];
  const OpcodeForm& form = module_.form(i);
  if (info(form.type).bits < 64) return kNumberAddress;
  const auto operands = f_.operandsOf(i);
  const std::size_t memory = memoryOperand(operands);
  if (!canHoldPointer(form.type) || memory == operands.size()) return kUnknownAddress;
  if (launch_ && launch_->isAsLaunchedIfGlobal(id) && operands[memory].inside() != 0)
    return fromLaunch(id, operands[memory + 1]);
  uint64_t offset = 0;
  const Operand* const variable = namedVariable(f_, operands, memory, offset);
  if (variable == nullptr || !isParameterLoad(form)) return kUnknownAddress;
  return parameters_[variable->payload];
}

// What is loaded at `base` and has been there since before the kernel began. A generic address may be one of
// another space, whose variables hold nothing then.
AddressState AddressSpaces::fromLaunch(InstrId id, const Operand& base) const {
  if (module_.form(f_[id]).space == StateSpace::Global) return kAssumedGlobal;
  const AddressState at = source(base, id);
  if (at.kind == AddressKind::None) return {};
  return at.kind == AddressKind::Global ? kAssumedGlobal : kUnknownAddress;
}

// Neither parameters nor memory are known for a kernel that device code may launch. Where the module makes pointers to
// constant memory, memory may hold them.
bool AddressSpaces::takesMemoryAsGlobal() const {
  return f_.isEntry && facts_ != nullptr && !facts_->pointsToConstants && loadsAddresses(module_, f_) &&
         std::ranges::none_of(facts_->functions[f_.index].parameters,
                              [](AddressState s) { return s.kind == AddressKind::LaunchedParameter; });
}

}  // namespace ptxopt
