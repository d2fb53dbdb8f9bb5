// Addresses of state spaces, and what only concerns caches, ordering and scheduling.
//
// cvta, isspacep, mapa, getctarank follow the windows of memory.h: global and constant memory lie in the generic
// address space as they are, shared, local and parameter memory each in a window. A shared address of another block
// carries its rank + 1 in bits 24 and up; the block's own addresses carry nothing there or their own rank.
//   isspacep.shared is .shared::cta: true for the block's own shared memory only.
//   isspacep.const is true within a read-only allocation, isspacep.global outside all the others.
// Without effect on results, and checking nothing: prefetch, prefetchu, applypriority, discard (the bytes stay, one
// of the values that the ISA allows), createpolicy (gives 0; nobody looks at policies), pmevent, griddepcontrol (a
// grid runs alone), setmaxnreg. fence and membar order the host's accesses; nanosleep lets others run. brkpt stops
// the launch with a trap, as there is no debugger. Declines: cvta.u32 and its like for generic addresses of 32
// bits, which the windows do not fit into.
#include <atomic>

#include "exec/block.h"
#include "exec/instructions/memory_operand.h"
#include "exec/launch.h"

namespace ptxopt::exec {

namespace {

constexpr uint64_t kOffsetMask = (uint64_t{1} << kSharedRankShift) - 1;

uint64_t windowOf(Space space) {
  switch (space) {
    case Space::Shared: return kSharedWindow;
    case Space::Local: return kLocalWindow;
    case Space::Param: return kParamWindow;
    default: return 0;
  }
}

Step addWindow(Warp& w, const Op& op, Mask active) {
  const uint64_t window = *static_cast<const uint64_t*>(op.data);
  uint64_t* d = w.out<uint64_t>(op.args[0]);
  const uint64_t* a = w.in<uint64_t>(op.args[1]);
  forEachLaneVectorized(active, [=](unsigned i) { d[i] = a[i] + window; });
  return Step::Next;
}

// The place's offset includes the window, which may not wrap in 32 bits.
Step addressOfVariable(Warp& w, const Op& op, Mask active) {
  const Location& place = *static_cast<const Location*>(op.data);
  uint64_t* d = w.out<uint64_t>(op.args[0]);
  forEachLane(active, [&](unsigned i) { d[i] = w.value(place.base, i) + static_cast<uint64_t>(place.offset); });
  return Step::Next;
}

// The block that a shared address belongs to.
unsigned rankOf(Warp& w, uint64_t sharedAddress) {
  const uint64_t tag = sharedAddress >> kSharedRankShift;
  return tag == 0 ? w.block().rank() : static_cast<unsigned>(tag - 1);
}

bool isOwnShared(Warp& w, uint64_t generic) {
  return isSharedWindow(generic) && rankOf(w, generic - kSharedWindow) == w.block().rank();
}
bool isClusterShared(Warp& w, uint64_t generic) {
  return isSharedWindow(generic) && rankOf(w, generic - kSharedWindow) < w.block().cluster().blocks().size();
}
bool isLocal(Warp&, uint64_t generic) { return generic - kLocalWindow < kWindowSize; }
bool isParameter(Warp&, uint64_t generic) { return generic - kParamWindow < kWindowSize; }
bool isConstant(Warp& w, uint64_t generic) {
  const Allocation* a = w.block().launch().machine().memory().find(generic);
  return a != nullptr && a->readOnly;
}
bool isGlobal(Warp& w, uint64_t generic) {
  return !isSharedWindow(generic) && !isLocal(w, generic) && !isParameter(w, generic) && !isConstant(w, generic);
}

template <bool (*test)(Warp&, uint64_t), typename T>
Step isInSpace(Warp& w, const Op& op, Mask active) {
  const T* a = w.in<T>(op.args[1]);
  w.setPredicate(op.args[0], collectMask(active, [&](unsigned i) { return test(w, a[i]); }), active);
  return Step::Next;
}

// The same offset in the block with rank b; kWindow is 0 for addresses in .shared::cluster.
template <typename T, uint64_t kWindow>
Step mapToRank(Warp& w, const Op& op, Mask active) {
  T* d = w.out<T>(op.args[0]);
  const T* a = w.in<T>(op.args[1]);
  const uint32_t* b = w.in<uint32_t>(op.args[2]);
  forEachLaneVectorized(active, [=](unsigned i) {
    const uint64_t rank = (b[i] + uint64_t{1}) << kSharedRankShift & (kWindowSize - 1);
    d[i] = static_cast<T>(kWindow | rank | (a[i] & kOffsetMask));
  });
  return Step::Next;
}

template <typename T, uint64_t kWindow>
Step rankOfAddress(Warp& w, const Op& op, Mask active) {
  uint32_t* d = w.out<uint32_t>(op.args[0]);
  const T* a = w.in<T>(op.args[1]);
  forEachLane(active, [&](unsigned i) { d[i] = rankOf(w, a[i] - kWindow); });
  return Step::Next;
}

Step zero(Warp& w, const Op& op, Mask active) {
  uint64_t* d = w.out<uint64_t>(op.args[0]);
  forEachLaneVectorized(active, [=](unsigned i) { d[i] = 0; });
  return Step::Next;
}

Step nothing(Warp&, const Op&, Mask) { return Step::Next; }
Step yield(Warp&, const Op&, Mask) { return Step::Yield; }
Step order(Warp&, const Op&, Mask) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return Step::Next;
}
Step breakpoint(Warp&, const Op&, Mask active) {
  throw LaneFault{FaultKind::Trap, static_cast<unsigned>(std::countr_zero(active)), "brkpt"};
}

void ignoreOperands(Binder& b) {
  for (std::size_t i = 0; i < b.operands(); ++i) b.ignore(i);
}

void bindWithoutEffect(Binder& b, std::initializer_list<std::string_view> modifiers, Handler h = nothing) {
  while (!b.takeOneOf(modifiers).empty()) {
  }
  ignoreOperands(b);
  b.handler(h);
}

}  // namespace

void bindCvta(Binder& b) {
  const bool toSpace = b.take("to");
  const Space space = takeSpace(b);
  if (space == Space::Generic) return;
  if (b.takeType() != ScalarType::u64) b.unsupported("generic addresses of 32 bits");
  b.dest(0, ScalarType::u64);
  if (b.shape(1) == Shape::Address) {
    // A variable in the stack frame has an address of its own in each lane, and is local though a parameter.
    Location place(b.address(1, space));
    place.offset += static_cast<int64_t>(toSpace ? 0 - windowOf(place.space) : windowOf(place.space));
    b.data(place);
    return b.handler(addressOfVariable);
  }
  b.source(1, ScalarType::u64);
  const uint64_t window = windowOf(space);
  b.data(toSpace ? 0 - window : window);
  b.handler(addWindow);
}

void bindIsspacep(Binder& b) {
  const std::string_view space = b.takeOneOf(
      {"global", "const", "local", "param", "param::entry", "shared", "shared::cta", "shared::cluster"});
  b.predicateDest(0);
  b.source(1, ScalarType::u64);
  if (space == "global") b.handler(isInSpace<isGlobal, uint64_t>);
  if (space == "const") b.handler(isInSpace<isConstant, uint64_t>);
  if (space == "local") b.handler(isInSpace<isLocal, uint64_t>);
  if (space == "param" || space == "param::entry") b.handler(isInSpace<isParameter, uint64_t>);
  if (space == "shared" || space == "shared::cta") b.handler(isInSpace<isOwnShared, uint64_t>);
  if (space == "shared::cluster") b.handler(isInSpace<isClusterShared, uint64_t>);
}

void bindMapa(Binder& b) {
  const bool inCluster = b.take("shared::cluster");
  const ScalarType type = b.takeType();
  b.dest(0, type);
  b.source(1, type);
  b.source(2, ScalarType::u32);
  if (type == ScalarType::u32 && inCluster) b.handler(mapToRank<uint32_t, 0>);
  if (type == ScalarType::u64) b.handler(inCluster ? mapToRank<uint64_t, 0> : mapToRank<uint64_t, kSharedWindow>);
}

// The type is that of the address; the rank has 32 bits.
void bindGetctarank(Binder& b) {
  const bool inCluster = b.take("shared::cluster");
  const ScalarType type = b.takeType();
  b.dest(0, ScalarType::u32);
  b.source(1, type);
  if (type == ScalarType::u32 && inCluster) b.handler(rankOfAddress<uint32_t, 0>);
  if (type == ScalarType::u64)
    b.handler(inCluster ? rankOfAddress<uint64_t, 0> : rankOfAddress<uint64_t, kSharedWindow>);
}

void bindCreatepolicy(Binder& b) {
  while (!b.takeOneOf({"fractional", "range", "cvt", "global", "L2", "L2::evict_last", "L2::evict_normal",
                       "L2::evict_first", "L2::evict_unchanged", "b64"})
              .empty()) {
  }
  b.dest(0, ScalarType::b64);
  for (std::size_t i = 1; i < b.operands(); ++i) b.ignore(i);
  b.handler(zero);
}

void bindPrefetch(Binder& b) {
  bindWithoutEffect(
      b, {"global", "local", "const", "param", "L1", "L2", "tensormap", "L2::evict_last", "L2::evict_normal"});
}
void bindApplypriority(Binder& b) { bindWithoutEffect(b, {"global", "L2::evict_normal"}); }
void bindDiscard(Binder& b) { bindWithoutEffect(b, {"global", "L2"}); }

void bindFence(Binder& b) {
  bindWithoutEffect(b,
                    {"sc",
                     "acq_rel",
                     "acquire",
                     "release",
                     "cta",
                     "cluster",
                     "gpu",
                     "sys",
                     "gl",
                     "proxy",
                     "alias",
                     "async",
                     "async.global",
                     "global",
                     "shared::cta",
                     "shared::cluster",
                     "tensormap::generic",
                     "async::generic",
                     "mbarrier_init",
                     "sync_restrict::shared::cta",
                     "sync_restrict::shared::cluster"},
                    order);
}

void bindGriddepcontrol(Binder& b) { bindWithoutEffect(b, {"launch_dependents", "wait"}); }
void bindPmevent(Binder& b) { bindWithoutEffect(b, {"mask"}); }
void bindSetmaxnreg(Binder& b) { bindWithoutEffect(b, {"inc", "dec", "sync", "aligned", "u32"}); }
void bindNanosleep(Binder& b) { bindWithoutEffect(b, {"u32"}, yield); }
void bindBrkpt(Binder& b) { b.handler(breakpoint); }

}  // namespace ptxopt::exec
