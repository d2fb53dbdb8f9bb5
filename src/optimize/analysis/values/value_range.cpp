// Values are settled on request by an explicit stack, each after the values that it needs; a value that is open counts
// as unknown. Branch conditions are added when a question names a block (value_range_at.cpp).
#include "analysis/values/value_range.h"

#include <algorithm>

#include "analysis/values/launch_sizes.h"
#include "analysis/values/plain_operands.h"
#include "ir/parameter_loads.h"

namespace ptxopt {

namespace {

constexpr uint32_t kUnsettled = 1, kFull = 2, kFirst = 3;

using Kind = RangeOperation::Kind;

RangeReason reasonOf(Kind kind) {
  switch (kind) {
    case Kind::Load:
    case Kind::Convert: return RangeReason::Narrow;
    case Kind::And:
    case Kind::Extract:
    case Kind::Remainder:
    case Kind::ShiftRight:
    case Kind::Ones:
    case Kind::LeadingZeros:
    case Kind::IsZero:
    case Kind::Compare: return RangeReason::Mask;
    case Kind::Choose: return RangeReason::Join;
    default: return RangeReason::Arithmetic;
  }
}

}  // namespace

std::string_view name(RangeReason reason) {
  static constexpr std::string_view kNames[] = {
      "none", "constant", "special register", "narrow", "fact", "mask", "arithmetic", "join", "branch"};
  return kNames[static_cast<std::size_t>(reason)];
}

ValueRanges::ValueRanges(const Module& module, const Function& function, const Cfg& cfg,
                         const DominatorTree& dominators, const SlotIndexes& slots, const LiveIntervals& intervals)
    : module_(module),
      f_(function),
      cfg_(cfg),
      dominators_(dominators),
      slots_(slots),
      intervals_(intervals),
      conditions_(module, function, cfg, dominators, slots, intervals),
      order_(cfg.size()),
      numbers_(intervals),
      operations_(module.opcodes.size()),
      isRead_(module.opcodes.size()) {
  const auto& postOrder = cfg.postOrder();
  for (std::size_t i = 0; i < postOrder.size(); ++i)
    order_[postOrder[i].value] = static_cast<uint32_t>(postOrder.size() - i);
  notes_.resize(numbers_.size());
  originals_.resize(numbers_.size());
  definitions_.resize(numbers_.size());
  findLimits();
}

// The sizes of the block and what follows for the place in it.
void ValueRanges::findLimits() {
  static constexpr uint32_t kMost[] = {1024, 1024, 64};
  uint64_t threads = kMost[0];
  const FunctionDirective* required = nullptr;
  for (const FunctionDirective& d : f_.directives) {
    const std::string_view name = module_.text(d.name);
    if (!f_.isEntry || d.valueCount == 0 || (name != ".reqntid" && name != ".maxntid")) continue;
    uint64_t product = 1;
    for (uint32_t i = 0; i < d.valueCount; ++i) product *= d.values[i];
    if (product == 0 || product > kMost[0]) continue;
    if (name == ".reqntid")
      required = &d;
    else
      threads = std::min(threads, product);
  }
  for (uint32_t i = 0; i < 3; ++i) {
    const uint64_t most = std::min<uint64_t>(threads, kMost[i]);
    ntid_[i] = IntegerRange::ofUnsigned(32, 1, most);
    if (required != nullptr)
      ntid_[i] = IntegerRange::constant(32, i < required->valueCount ? required->values[i] : 1);
    tid_[i] = IntegerRange::ofUnsigned(32, 0, ntid_[i].most() - 1);
    const uint64_t mostBlocks = i == 0 ? INT32_MAX : UINT16_MAX;
    nctaid_[i] = IntegerRange::ofUnsigned(32, 1, mostBlocks);
    ctaid_[i] = IntegerRange::ofUnsigned(32, 0, mostBlocks - 1);
  }
  // Functions that are called know nothing of launches.
  const KernelFacts* const facts = module_.factsOf(f_);
  if (facts == nullptr || !f_.isEntry) return;
  const auto apply = [](IntegerRange& size, IntegerRange& place, const NumberFact& fact) {
    const IntegerRange both = size.meet(
        IntegerRange::ofUnsigned(32, static_cast<uint64_t>(fact.least), static_cast<uint64_t>(fact.most)));
    if (both.isEmpty()) return;
    size = both;
    place = IntegerRange::ofUnsigned(32, 0, size.most() - 1);
  };
  for (std::size_t i = 0; i < 3; ++i) {
    apply(ntid_[i], tid_[i], facts->block[i]);
    apply(nctaid_[i], ctaid_[i], facts->grid[i]);
  }
}

// For what a load of a kernel's parameter gives; width 0 where the user says nothing of it, or where it is a part of
// it.
IntegerRange ValueRanges::parameterRange(const Instruction& load) const {
  const KernelFacts* const facts = module_.factsOf(f_);
  if (facts == nullptr || !f_.isEntry) return {};
  const auto parameter = wholeParameter(module_, f_, load);
  if (!parameter) return {};
  const NumberFact& fact = facts->parameters[*parameter];
  const ScalarType type = module_.declarationForms[f_.variables[f_.parameters[*parameter].value].form].type;
  const unsigned bits = info(type).bits;
  if (isSignedType(type) || fact.least < 0) return IntegerRange::ofSigned(bits, fact.least, fact.most);
  const uint64_t most = fact.most == INT64_MAX && bits == 64 ? UINT64_MAX : static_cast<uint64_t>(fact.most);
  return IntegerRange::ofUnsigned(bits, static_cast<uint64_t>(fact.least), most);
}

unsigned ValueRanges::widthOf(RegId r) const {
  const Register& reg = f_.registers[r.value];
  const unsigned bits = info(reg.type).bits;
  if (reg.lanes != 1 || r == Function::kCarry || reg.registerClass() == RegisterClass::Pred) return 0;
  return bits == 8 || bits == 16 || bits == 32 || bits == 64 ? bits : 0;
}

const RangeOperation& ValueRanges::operationOf(OpcodeId opcode) {
  if (!isRead_[opcode.value]) {
    isRead_[opcode.value] = true;
    const OpcodeForm& form = module_.opcodes[opcode.value];
    if (form.knowsOperands()) operations_[opcode.value] = readRangeOperation(form);
  }
  return operations_[opcode.value];
}

InstrId ValueRanges::definition(RegId r, ValueId v) const {
  const LiveValue& value = intervals_[r][v];
  return value.kind == ValueKind::Instruction && !value.isPartial ? slots_.instructionAt(value.def) : InstrId();
}

// ---- from what computes a value ----

ValueRanges::Definition ValueRanges::definitionOf(const Value& v) {
  NotedDefinition& noted = definitions_[index(v)];
  if (!noted.isKnown) {
    noted.isKnown = true;
    noted.id = slots_.instructionAt(intervals_[v.reg][v.value].def);
    noted.isUnderstood = noted.id.valid() && isUnderstood(v, f_[noted.id]);
  }
  Definition d;
  d.id = noted.id;
  if (!d.id.valid()) return d;
  d.instruction = &f_[d.id];
  d.isGuarded = d.instruction->is(Instruction::Guarded);
  if (noted.isUnderstood) d.operation = &operationOf(d.instruction->opcode());
  return d;
}

// Whether the instruction makes all of the value, once, by an operation that this analysis follows.
bool ValueRanges::isUnderstood(const Value& v, const Instruction& i) {
  unsigned writes = 0;
  for (const Operand& o : f_.operandsOf(i)) writes += o.isRegister() && o.writes() && o.reg() == v.reg;
  const RangeOperation& operation = operationOf(i.opcode());
  if (writes != 1 || widthOf(v.reg) == 0 || operation.kind == Kind::None) return false;
  if (module_.form(i).role(0) != 'd') return false;
  const PlainOperands operands(f_.operandsOf(i));
  if (operands.size() < operation.sources + std::size_t{1}) return false;
  const Operand* result = operands.single(0);
  const bool isResult = result != nullptr && result->isRegister() && result->reg() == v.reg;
  return isResult || (operation.kind == Kind::Load && operands[0].front().kind == OperandKind::Vector);
}

std::optional<ValueRanges::Value> ValueRanges::nextNeeded(const Value& v, std::size_t& next) {
  const LiveValue& value = intervals_[v.reg][v.value];
  const auto isNew = [&](const Value& needed) { return needed.value.valid() && notes_[index(needed)] == kUnasked; };
  if (value.kind == ValueKind::Phi) {
    const BlockId b = slots_.blockAt(value.def);
    for (const auto from = cfg_.predecessors(b); next < from.size(); ++next) {
      if (!cfg_[from[next]].reachable || comesAround(from[next], b)) continue;
      const Value needed{v.reg, intervals_[v.reg].valueAt(slots_.last(from[next]))};
      if (isNew(needed)) return needed;
    }
  } else if (value.kind == ValueKind::Instruction) {
    const Definition d = definitionOf(v);
    if (d.operation == nullptr) return {};
    for (const auto operands = f_.operandsOf(*d.instruction); next < operands.size(); ++next) {
      const Operand& o = operands[next];
      if (!o.isRegister() || !o.reads()) continue;
      const Value needed{o.reg(), valueRead(o.reg(), d.id)};
      if (widthOf(o.reg()) != 0 && isNew(needed)) return needed;
    }
  }
  return {};
}

void ValueRanges::settle(const Value& asked) {
  if (notes_[index(asked)] != kUnasked) return;
  notes_[index(asked)] = kUnsettled;
  work_.push_back({asked, 0});
  while (!work_.empty()) {
    const Value v = work_.back().value;
    if (const auto needed = nextNeeded(v, work_.back().next)) {
      notes_[index(*needed)] = kUnsettled;
      work_.push_back({*needed, 0});
      continue;
    }
    note(v, compute(v));
    work_.pop_back();
  }
}

void ValueRanges::note(const Value& v, const KnownRange& known) {
  uint32_t& note = notes_[index(v)];
  note = kFull;
  if (known.range.isFull()) return;
  note = static_cast<uint32_t>(known_.size()) + kFirst;
  known_.push_back(known);
}

// Full for what is not known yet.
KnownRange ValueRanges::noted(const Value& v) const {
  const uint32_t note = v.value.valid() ? notes_[index(v)] : kFull;
  return note >= kFirst ? known_[note - kFirst] : KnownRange{IntegerRange::full(widthOf(v.reg)), {}, {}};
}

KnownRange ValueRanges::compute(const Value& v) {
  const LiveValue& value = intervals_[v.reg][v.value];
  const KnownRange unknown{IntegerRange::full(widthOf(v.reg)), {}, {}};
  if (widthOf(v.reg) == 0 || value.kind == ValueKind::Entry) return unknown;
  if (value.kind == ValueKind::Phi) return computePhi(v, slots_.blockAt(value.def));
  const Definition d = definitionOf(v);
  if (d.operation == nullptr || (value.isPartial && !d.isGuarded)) return unknown;
  KnownRange known = computeInstruction(v, d, {Sources::From::Notes});
  if (d.isGuarded) {
    known.range = known.range.join(noted({v.reg, valueRead(v.reg, d.id)}).range);
    known.reason = RangeReason::Join;
  }
  return known;
}

KnownRange ValueRanges::computePhi(const Value& v, BlockId b) {
  const unsigned width = widthOf(v.reg);
  KnownRange known{IntegerRange::empty(width), RangeReason::Join, {}};
  // Control may also come from elsewhere, with whatever is in the register.
  const bool isRoot = std::find(cfg_.roots().begin(), cfg_.roots().end(), b) != cfg_.roots().end();
  for (const BlockId from : cfg_.predecessors(b)) {
    if (isRoot || known.range.isFull()) break;
    if (!cfg_[from].reachable) continue;
    const Value incoming{v.reg, intervals_[v.reg].valueAt(slots_.last(from))};
    if (incoming == v) continue;
    known.range = known.range.join(comesAround(from, b) ? alone(incoming).range : noted(incoming).range);
  }
  if (isRoot || known.range.isEmpty()) known.range = IntegerRange::full(width);
  return known;
}

// What is known by the instruction alone that computes the value.
KnownRange ValueRanges::alone(const Value& v) {
  const KnownRange unknown{IntegerRange::full(widthOf(v.reg)), {}, {}};
  if (!v.value.valid()) return unknown;
  const LiveValue& value = intervals_[v.reg][v.value];
  if (value.kind != ValueKind::Instruction || value.isPartial) return unknown;
  const Definition d = definitionOf(v);
  if (d.operation == nullptr || d.isGuarded) return unknown;
  return computeInstruction(v, d, {Sources::From::Nothing});
}

KnownRange ValueRanges::computeInstruction(const Value& v, const Definition& d, const Sources& from) {
  const RangeOperation& operation = *d.operation;
  const PlainOperands operands(f_.operandsOf(*d.instruction));
  std::array<IntegerRange, 3> sources;
  for (std::size_t i = 0; i < operation.sources; ++i)
    sources[i] = operandRange(operands.single(i + 1), operation.sourceWidths[i], operation.kind == Kind::Convert,
                              d.id, from);
  IntegerRange range = operation.evaluate(sources);
  const IntegerRange said = operation.kind == Kind::Load ? parameterRange(*d.instruction) : IntegerRange();
  if (said.width() != 0 && said.width() == range.width()) range = said;
  const unsigned width = widthOf(v.reg);
  if (range.width() != width) {
    const bool fits = operation.extends && range.width() < width;
    range = !fits ? IntegerRange::full(width) : operation.extendsSign ? sext(range, width) : zext(range, width);
  }
  KnownRange known{range, range.isFull() ? RangeReason::None : reasonOf(operation.kind), d.id};
  if (said.width() != 0 && !range.isFull()) known.reason = RangeReason::Fact;
  if (operation.kind == Kind::Copy && !range.isFull()) {
    const Operand* source = operands.single(1);
    if (source != nullptr && source->kind == OperandKind::SpecialRegister)
      known.reason = RangeReason::SpecialRegister;
    else if (source != nullptr && !source->isRegister())
      known.reason = RangeReason::Constant;
  }
  return known;
}

// Has `width` bits. `mayBeWider`: of a wider register the low bits are read.
IntegerRange ValueRanges::operandRange(const Operand* o, unsigned width, bool mayBeWider, InstrId id,
                                       const Sources& from) {
  const IntegerRange unknown = IntegerRange::full(width);
  if (o == nullptr || o->is(Operand::Negated) || o->is(Operand::Not) || o->is(Operand::Complement)) return unknown;
  if (const auto bits = immediate(f_, *o)) return IntegerRange::constant(width, *bits);
  switch (o->kind) {
    case OperandKind::Builtin:
      return module_.text(NameId(o->payload)) == "WARP_SZ" ? IntegerRange::constant(width, 32) : unknown;
    case OperandKind::SpecialRegister: {
      const IntegerRange range = specialRange(module_.text(NameId(o->payload)));
      return range.width() == width ? range : unknown;
    }
    case OperandKind::Register: {
      const unsigned has = widthOf(o->reg());
      if (has == width) return sourceRange({o->reg(), valueRead(o->reg(), id)}, from);
      return mayBeWider && has > width ? trunc(sourceRange({o->reg(), valueRead(o->reg(), id)}, from), width)
                                       : unknown;
    }
    default: return unknown;
  }
}

IntegerRange ValueRanges::sourceRange(const Value& v, const Sources& from) {
  switch (from.from) {
    case Sources::From::Notes: return noted(v).range;
    case Sources::From::Nothing: break;
    case Sources::From::Block: return explainHere(v, from.depth, *from.asked).range;
  }
  return IntegerRange::full(widthOf(v.reg));
}

// Width 0 if nothing is known. %warpid is one: nothing says how large it may be, and it may change.
IntegerRange ValueRanges::specialRange(std::string_view name) const {
  if (name == "%laneid" || name == "laneid") return IntegerRange::ofUnsigned(32, 0, 31);
  const auto size = launchSizeOf(name);
  if (!size) return {};
  const std::size_t i = size->component;
  if (size->isGrid) return size->isPlace ? ctaid_[i] : nctaid_[i];
  return size->isPlace ? tid_[i] : ntid_[i];
}

KnownRange ValueRanges::explain(RegId r, ValueId v) {
  if (!v.valid()) return {IntegerRange::full(widthOf(r)), {}, {}};
  settle({r, v});
  return noted({r, v});
}

}  // namespace ptxopt
