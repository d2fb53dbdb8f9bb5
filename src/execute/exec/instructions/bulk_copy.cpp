// cp.async.bulk, cp.reduce.async.bulk, st.async, st.bulk and red.async: copies of many bytes, and stores and
// reductions that an mbarrier counts.
//
// Addresses and sizes of bulk copies are multiples of 16. .multicast::cluster copies to the same offset in the
// shared memory of each block in the mask and signals the mbarrier at the same offset there. .cp_mask copies, of
// each 16 bytes, those whose bit is set. When the bytes arrive: async_copy.h. st.async and red.async with .mmio,
// which go to global memory without an mbarrier, and st.bulk are done at once. Declines: tensor forms; prefetches
// do nothing.
#include "exec/instructions/bulk_copy.h"

#include <string>

#include "exec/block.h"

namespace ptxopt::exec {

namespace {

struct BulkOperands {
  Location to, from, mbarrier;
  Arg size, mask;
  atomics::Reducer reduce;
  bool toGlobal = false, fromGlobal = false;
  bool usesMbarrier = false, multicast = false, masksBytes = false;
};

Space spaceOf(bool global) { return global ? Space::Global : Space::Shared; }

// A shared address as that of the same place in another block of the cluster.
uint64_t inBlock(uint64_t address, unsigned rank) {
  return uint64_t{rank + 1} << kSharedRankShift | (address & ((uint64_t{1} << kSharedRankShift) - 1));
}

void issue(Warp& w, const BulkOperands& o, unsigned lane, uint64_t toAddress, uint64_t mbarrierAddress,
           const std::byte* from, uint32_t size) {
  BulkCopy c;
  c.to = w.memory(spaceOf(o.toGlobal), lane, toAddress, size, 16, o.reduce ? Access::Atomic : Access::Write);
  c.from = from;
  c.bytes.assign(from, from + size);
  c.reduce = o.reduce;
  c.toGlobal = o.toGlobal;
  if (o.masksBytes) c.byteMask = w.in<uint16_t>(o.mask)[lane];
  if (o.usesMbarrier) {
    std::byte* p = w.memory(Space::Shared, lane, mbarrierAddress, 8, 8, Access::Atomic);
    expectAt(w, p, std::move(c));
    return;
  }
  AsyncCopies::Thread& t = copiesOf(w).threads[copyingThread(w, lane)];
  c.group = t.bulkGroup;
  t.bulk.push_back(std::move(c));
}

Step bulkCopy(Warp& w, const Op& op, Mask active) {
  const BulkOperands& o = *static_cast<const BulkOperands*>(op.data);
  forEachLane(active, [&](unsigned i) {
    const uint32_t size = w.in<uint32_t>(o.size)[i];
    if (size % 16 != 0)
      throw LaneFault{FaultKind::Misaligned, i, "a bulk copy of a size that is not a multiple of 16"};
    if (size == 0) return;
    const std::byte* from = w.memory(spaceOf(o.fromGlobal), i, o.from.address(w, i), size, 16, Access::Read);
    const uint64_t to = o.to.address(w, i);
    const uint64_t mbarrier = o.usesMbarrier ? o.mbarrier.address(w, i) : 0;
    if (!o.multicast) return issue(w, o, i, to, mbarrier, from, size);
    const unsigned blocks = w.in<uint16_t>(o.mask)[i];
    for (unsigned rank = 0; rank < 16; ++rank)
      if ((blocks >> rank & 1) != 0) issue(w, o, i, inBlock(to, rank), inBlock(mbarrier, rank), from, size);
  });
  return Step::Next;
}

Step commitBulkGroup(Warp& w, const Op&, Mask active) {
  AsyncCopies& all = copiesOf(w);
  forEachLane(active, [&](unsigned i) { ++all.threads[copyingThread(w, i)].bulkGroup; });
  return Step::Next;
}

template <bool kReadOnly>
Step waitBulkGroup(Warp& w, const Op& op, Mask active) {
  AsyncCopies& all = copiesOf(w);
  const uint32_t* keep = w.in<uint32_t>(op.args[0]);
  forEachLane(active, [&](unsigned i) {
    AsyncCopies::Thread& t = all.threads[copyingThread(w, i)];
    const auto isDue = [&](const BulkCopy& c) { return uint64_t{c.group} + keep[i] < t.bulkGroup; };
    if constexpr (kReadOnly) {
      for (BulkCopy& c : t.bulk)
        if (isDue(c)) checkSource(c, i);
    } else {
      while (!t.bulk.empty() && isDue(t.bulk.front())) {
        arriveBulk(t.bulk.front(), i);
        t.bulk.pop_front();
      }
    }
  });
  return Step::Next;
}

// The mask operand of 16 bits, which ptxas also takes in a wider register.
Arg maskOperand(Binder& b, std::size_t i) { return b.source(i, ScalarType::b16); }

// The address of a lane. It has to lie in shared memory, whether the instruction names the space or not.
uint64_t addressInShared(const Warp& w, const Location& place, unsigned lane, const char* what) {
  const uint64_t address = place.address(w, lane);
  if (!isShared(place.space, address))
    throw LaneFault{FaultKind::OutOfBounds, lane, std::string(what) + " outside shared memory"};
  return address;
}

// st.async and red.async: args are address, mbarrier, values.
struct TrackedStore {
  Location to, mbarrier;
  uint8_t bytes = 0, count = 1;
  atomics::Reducer reduce;
};

Step storeTracked(Warp& w, const Op& op, Mask active) {
  const TrackedStore& o = *static_cast<const TrackedStore*>(op.data);
  const unsigned size = unsigned{o.bytes} * o.count;
  forEachLane(active, [&](unsigned i) {
    BulkCopy c;
    const uint64_t address =
        addressInShared(w, o.to, i, o.reduce ? "red.async to an address" : "st.async to an address");
    c.to = w.memory(o.to.space, i, address, size, size, o.reduce ? Access::Atomic : Access::Write);
    c.reduce = o.reduce;
    c.bytes.resize(size);
    for (unsigned e = 0; e < o.count; ++e) {
      const Arg& value = op.args[2 + e];
      std::memcpy(c.bytes.data() + std::size_t{e} * o.bytes, w.in<std::byte>(value) + std::size_t{i} * value.bytes,
                  o.bytes);
    }
    const uint64_t mbarrier = addressInShared(w, o.mbarrier, i, "an mbarrier");
    expectAt(w, w.memory(o.mbarrier.space, i, mbarrier, 8, 8, Access::Atomic), std::move(c));
  });
  return Step::Next;
}

void bindTracked(Binder& b, bool reduces) {
  TrackedStore o;
  takeOrdering(b);
  const Space space = takeSpace(b);
  if (space != Space::Shared && space != Space::Generic) b.unsupported("this state space");
  if (!b.take("mbarrier::complete_tx::bytes")) return;
  o.count = static_cast<uint8_t>(b.takeVector());
  const ScalarType type = b.takeType();
  o.bytes = static_cast<uint8_t>(memoryBytes(type));
  o.to = Location(b.address(0, space));
  o.mbarrier = Location(b.address(2, space));
  if (b.sources(1, type).size() != o.count) b.unsupported("this number of values");
  if (reduces) {
    o.reduce = atomics::findReducer(takeAtomicOperation(b, type), type, true);
    if (!o.reduce) return;
  }
  b.data(o);
  b.handler(storeTracked);
}

// args: address, size
Step fillZero(Warp& w, const Op& op, Mask active) {
  const Location& place = *static_cast<const Location*>(op.data);
  forEachLane(active, [&](unsigned i) {
    const uint64_t size = w.in<uint64_t>(op.args[1])[i];
    if (size % 8 != 0) throw LaneFault{FaultKind::Misaligned, i, "st.bulk of a size that is not a multiple of 8"};
    if (size == 0) return;
    if (size > UINT32_MAX)
      throw LaneFault{FaultKind::OutOfBounds, i, "st.bulk of more bytes than shared memory has"};
    const uint64_t address = addressInShared(w, place, i, "st.bulk to an address");
    std::memset(w.memory(place.space, i, address, static_cast<unsigned>(size), 8, Access::Write), 0, size);
  });
  return Step::Next;
}

}  // namespace

void bindAsyncReduction(Binder& b) { bindTracked(b, true); }
void bindAsyncStore(Binder& b) { bindTracked(b, false); }

void bindBulkStore(Binder& b) {
  b.take("weak");
  const Space space = takeSpace(b);
  if (space != Space::Shared && space != Space::Generic) b.unsupported("this state space");
  const Location place(b.address(0, space));
  b.source(1, ScalarType::u64);
  if (b.immediate(2) != 0) b.unsupported("an initial value other than 0");
  b.data(place);
  b.handler(fillZero);
}

void bindBulk(Binder& b) {
  const bool reduces = b.take("reduce");
  b.take("async");
  b.take("bulk");
  if (b.take("commit_group")) return b.handler(commitBulkGroup);
  if (b.take("wait_group")) {
    const bool readOnly = b.take("read");
    b.source(0, ScalarType::u32);
    return b.handler(readOnly ? waitBulkGroup<true> : waitBulkGroup<false>);
  }
  if (b.take("prefetch")) {
    b.take("L2");
    b.take("global");
    b.take("L2::cache_hint");
    for (std::size_t i = 0; i < b.operands(); ++i) b.ignore(i);
    return b.handler(doNothing);
  }

  BulkOperands o;
  // .dst.src in this order
  const bool hasGlobal = b.take("global");
  const bool toCluster = b.take("shared::cluster");
  const bool ofBlock = b.take("shared::cta");
  if (hasGlobal == (toCluster && ofBlock) || (!toCluster && !ofBlock)) return;
  o.usesMbarrier = b.take("mbarrier::complete_tx::bytes");
  if (!o.usesMbarrier && !b.take("bulk_group")) return;
  // With global memory on one side, a bulk group shows that it is the destination.
  o.toGlobal = hasGlobal && !o.usesMbarrier;
  o.fromGlobal = hasGlobal && o.usesMbarrier;
  o.multicast = b.take("multicast::cluster");
  o.masksBytes = b.take("cp_mask");
  const bool hasPolicy = b.take("L2::cache_hint");
  if (reduces) {
    const ScalarType type = b.takeType();
    o.reduce = atomics::findReducer(takeAtomicOperation(b, type), type, !o.toGlobal);
    if (!o.reduce) return;
  }

  std::size_t next = 0;
  o.to = Location(b.address(next++, spaceOf(o.toGlobal)));
  o.from = Location(b.address(next++, spaceOf(o.fromGlobal)));
  o.size = b.source(next++, ScalarType::u32);
  if (o.usesMbarrier) o.mbarrier = Location(b.address(next++, Space::Shared));
  if (o.multicast) o.mask = maskOperand(b, next++);
  if (hasPolicy) b.ignore(next++);
  if (o.masksBytes) o.mask = maskOperand(b, next++);
  b.data(o);
  b.handler(bulkCopy);
}

}  // namespace ptxopt::exec
