// cp.async, its groups and waits, and cp.async.mbarrier.arrive; the arrival of all asynchronous copies.
//
// src-size smaller than cp-size and ignore-src fill with zeros what is not read; the source is accessed only as far
// as it is read. When the bytes arrive: async_copy.h. The bulk forms are in bulk_copy.cpp.
#include "exec/instructions/async_copy.h"

#include "exec/block.h"
#include "exec/instructions/bulk_copy.h"
#include "exec/instructions/mbarrier.h"
#include "exec/launch.h"

namespace ptxopt::exec {

AsyncCopies& copiesOf(Warp& w) {
  if (w.asyncCopies == nullptr) {
    Warp& first = w.block().cluster().block(0).warps().front();
    if (first.asyncCopies == nullptr) first.asyncCopies = std::make_shared<AsyncCopies>();
    w.asyncCopies = first.asyncCopies;
  }
  return *w.asyncCopies;
}

uint64_t copyingThread(Warp& w, unsigned lane) { return uint64_t{w.block().rank()} << 32 | w.threadIndex(lane); }

namespace {

[[noreturn]] void sourceChanged(unsigned lane) {
  throw LaneFault{FaultKind::Race, lane,
                  "the source of an asynchronous copy was written before the copy was waited for"};
}

void arriveSmall(const SmallCopy& c, unsigned lane) {
  if (c.read != 0 && std::memcmp(c.from, c.bytes.data(), c.read) != 0) sourceChanged(lane);
  std::memcpy(c.to, c.bytes.data(), c.size);
}

bool allBytes(const BulkCopy& c) { return c.byteMask == 0xffff; }

void arriveBytes(const BulkCopy& c) {
  if (c.reduce) {
    c.reduce(c.to, c.bytes.data(), c.bytes.size());
  } else if (allBytes(c)) {
    std::memcpy(c.to, c.bytes.data(), c.bytes.size());
  } else {
    for (std::size_t i = 0; i < c.bytes.size(); ++i)
      if ((c.byteMask >> (i & 15) & 1) != 0) c.to[i] = c.bytes[i];
  }
}

// All copies of a thread up to a number.
void arriveUpTo(AsyncCopies::Thread& t, uint64_t count, unsigned lane) {
  while (t.arrived < count && !t.copies.empty()) {
    arriveSmall(t.copies.front(), lane);
    t.copies.pop_front();
    ++t.arrived;
  }
}

}  // namespace

void checkSource(BulkCopy& c, unsigned lane) {
  if (c.from == nullptr) return;
  if (allBytes(c)) {
    if (std::memcmp(c.from, c.bytes.data(), c.bytes.size()) != 0) sourceChanged(lane);
  } else {
    for (std::size_t i = 0; i < c.bytes.size(); ++i)
      if ((c.byteMask >> (i & 15) & 1) != 0 && c.from[i] != c.bytes[i]) sourceChanged(lane);
  }
  c.from = nullptr;
}

void arriveBulk(BulkCopy& c, unsigned lane) {
  checkSource(c, lane);
  arriveBytes(c);
}

AsyncCopies::~AsyncCopies() {
  for (auto& [id, thread] : threads)
    for (const BulkCopy& c : thread.bulk)
      if (c.toGlobal) arriveBytes(c);
}

void expectAt(Warp& warp, std::byte* mbarrier, BulkCopy copy) {
  AsyncCopies::Expected e;
  e.copy = std::move(copy);
  copiesOf(warp).expected[mbarrier].push_back(std::move(e));
}

void deliverCopies(Warp& warp, unsigned lane, std::byte* p) {
  AsyncCopies& all = copiesOf(warp);
  const auto found = all.expected.find(p);
  if (found == all.expected.end()) return;
  std::vector<AsyncCopies::Expected> list = std::move(found->second);
  all.expected.erase(found);
  Mbarrier m(warp, lane, p);
  for (AsyncCopies::Expected& e : list) {
    if (e.isArrival) {
      arriveUpTo(all.threads[e.thread], e.copies, lane);
      m.arrive(1, false, true);
    } else {
      arriveBulk(e.copy, lane);
      m.transactions(-static_cast<int64_t>(e.copy.bytes.size()));
    }
  }
}

void forgetCopies(Warp& warp, std::byte* p) {
  if (warp.block().cluster().block(0).warps().front().asyncCopies != nullptr) copiesOf(warp).expected.erase(p);
}

namespace {

// args: to, from, size read or a predicate
struct CopyOperands {
  Location to, from;
  uint8_t size = 0;
  bool hasReadSize = false;
  bool hasIgnore = false;
};

Step copy(Warp& w, const Op& op, Mask active) {
  const CopyOperands& o = *static_cast<const CopyOperands*>(op.data);
  AsyncCopies& all = copiesOf(w);
  const Mask ignored = o.hasIgnore ? w.predicate(op.args[2]) : 0;
  forEachLane(active, [&](unsigned i) {
    SmallCopy c;
    c.size = o.size;
    c.read = o.size;
    if (o.hasReadSize) {
      const uint32_t read = w.in<uint32_t>(op.args[2])[i];
      if (read > o.size) throw LaneFault{FaultKind::OutOfBounds, i, "cp.async with a src-size above its cp-size"};
      c.read = static_cast<uint8_t>(read);
    }
    if ((ignored >> i & 1) != 0) c.read = 0;
    c.to = w.memory(Space::Shared, i, o.to.address(w, i), c.size, c.size, Access::Write);
    if (c.read != 0) {
      c.from = w.memory(Space::Global, i, o.from.address(w, i), c.read, c.size, Access::Read);
      std::memcpy(c.bytes.data(), c.from, c.read);
    }
    AsyncCopies::Thread& t = all.threads[copyingThread(w, i)];
    c.group = t.group;
    t.copies.push_back(c);
  });
  return Step::Next;
}

Step commitGroup(Warp& w, const Op&, Mask active) {
  AsyncCopies& all = copiesOf(w);
  forEachLane(active, [&](unsigned i) { ++all.threads[copyingThread(w, i)].group; });
  return Step::Next;
}

// All but the latest groups; how many of them may stay is in args[0].
Step waitGroup(Warp& w, const Op& op, Mask active) {
  AsyncCopies& all = copiesOf(w);
  const uint32_t* keep = w.in<uint32_t>(op.args[0]);
  forEachLane(active, [&](unsigned i) {
    AsyncCopies::Thread& t = all.threads[copyingThread(w, i)];
    while (!t.copies.empty() && uint64_t{t.copies.front().group} + keep[i] < t.group)
      arriveUpTo(t, t.arrived + 1, i);
  });
  return Step::Next;
}

Step waitAll(Warp& w, const Op&, Mask active) {
  AsyncCopies& all = copiesOf(w);
  forEachLane(active, [&](unsigned i) {
    AsyncCopies::Thread& t = all.threads[copyingThread(w, i)];
    ++t.group;
    arriveUpTo(t, UINT64_MAX, i);
  });
  return Step::Next;
}

// The mbarrier gets an arrival once this thread's copies so far have arrived. Without .noinc it waits for one more.
template <bool kIncrement>
Step arriveAfterCopies(Warp& w, const Op& op, Mask active) {
  const Location& place = *static_cast<const Location*>(op.data);
  AsyncCopies& all = copiesOf(w);
  forEachLane(active, [&](unsigned i) {
    std::byte* p = w.memory(place.space, i, place.address(w, i), 8, 8, Access::Atomic);
    if constexpr (kIncrement) Mbarrier(w, i, p).expectArrival();
    AsyncCopies::Expected e;
    e.isArrival = true;
    e.thread = copyingThread(w, i);
    const AsyncCopies::Thread& t = all.threads[e.thread];
    e.copies = t.arrived + t.copies.size();
    all.expected[p].push_back(std::move(e));
  });
  return Step::Next;
}

void bindCopy(Binder& b) {
  CopyOperands o;
  b.takeOneOf({"ca", "cg"});
  if (b.takeOneOf({"shared", "shared::cta"}).empty() || !b.take("global")) return;
  std::size_t operands = b.operands();
  if (b.take("L2::cache_hint")) b.ignore(--operands);
  b.takeOneOf({"L2::64B", "L2::128B", "L2::256B"});
  o.to = Location(b.address(0, Space::Shared));
  o.from = Location(b.address(1, Space::Global));
  const int64_t size = b.immediate(2);
  if (size != 4 && size != 8 && size != 16) b.unsupported("a cp-size other than 4, 8 and 16");
  o.size = static_cast<uint8_t>(size);
  if (operands > 3) {
    // src-size or ignore-src: the operand's type says which.
    try {
      b.source(3, ScalarType::u32);
      o.hasReadSize = true;
    } catch (const ExecError&) {
      b.predicate(3);
      o.hasIgnore = true;
    }
  }
  b.data(o);
  b.handler(copy);
}

}  // namespace

void bindCp(Binder& b) {
  if (b.has("tensor")) b.unsupported("copies of tensor boxes");
  if (b.has("bulk")) return bindBulk(b);
  b.take("async");
  if (b.take("commit_group")) return b.handler(commitGroup);
  if (b.take("wait_all")) return b.handler(waitAll);
  if (b.take("wait_group")) {
    b.source(0, ScalarType::u32);
    return b.handler(waitGroup);
  }
  if (b.take("mbarrier")) {
    b.take("arrive");
    b.take("b64");
    const bool increments = !b.take("noinc");
    const Space space = takeSpace(b);
    if (space != Space::Shared && space != Space::Generic) return;
    b.data(Location(b.address(0, space)));
    return b.handler(increments ? arriveAfterCopies<true> : arriveAfterCopies<false>);
  }
  bindCopy(b);
}

}  // namespace ptxopt::exec
