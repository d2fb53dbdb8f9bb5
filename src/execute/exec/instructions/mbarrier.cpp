// mbarrier.*: init, inval, arrive, arrive_drop, expect_tx, complete_tx, test_wait, try_wait, pending_count.
//
// All but the waits take effect at once, lane by lane in ascending order. A wait whose phase has not completed
// gives false at once and yields; try_wait's suspension and its time hint have no effect but that. The object and
// its faults: mbarrier.h.
#include "exec/instructions/mbarrier.h"

#include "exec/block.h"
#include "exec/instructions/async_copy.h"
#include "exec/instructions/memory_operand.h"

namespace ptxopt::exec {

namespace {

constexpr uint64_t kMade = uint64_t{1} << 62;
constexpr unsigned kExpectedShift = 20, kTransactionShift = 40, kTransactionBits = 21;

}  // namespace

void Mbarrier::fail(const char* what) const { throw LaneFault{FaultKind::Trap, lane_, what}; }

uint64_t Mbarrier::raw() const {
  uint64_t bits;
  std::memcpy(&bits, p_, sizeof bits);
  return bits;
}

Mbarrier::State Mbarrier::load() const {
  const uint64_t bits = raw();
  if ((bits & kMade) == 0)
    throw LaneFault{FaultKind::Uninitialised, lane_,
                    "an mbarrier that mbarrier.init has not made, or inval has ended"};
  State s;
  s.pending = pendingOf(bits);
  s.expected = static_cast<uint32_t>(bits >> kExpectedShift) & kMostArrivals;
  const auto field = static_cast<int64_t>(bits >> kTransactionShift & ((1u << kTransactionBits) - 1));
  s.transactions = field < (1 << (kTransactionBits - 1)) ? field : field - (1 << kTransactionBits);
  s.parity = parityOf(bits);
  return s;
}

void Mbarrier::store(State s) const {
  if (s.pending == 0 && s.transactions == 0) {
    s.pending = s.expected;
    s.parity = !s.parity;
  }
  const uint64_t field = static_cast<uint64_t>(s.transactions) & ((1u << kTransactionBits) - 1);
  const uint64_t bits = s.pending | uint64_t{s.expected} << kExpectedShift | field << kTransactionShift | kMade |
                        uint64_t{s.parity} << 63;
  std::memcpy(p_, &bits, sizeof bits);
}

void Mbarrier::init(uint32_t count) {
  if (count == 0 || count > kMostArrivals) fail("mbarrier.init with a count that is not in 1..1048575");
  forgetCopies(warp_, p_);
  State s;
  s.pending = s.expected = count;
  store(s);
}

void Mbarrier::invalidate() {
  load();
  forgetCopies(warp_, p_);
  std::memset(p_, 0, sizeof(uint64_t));
}

uint64_t Mbarrier::arrive(uint32_t count, bool drop, bool mayComplete) {
  State s = load();
  if (s.pending == 0) {
    deliverCopies(warp_, lane_, p_);
    s = load();
  }
  const uint64_t before = raw();
  if (count == 0 || count > kMostArrivals) fail("arrival at an mbarrier with a count that is not in 1..1048575");
  if (count > s.pending) fail("more arrivals at an mbarrier than its phase waits for");
  if (drop) {
    if (count > s.expected) fail("mbarrier.arrive_drop by more than the mbarrier expects");
    s.expected -= count;
  }
  s.pending -= count;
  if (!mayComplete && s.pending == 0) fail("mbarrier.arrive.noComplete would complete the phase");
  // Dropped by all: the phase completes and the object is of no further use, but for its parity.
  store(s);
  return before;
}

void Mbarrier::transactions(int64_t change) {
  State s = load();
  if (s.pending == 0 && change > 0) {
    deliverCopies(warp_, lane_, p_);
    s = load();
  }
  s.transactions += change;
  if (s.transactions > kMostTransactions || s.transactions < -kMostTransactions)
    fail("the transaction count of an mbarrier leaves -1048575..1048575");
  store(s);
}

void Mbarrier::expectArrival() {
  State s = load();
  if (s.pending == kMostArrivals) fail("too many pending arrivals at an mbarrier");
  ++s.pending;
  store(s);
}

bool Mbarrier::completed(bool parity) {
  if (load().parity == parity) deliverCopies(warp_, lane_, p_);
  return load().parity != parity;
}

namespace {

struct Operation {
  Location place;
  bool drop = false, mayComplete = true, expects = false;
  bool parity = false;
  Arg result, count;
};

const Operation& operationOf(const Op& op) { return *static_cast<const Operation*>(op.data); }

Mbarrier mbarrierOf(Warp& w, const Operation& o, unsigned lane) {
  return {w, lane, w.memory(o.place.space, lane, o.place.address(w, lane), 8, 8, Access::Atomic)};
}

Step init(Warp& w, const Op& op, Mask active) {
  const Operation& o = operationOf(op);
  const uint32_t* count = w.in<uint32_t>(o.count);
  forEachLane(active, [&](unsigned i) { mbarrierOf(w, o, i).init(count[i]); });
  return Step::Next;
}

Step invalidate(Warp& w, const Op& op, Mask active) {
  const Operation& o = operationOf(op);
  forEachLane(active, [&](unsigned i) { mbarrierOf(w, o, i).invalidate(); });
  return Step::Next;
}

Step arrive(Warp& w, const Op& op, Mask active) {
  const Operation& o = operationOf(op);
  const uint32_t* count = w.in<uint32_t>(o.count);
  uint64_t* state = w.out<uint64_t>(o.result);
  forEachLane(active, [&](unsigned i) {
    Mbarrier m = mbarrierOf(w, o, i);
    if (o.expects) m.transactions(count[i]);
    state[i] = m.arrive(o.expects ? 1 : count[i], o.drop, o.mayComplete);
  });
  return Step::Next;
}

template <int kSign>
Step changeTransactions(Warp& w, const Op& op, Mask active) {
  const Operation& o = operationOf(op);
  const uint32_t* count = w.in<uint32_t>(o.count);
  forEachLane(active, [&](unsigned i) { mbarrierOf(w, o, i).transactions(kSign * int64_t{count[i]}); });
  return Step::Next;
}

Step wait(Warp& w, const Op& op, Mask active) {
  const Operation& o = operationOf(op);
  Mask done = 0;
  forEachLane(active, [&](unsigned i) {
    const bool parity =
        o.parity ? (w.in<uint32_t>(o.count)[i] & 1) != 0 : Mbarrier::parityOf(w.in<uint64_t>(o.count)[i]);
    if (mbarrierOf(w, o, i).completed(parity)) done |= Mask{1} << i;
  });
  w.setPredicate(o.result, done, active);
  return done == active ? Step::Next : Step::Yield;
}

Step pendingCount(Warp& w, const Op& op, Mask active) {
  const uint64_t* state = w.in<uint64_t>(op.args[1]);
  uint32_t* d = w.out<uint32_t>(op.args[0]);
  forEachLane(active, [&](unsigned i) { d[i] = Mbarrier::pendingOf(state[i]); });
  return Step::Next;
}

void takeRest(Binder& b, Operation& o, std::size_t addressOperand) {
  takeOrdering(b);
  const Space space = takeSpace(b);
  if (space != Space::Shared && space != Space::Generic) b.unsupported("an mbarrier in this state space");
  o.place = Location(b.address(addressOperand, space));
}

void bindArrive(Binder& b, bool drop) {
  Operation o;
  o.drop = drop;
  o.expects = b.take("expect_tx");
  o.mayComplete = !b.take("noComplete");
  std::size_t next = 0;
  o.result = b.shape(0) == Shape::Memory ? b.sink(8) : b.dest(next++, ScalarType::b64);
  takeRest(b, o, next++);
  o.count = next < b.operands() ? b.source(next, ScalarType::u32) : b.constant(1, 4);
  b.data(o);
  b.handler(arrive);
}

void bindWait(Binder& b) {
  Operation o;
  o.parity = b.take("parity");
  o.result = b.predicateDest(0);
  takeRest(b, o, 1);
  o.count = b.source(2, o.parity ? ScalarType::u32 : ScalarType::b64);
  if (b.operands() > 3) b.ignore(3);  // how long it may take
  b.data(o);
  b.handler(wait);
}

}  // namespace

void bindMbarrier(Binder& b) {
  const std::string_view what = b.takeOneOf({"init", "inval", "arrive", "arrive_drop", "test_wait", "try_wait",
                                             "pending_count", "complete_tx", "expect_tx"});
  b.take("b64");
  if (what == "arrive" || what == "arrive_drop") return bindArrive(b, what == "arrive_drop");
  if (what == "test_wait" || what == "try_wait") return bindWait(b);
  if (what == "pending_count") {
    b.dest(0, ScalarType::u32);
    b.source(1, ScalarType::b64);
    b.handler(pendingCount);
    return;
  }
  if (what.empty()) return;
  Operation o;
  takeRest(b, o, 0);
  if (what != "inval") o.count = b.source(1, ScalarType::u32);
  b.data(o);
  b.handler(what == "init"        ? init
            : what == "inval"     ? invalidate
            : what == "expect_tx" ? changeTransactions<1>
                                  : changeTransactions<-1>);
}

}  // namespace ptxopt::exec
