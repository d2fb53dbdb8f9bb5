#include "passes/arithmetic/cse/memory_model.h"

#include "ir/opcode_predicates.h"

namespace ptxopt::cse {
namespace {

// Says nothing but a space, a vector and a type; `.weak` is the default.
bool isPlain(const OpcodeForm& form) {
  return form.hasOnly(field::Space | field::Order | field::Vector) &&
         (form.order == MemoryOrder::None || form.order == MemoryOrder::Weak);
}

}  // namespace

MemoryOperation memoryOperation(const OpcodeForm& form) {
  MemoryOperation o;
  if (form.op == Op::Unknown) return o;
  const bool isStore = form.op == Op::St;
  if ((!isStore && form.op != Op::Ld) || form.is(effect::Volatile | effect::Ordering)) {
    // A trap writes no memory.
    o.effect = form.op == Op::Trap || hasNoMemoryEffect(form) ? MemoryEffect::None : MemoryEffect::Wall;
    return o;
  }
  const bool isTracked = isPlain(form) && form.type != ScalarType::None && info(form.type).bits % 8 == 0;
  o.effect = isStore ? MemoryEffect::Wall : MemoryEffect::None;
  o.type = form.type;
  o.lanes = form.vector;
  switch (form.space) {
    case StateSpace::Shared:
    case StateSpace::SharedCta:
      if (isTracked) o.effect = isStore ? MemoryEffect::Store : MemoryEffect::Load;
      break;
    case StateSpace::Const:
      if (isTracked && !isStore) {
        o.effect = MemoryEffect::Load;
        o.space = TrackedSpace::Constant;
      }
      break;
    case StateSpace::Global:
    case StateSpace::Local:
    case StateSpace::Param:
    case StateSpace::ParamEntry:
    case StateSpace::ParamFunc: o.effect = MemoryEffect::None; break;
    case StateSpace::None:
    case StateSpace::SharedCluster: break;
  }
  return o;
}

const MemoryOperation& MemoryModel::of(const Instruction& i) {
  Known& k = known_[i.payload];
  if (!k.isRead) k = {true, memoryOperation(module_.form(i))};
  return k.operation;
}

}  // namespace ptxopt::cse
