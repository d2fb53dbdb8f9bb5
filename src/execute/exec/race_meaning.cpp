// One switch over the opcode's family sets the fields: barriers by whether they arrive, wait or both, fences and
// accesses by their order.
#include "exec/race_meaning.h"

namespace ptxopt::exec {
namespace {

using PtxOp = ptxopt::Op;

void readBarrier(const OpcodeForm& form, RaceMeaning& m) {
  const bool arrivesOnly = form.has(ModifierFlag::Arrive);
  if (form.op == PtxOp::BarrierCluster) {
    m.clusterArrives = arrivesOnly;
    m.clusterWaits = !arrivesOnly;
  } else if (!form.has(ModifierFlag::Warp)) {
    m.arrives = true;
    m.waits = !arrivesOnly;
  }
}

void readOrder(const OpcodeForm& form, RaceMeaning& m) {
  m.acquires = form.order == MemoryOrder::Acquire || form.order == MemoryOrder::AcquireRelease;
  m.releases = form.order == MemoryOrder::Release || form.order == MemoryOrder::AcquireRelease;
}

}  // namespace

RaceMeaning raceMeaningOf(const Module& module, const Routine& routine, const Op& op) {
  RaceMeaning m;
  const Instruction& i = routine.function->instructions[op.instruction];
  m.exits = op.kind == OpKind::Exit;
  m.joinsLanes = op.kind == OpKind::Collective;
  if (!i.isInstruction() || (op.kind == OpKind::Plain && op.args == nullptr)) return m;
  const OpcodeForm& form = module.form(i);
  switch (form.family) {
    case PtxOp::Bar:
    case PtxOp::Barrier: readBarrier(form, m); break;
    case PtxOp::Fence:
    case PtxOp::Membar: m.fence = true; break;
    case PtxOp::Mbarrier:
    case PtxOp::Cp: m.acquires = m.releases = true; break;  // by way of the mbarrier; what they copy is plain
    case PtxOp::Atom:
    case PtxOp::Red:
      if (form.op == PtxOp::RedAsync)
        m.acquires = m.releases = true;
      else
        readOrder(form, m);
      break;
    case PtxOp::Ld:
    case PtxOp::St:
      if (form.op == PtxOp::StAsync) {
        m.acquires = m.releases = true;
        break;
      }
      readOrder(form, m);
      m.atomic = form.order == MemoryOrder::Relaxed || form.order == MemoryOrder::Volatile || m.acquires ||
                 m.releases || form.has(ModifierFlag::Mmio);
      break;
    default: m.joinsLanes |= form.has(ModifierFlag::Sync) || form.has(ModifierFlag::Aligned); break;
  }
  return m;
}

}  // namespace ptxopt::exec
