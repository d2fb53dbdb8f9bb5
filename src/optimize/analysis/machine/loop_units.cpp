// A loop's body is listed, what does not vary is marked, and so are instructions that ptxas fuses. The rest is counted
// by rows of machine_work.def, weighted by how often its block runs.
#include "analysis/machine/loop_units.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "ir/opcode_predicates.h"
#include "support/table_index.h"
#include "target/occupancy.h"

namespace ptxopt {
namespace {

using target::Unit;

// What machine_work.def distinguishes types by.
enum class TypeClass : uint8_t { Any, Pred, Int, Int64, F16, F32, F64 };

TypeClass classOf(ScalarType type) {
  switch (type) {
    case ScalarType::pred: return TypeClass::Pred;
    case ScalarType::f16:
    case ScalarType::f16x2:
    case ScalarType::bf16:
    case ScalarType::bf16x2: return TypeClass::F16;
    case ScalarType::f32: return TypeClass::F32;
    case ScalarType::f64: return TypeClass::F64;
    default: return info(type).bits == 64 ? TypeClass::Int64 : TypeClass::Int;
  }
}

struct WorkRow {
  Op op;
  ProductHalf half;
  TypeClass type;
  target::Kind kind;
  double count;
};
constexpr WorkRow kWork[] = {
#define TARGET_WORK(op, half, type, kind, count) \
  {Op::op, ProductHalf::half, TypeClass::type, target::Kind::kind, count},
#include "target/machine_work.def"
};

struct CallRow {
  target::Kind kind;
  double count;
};
constexpr CallRow kCallWork[] = {
#define TARGET_WORK(op, half, type, kind, count)
#define TARGET_WORK_OF_CALL(kind, count) {target::Kind::kind, count},
#include "target/machine_work.def"
};

constexpr TableIndex kByOperation(kWork, &WorkRow::op);

bool isInteger32(const OpcodeForm& form) { return classOf(form.type) == TypeClass::Int; }
bool isSumOf(const OpcodeForm& form) { return form.op == Op::Add || form.op == Op::Sub; }
bool isLogic(const OpcodeForm& form) {
  return form.op == Op::And || form.op == Op::Or || form.op == Op::Xor || form.op == Op::Not;
}

}  // namespace

LoopUnits::LoopUnits(const Module& module, const Function& f, const Cfg& cfg, const DominatorTree& dominators,
                     const Loops& loops, const target::Machine& machine)
    : module_(module),
      f_(f),
      cfg_(cfg),
      dominators_(dominators),
      loops_(loops),
      machine_(machine),
      writers_(f.registers.size()),
      readers_(f.registers.size()),
      sums_(f.registers.size()),
      definition_(f.registers.size()),
      varyingIn_(f.registers.size()),
      isInvariant_(f.instructions.size()),
      isFused_(f.instructions.size()),
      isAbsorbed_(f.instructions.size()),
      absorbs_(f.instructions.size()) {
  // The caller writes parameters, and reads results. A register with one writer has its definition here: parameters count
  // as written twice.
  for (uint32_t r = 0; r < f_.registers.size(); ++r) writers_[r] = f_.registers[r].isParameter ? 2 : 0;
  for (const RegId r : f_.returnRegisters) ++readers_[r.value];
  for (const InstrId id : f_) {
    if (!f_[id].isInstruction()) continue;
    const OpcodeForm& form = module_.form(f_[id]);
    const bool isSum = form.op == Op::Add && classOf(form.type) == TypeClass::Int64;
    for (const Operand& o : f_.operandsOf(f_[id])) {
      if (!o.isRegister()) continue;
      if (o.writes()) {
        ++writers_[o.payload];
        definition_[o.payload] = id;
      }
      if (o.reads()) ++readers_[o.payload];
      if (o.reads() && isSum) ++sums_[o.payload];
    }
  }
}

// What every iteration executes: what dominates all latches.
double LoopUnits::share(BlockId b) const {
  if (isEveryIteration(b)) return 1;
  // A branch that only skips it leads to where it leads.
  const auto before = cfg_.predecessors(b);
  if (before.size() != 1) return 0.5;
  const auto ways = cfg_.successors(before[0]);
  const auto after = cfg_.successors(b);
  const bool isSkipped = after.size() == 1 && std::ranges::find(ways, after[0]) != ways.end();
  return isSkipped ? share(before[0]) : 0.5;
}

void LoopUnits::enter(LoopId l, bool hasInner) {
  loop_ = l;
  everyIteration_ = BlockId();
  const auto latches = loops_.latches(cfg_, l);
  if (!latches.empty()) everyIteration_ = latches.front();
  for (const BlockId latch : latches)
    while (everyIteration_.valid() && !dominators_.dominates(everyIteration_, latch))
      everyIteration_ = dominators_.parent(everyIteration_);
  body_.clear();
  for (const BlockId b : loops_.blocks(l)) {
    const bool isOurs = hasInner || loops_.of(b) == l;
    for (InstrId id = cfg_[b].first; id.valid(); id = id == cfg_[b].last ? InstrId() : f_[id].next) {
      if (!f_[id].isInstruction()) continue;
      if (isOurs) body_.push_back(id);
      isInvariant_[id.value] = isFused_[id.value] = isAbsorbed_[id.value] = absorbs_[id.value] = false;
      for (const Operand& o : f_.operandsOf(f_[id]))
        if (o.isRegister() && o.writes()) varyingIn_[o.payload] = l;
    }
  }
}

// What does not vary in the loop: pure, and all that it reads comes from outside or does not vary. What is read before it is
// written in an iteration varies.
void LoopUnits::findInvariants() {
  for (const InstrId id : body_) {
    const OpcodeForm& form = module_.form(f_[id]);
    if (form.effects != effect::Pure && !isParameterLoad(form)) continue;
    const bool stays = std::ranges::all_of(f_.operandsOf(f_[id]), [&](const Operand& o) {
      if (!o.isRegister()) return true;
      return o.writes() ? !o.reads() && writers_[o.payload] == 1 : !varies(o.reg());
    });
    if (!stays) continue;
    isInvariant_[id.value] = true;
    for (const Operand& o : f_.operandsOf(f_[id]))
      if (o.isRegister() && o.writes()) varyingIn_[o.payload] = LoopId();
  }
}

// The only instruction that writes a register which is read and varies.
InstrId LoopUnits::producer(const Operand& o) const {
  if (!o.isRegister() || o.writes() || writers_[o.payload] != 1 || !varies(o.reg())) return {};
  return definition_[o.payload];
}

// Whether the instruction costs nothing beside what it reads; marks what costs nothing beside it.
bool LoopUnits::fuse(InstrId id) {
  const OpcodeForm& form = module_.form(f_[id]);
  if (!isSumOf(form) && !isLogic(form)) return false;
  for (const Operand& o : f_.operandsOf(f_[id])) {
    const InstrId from = producer(o);
    if (!from.valid()) continue;
    const OpcodeForm& made = module_.form(f_[from]);
    const bool isOnly = readers_[o.payload] == 1;
    if (isSumOf(form)) {
      if (!isOnly) continue;
      if (made.op == Op::Mul && classOf(made.type) == classOf(form.type) && !form.is(effect::CarryIn) &&
          made.half != ProductHalf::Hi && (isInteger32(form) || classOf(form.type) == TypeClass::F32) &&
          (made.present & field::Rounding) == 0)
        return true;
      if (made.op == Op::Shl && info(made.type).bits == info(form.type).bits && form.op == Op::Add)
        isAbsorbed_[from.value] = true;  // LEA, or LEA and LEA.HI.X
      else if (isSumOf(made) && isInteger32(form) && isInteger32(made) && !absorbs_[from.value])
        isAbsorbed_[from.value] = absorbs_[id.value] = true;  // IADD3
    } else if (isOnly && isLogic(made) && info(made.type).bits == info(form.type).bits && !absorbs_[from.value] &&
               form.type != ScalarType::pred) {
      isAbsorbed_[from.value] = absorbs_[id.value] = true;  // LOP3
    }
  }
  return false;
}

// Whether one of the summands of a 64-bit sum is a product of 32-bit numbers, also of one from outside of the loop.
bool LoopUnits::addsProduct(InstrId id) const {
  const OpcodeForm& form = module_.form(f_[id]);
  return form.op == Op::Add && classOf(form.type) == TypeClass::Int64 &&
         std::ranges::any_of(f_.operandsOf(f_[id]), [&](const Operand& o) {
           if (!o.isRegister() || o.writes() || writers_[o.payload] != 1) return false;
           const OpcodeForm& made = module_.form(f_[definition_[o.payload]]);
           return made.op == Op::Mul && made.half == ProductHalf::Wide;
         });
}

// Whether it makes a number of the carry flag, 0 or 1.
bool LoopUnits::isCarry(InstrId id) const {
  if (!id.valid() || module_.form(f_[id]).op != Op::Addc || f_[id].is(Instruction::Guarded)) return false;
  const auto operands = f_.operandsOf(f_[id]);
  return operands.size() >= 3 && immediate(f_, operands[1]) == 0u && immediate(f_, operands[2]) == 0u;
}

// Whether the result of a product is only read by 64-bit sums.
bool LoopUnits::isOnlyAdded(InstrId id) const {
  const auto operands = f_.operandsOf(f_[id]);
  const auto made = std::ranges::find_if(operands, &Operand::writes);
  return made != operands.end() && sums_[made->payload] == readers_[made->payload];
}

void LoopUnits::addKind(target::Kind kind, double times, UnitCycles& to) const {
  if (kind == target::Kind::Nothing) return;
  for (const target::Use& use : machine_.uses(kind)) to[use.unit] += use.cycles * times;
}

// An access of each thread of a warp to neighbours.
void LoopUnits::countMemory(InstrId id, double share, UnitCycles& to) {
  const OpcodeForm& form = module_.form(f_[id]);
  if (isParameter(form.space) || form.space == StateSpace::Const) return;
  const double bytes = std::max(1u, info(form.type).bits / 8) * form.vector;
  const double portions = std::max(1.0, bytes / 4) * share;
  const bool reads = form.is(effect::Read), writes = form.is(effect::Write);
  target::Kind kind =
      reads ? bytes >= 16 ? target::Kind::GlobalLoadWide : target::Kind::GlobalLoad : target::Kind::GlobalStore;
  if (isOwnShared(form.space))
    kind = reads ? writes ? target::Kind::SharedAtomic : target::Kind::SharedLoad : target::Kind::SharedStore;
  else if (form.space == StateSpace::Local)
    kind = reads ? target::Kind::LocalLoad : target::Kind::LocalStore;
  else if (reads && writes)
    kind = target::Kind::GlobalAtomic;
  for (const target::Use& use : machine_.uses(kind))
    to[use.unit] += use.cycles * (use.unit == Unit::Issue ? share : portions);
  if (isGlobalOrGeneric(form.space)) to.bytes += bytes * 32 * share;
}

void LoopUnits::count(InstrId id, double share, UnitCycles& to) {
  const OpcodeForm& form = module_.form(f_[id]);
  switch (form.op) {
    case Op::Ld:
    case Op::Ldu:
    case Op::St:
    case Op::Atom:
    case Op::Red: return countMemory(id, share, to);
    case Op::Mul:
      if (form.half == ProductHalf::Wide && isOnlyAdded(id)) return;  // IMAD.WIDE for each sum
      break;
    case Op::Bra: {
      // Where a block has nothing else, ptxas lets the branch before it lead the other way.
      const BlockId b = cfg_.blockOf(id);
      if (!f_[id].is(Instruction::Guarded) && cfg_[b].first == cfg_[b].last) return;
      break;
    }
    case Op::Addc:
      if (isCarry(id)) return;  // the predicate that the addition before it writes
      break;
    case Op::Setp:
      if (std::ranges::any_of(f_.operandsOf(f_[id]), [&](const Operand& o) { return isCarry(producer(o)); }))
        return;
      break;
    case Op::Add:
      if (addsProduct(id)) return addKind(target::Kind::IntegerMultiplyWide, share, to);
      break;
    case Op::Cvt: {
      const TypeClass a = classOf(form.type), b = classOf(form.sourceType);
      const auto isWhole = [](TypeClass c) { return c == TypeClass::Int || c == TypeClass::Int64; };
      if (isWhole(a) && isWhole(b)) {
        if (info(form.type).bits > info(form.sourceType).bits ? !isSignedType(form.sourceType)
                                                              : info(form.type).bits >= 32)
          return;  // the lower half, or a zero
        return addKind(target::Kind::Shift, share, to);
      }
      if (a == TypeClass::F16 && b == TypeClass::F32) return addKind(target::Kind::AluConvert, share, to);
      if (a == TypeClass::F32 && b == TypeClass::F16) return addKind(target::Kind::Half, share, to);
      return addKind(a == TypeClass::F64 || b == TypeClass::F64 ? target::Kind::Convert64 : target::Kind::Convert,
                     share, to);
    }
    default: break;
  }
  if (becomesCall(form))
    for (const CallRow& row : kCallWork) addKind(row.kind, row.count * share, to);
  const TypeClass type = classOf(form.type);
  bool isKnown = false;
  // Rows of its type; where there are none, of any.
  for (const TypeClass wanted : {type, TypeClass::Any}) {
    for (const WorkRow& row : kByOperation.rows(form.op)) {
      if (row.type != wanted || row.half != form.half) continue;
      isKnown = true;
      const bool isEither = type == TypeClass::Int && row.kind == target::Kind::IntegerAdd && form.op == Op::Add;
      const bool hasNumber =
          std::ranges::any_of(f_.operandsOf(f_[id]), [&](const Operand& o) { return !o.isRegister(); });
      if (isEither && !hasNumber && !absorbs_[id.value]) {
        to.either += machine_.uses(target::Kind::Logic).back().cycles * row.count * share;
        to[Unit::Issue] += row.count * share;
      } else {
        addKind(row.kind, row.count * share, to);
      }
    }
    if (isKnown) return;
  }
  if (form.is(effect::Branch)) return addKind(target::Kind::Branch, share, to);
  addKind(target::Kind::AluOther, share, to);
}

UnitCycles LoopUnits::of(LoopId l) { return count(l, true); }
UnitCycles LoopUnits::withoutInner(LoopId l) { return count(l, false); }

UnitCycles LoopUnits::count(LoopId l, bool hasInner) {
  enter(l, hasInner);
  findInvariants();
  UnitCycles all;
  for (const InstrId id : body_) isFused_[id.value] = !isInvariant_[id.value] && fuse(id);
  for (const InstrId id : body_)
    if (!isInvariant_[id.value] && !isFused_[id.value] && !isAbsorbed_[id.value])
      count(id, share(cfg_.blockOf(id)), all);
  all.bandwidth = all.bytes / machine_.memory(target::Scenario::L1).bytesPerCycle * target::Limits::kParts;
  return all;
}

}  // namespace ptxopt
