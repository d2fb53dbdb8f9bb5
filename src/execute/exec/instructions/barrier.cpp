// bar and barrier: the block's 16 barriers, bar.warp.sync, and the cluster's barrier.
//
// A path that arrives and has to wait returns Retry and looks again later, so a thread's exit, which also counts as
// its arrival, needs nobody to tell the others. With an explicit number of threads a warp counts as 32, whatever
// lanes it lacks: those that were never started or have exited count with the path of its lowest live lane.
#include <fmt/format.h>

#include <bit>

#include "exec/binder.h"
#include "exec/block.h"
#include "exec/checks.h"
#include "exec/lanes.h"
#include "exec/launch.h"
#include "exec/warp.h"

namespace ptxopt::exec {

namespace {

enum class BarrierReduction : uint8_t { None, Popc, And, Or };

bool complete(const Block& block, const Barrier& b) {
  return b.expected != 0 ? b.arrived >= b.expected : b.arrived >= block.liveThreads();
}

void release(Block& block, Barrier& b) {
  const unsigned slot = b.generation % Barrier::kRemembered;
  b.counts[slot] = {b.trueCount, b.threads};
  ++b.generation;
  b.arrived = b.expected = b.trueCount = b.threads = 0;
  if (Checks* checks = block.launch().checks()) checks->barrier(block, b.participants);
  b.participants.clear();
}

void arriveAt(Warp& w, Barrier& b, uint32_t expected, Mask active, Mask held, unsigned number) {
  const auto lane = static_cast<unsigned>(std::countr_zero(active));
  if (b.arrived != 0 && b.expected != expected)
    throw LaneFault{
        FaultKind::Deadlock, lane,
        fmt::format("barrier {} is waited for by {} threads and by {} (0: all)", number, b.expected, expected)};
  b.expected = expected;
  b.arrived += static_cast<uint32_t>(std::popcount(active));
  const Mask lowest = w.live() & (~w.live() + 1);
  if (expected != 0 && (active & lowest) != 0) b.arrived += static_cast<uint32_t>(std::popcount(~w.live()));
  b.threads += static_cast<uint32_t>(std::popcount(active));
  b.trueCount += static_cast<uint32_t>(std::popcount(held & active));
  if (w.block().launch().checks() != nullptr)
    forEachLane(active, [&](unsigned i) { b.participants.push_back(w.threadIndex(i)); });
}

// args: barrier, count, and for reductions d, predicate.
template <bool waits, BarrierReduction reduction>
Step barrier(Warp& w, const Op& op, Mask active) {
  Block& block = w.block();
  const auto lane = static_cast<unsigned>(std::countr_zero(active));
  const uint64_t number = w.value(op.args[0], lane), count = w.value(op.args[1], lane);
  const bool isSame = op.args[0].base == Base::Constant && op.args[1].base == Base::Constant;
  if (!isSame && w.path().waitState == 0)
    forEachLane(active, [&](unsigned i) {
      if (w.value(op.args[0], i) != number || w.value(op.args[1], i) != count)
        throw LaneFault{FaultKind::Deadlock, i, "lanes of one warp name different barriers or counts"};
    });
  if (number >= Block::kBarriers)
    throw LaneFault{FaultKind::OutOfBounds, lane, fmt::format("barrier {}: a block has 16", number)};
  if (count % kLanes != 0)
    throw LaneFault{FaultKind::Deadlock, lane,
                    fmt::format("a barrier for {} threads, which is not a multiple of 32", count)};
  Barrier& b = block.barriers[number];
  Path& path = w.path();
  const Mask held = reduction == BarrierReduction::None ? 0 : w.predicate(op.args[3]);
  if (path.waitState == 0) {
    path.waitState = uint64_t{b.generation} + 1;
    arriveAt(w, b, static_cast<uint32_t>(count), active, held, static_cast<unsigned>(number));
  }
  if (b.generation + 1 == path.waitState && complete(block, b)) release(block, b);
  if (!waits) {
    path.waitState = 0;
    return Step::Next;
  }
  if (b.generation + 1 == path.waitState) return Step::Retry;
  const Barrier::Counts& counts = b.counts[(path.waitState - 1) % Barrier::kRemembered];
  path.waitState = 0;
  if constexpr (reduction == BarrierReduction::Popc) {
    uint32_t* const d = w.out<uint32_t>(op.args[2]);
    forEachLane(active, [&](unsigned i) { d[i] = counts.held; });
  } else if constexpr (reduction != BarrierReduction::None) {
    const bool r = reduction == BarrierReduction::And ? counts.held == counts.threads : counts.held != 0;
    w.setPredicate(op.args[2], r ? kAllLanes : 0, active);
  }
  return Step::Next;
}

bool clusterComplete(const Cluster& c) { return c.arrived >= c.liveThreads(); }

Step clusterArrive(Warp& w, const Op&, Mask active) {
  Cluster& c = w.block().cluster();
  forEachLane(active, [&](unsigned i) {
    if (w.clusterPhase[i] > c.generation)
      throw LaneFault{FaultKind::Deadlock, i, "a second barrier.cluster.arrive before the wait"};
    w.clusterPhase[i] = c.generation + 1;
  });
  c.arrived += static_cast<uint32_t>(std::popcount(active));
  if (clusterComplete(c)) {
    ++c.generation;
    c.arrived = 0;
  }
  return Step::Next;
}

Step clusterWait(Warp& w, const Op&, Mask active) {
  Cluster& c = w.block().cluster();
  uint32_t wanted = 0;
  forEachLane(active, [&](unsigned i) { wanted = std::max(wanted, w.clusterPhase[i]); });
  if (c.generation < wanted && clusterComplete(c)) {
    ++c.generation;
    c.arrived = 0;
  }
  return c.generation < wanted ? Step::Retry : Step::Next;
}

}  // namespace

void bindBarrier(Binder& b) {
  if (b.take("cluster")) {
    if (b.base() != "barrier") b.unsupported("bar has no cluster form");
    const bool arrive = b.take("arrive");
    if (!arrive && !b.take("wait")) b.unsupported("neither arrive nor wait");
    b.takeOneOf({"release", "relaxed", "acquire"});
    b.take("aligned");
    b.handler(arrive ? clusterArrive : clusterWait);
    return;
  }
  if (b.take("warp")) {
    if (!b.take("sync")) b.unsupported("without .sync");
    b.source(0, ScalarType::b32);
    b.collective(0);
    b.handler(doNothing);
    return;
  }
  b.take("cta");
  b.take("aligned");
  const std::string_view kind = b.takeOneOf({"sync", "arrive", "red"});
  const bool isReduction = kind == "red";
  const std::size_t first = isReduction ? 1 : 0;
  const std::size_t extra = isReduction ? 2 : 0;  // d and the predicate
  const bool hasCount = b.operands() == extra + 2;
  b.source(first, ScalarType::b32);
  if (hasCount)
    b.source(first + 1, ScalarType::b32);
  else
    b.append(b.constant(0, 4));
  if (kind == "sync") return b.handler(barrier<true, BarrierReduction::None>);
  if (kind == "arrive") {
    if (!hasCount) b.unsupported("an arrival without a number of threads");
    return b.handler(barrier<false, BarrierReduction::None>);
  }
  if (!isReduction) b.unsupported("this operation");
  const std::string_view operation = b.takeOneOf({"popc", "and", "or"});
  const ScalarType type = b.takeType();
  if (type != (operation == "popc" ? ScalarType::u32 : ScalarType::pred)) b.unsupported("this type");
  b.dest(0, type);
  b.predicate(b.operands() - 1);
  b.handler(operation == "popc"  ? barrier<true, BarrierReduction::Popc>
            : operation == "and" ? barrier<true, BarrierReduction::And>
            : operation == "or"  ? barrier<true, BarrierReduction::Or>
                                 : nullptr);
}

}  // namespace ptxopt::exec
