// --check-races: two accesses to one byte of shared memory by different threads, at least one of them a write, not
// both atomic, and neither ordered before the other. The same of global memory, where threads of other clusters
// take part and a store of what is there already is not a write; checks_races_global.h has what differs.
//
// Algorithm: happens-before by vector clocks (as FastTrack does it). For each byte: the last plain write, and the
// plain reads, atomic writes and atomic reads since then, of each thread the last. What orders:
//   - barriers of the block, from each arrival to each wait of that generation; the cluster's barrier likewise;
//     a thread's exit counts as an arrival, at barriers for a number of threads only together with its warp's;
//   - collective instructions (.sync, .aligned ones of warps): all lanes that run one together;
//   - atomic accesses: acquire and release ones by the byte they meet at, relaxed ones with fences before the write
//     and after the read. ld and st with .relaxed, .volatile, .acquire, .release are atomic; mbarrier operations
//     and what signals an mbarrier acquire and release.
// Threads of a cluster's other blocks take part. Asynchronous copies count as done when issued. An order that rests
// on an mbarrier or a location met earlier is kept, so some races after such a meeting are not seen; none is
// reported that is none by these rules.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "exec/checks_made.h"
#include "exec/checks_races_global.h"
#include "exec/checks_warp_ids.h"
#include "exec/lanes.h"
#include "exec/launch.h"
#include "exec/race_meaning.h"
#include "exec/race_state.h"

namespace ptxopt::exec {

namespace {

class RaceCheck final : public Checks {
 public:
  RaceCheck(bool inShared, bool inGlobal) : inShared_(inShared), inGlobal_(inGlobal) {}

  void newFrame(Frame& frame) override { warpIds_.newFrame(frame); }
  void copied(Warp&, unsigned, const ParameterPlace&, Frame&, const ParameterPlace&, Frame&) override {}
  void local(Warp&, unsigned, uint32_t, unsigned, Access) override {}

  void before(Warp& warp, const Routine& routine, const Op& op, Mask active) override {
    meaning_ = &meaning(warp, routine, op);
    source_ = routine.function->instructions[op.instruction].sourceBegin;
    if (active == 0) return;
    const RaceMeaning& m = *meaning_;
    ClusterRaces& c = stateOf(warp);
    if (m.fence) forEachLane(active, [&](unsigned lane) { fence(threadOf(c, warp, lane)); });
    if (m.exits)
      forEachLane(active, [&](unsigned lane) {
        const VectorClock& clock = threadOf(c, warp, lane).clock;
        c.exited[warp.block().rank()].add(clock);
        c.exitedOfWarp[warp.block().rank()][warp.index()].add(clock);
      });
    if (m.arrives && warp.path().waitState == 0) {
      const auto exited = ClockJoin(c.exitedOfWarp[warp.block().rank()][warp.index()]).take();
      forEachLane(active, [&](unsigned lane) {
        RaceThread& t = threadOf(c, warp, lane);
        c.arrivals[{t.clock.thread(), warp.value(op.args[0], lane)}] = {whatItKnows(t, exited), m.waits};
        t.clock.tick();
      });
    }
    if (m.arrives) {
      const auto lane = static_cast<unsigned>(std::countr_zero(active));
      barrierNumber_ = warp.value(op.args[0], lane);
      barrierOfAll_ = warp.value(op.args[1], lane) == 0;
    }
    if (m.clusterArrives)
      forEachLane(active, [&](unsigned lane) {
        RaceThread& t = threadOf(c, warp, lane);
        c.clusterArrivals[warp.block().cluster().generation + 1].add(t.clock);
        t.clock.tick();
      });
  }

  void after(Warp& warp, const Routine& routine, const Op& op, Mask active) override {
    const RaceMeaning& m = meaning(warp, routine, op);
    ClusterRaces& c = stateOf(warp);
    finishWrites(c, warp);
    if (m.joinsLanes) {
      ClockJoin all;
      forEachLane(active, [&](unsigned lane) { all.add(threadOf(c, warp, lane).clock); });
      const auto known = all.take();
      forEachLane(active, [&](unsigned lane) {
        RaceThread& t = threadOf(c, warp, lane);
        t.clock.learn(known);
        t.clock.tick();
      });
    }
    if (m.clusterWaits)
      forEachLane(active, [&](unsigned lane) {
        const uint32_t phase = warp.clusterPhase[lane];
        const auto found = c.clusterArrivals.find(phase);
        if (warp.block().cluster().generation < phase || found == c.clusterArrivals.end()) return;  // not yet
        learn(threadOf(c, warp, lane), ClockJoin(found->second).take());
      });
  }

  void global(Warp& warp, unsigned lane, Allocation& allocation, uint64_t offset, std::byte* data, unsigned bytes,
              Access access) override {
    if (!inGlobal_ || allocation.readOnly) return;
    ClusterRaces& c = stateOf(warp);
    RaceThread& t = threadOf(c, warp, lane);
    const uint64_t address = allocation.base + offset;
    const bool atomic = access == Access::Atomic || meaning_->atomic;
    const Event now = eventOf(c, t);
    if (!atomic && access == Access::Write) {
      const std::byte* const at = data;
      writes_.push_back({address, lane, now, at, {at, at + bytes}});
      return;
    }
    const Knowledge knows{c.number, &t.clock, &c.others};
    const auto conflict =
        atomic ? global_.atomic(address, bytes, access, now, knows) : global_.read(address, bytes, now, knows);
    if (conflict.kind != nullptr) failGlobal(warp, lane, access, atomic, conflict);
    if (!atomic) return;
    if (access != Access::Read || c.published.contains(address)) order(t, c.published[address], access);
    tellOthers(c, t, address, access);
  }

  void shared(Warp& warp, unsigned lane, Block& owner, uint32_t offset, unsigned bytes, Access access) override {
    if (!inShared_) return;
    ClusterRaces& c = stateOf(warp);
    RaceThread& t = threadOf(c, warp, lane);
    SharedRaces& s = c.shared[owner.rank()];
    if (s.pages.empty()) s.pages.resize(owner.shared.size() / kRacePage + 1);
    const bool atomic = access == Access::Atomic || meaning_->atomic;
    for (uint32_t at = offset; at < offset + bytes; ++at) {
      auto& page = s.pages[at / kRacePage];
      if (page == nullptr) page = std::make_unique<RacePage>();
      touch(c, warp, lane, t, (*page)[at % kRacePage], at, access, atomic);
    }
    if (atomic) order(t, s.published[offset], access);
  }

  void barrier(Block& block, const std::vector<uint32_t>& threads) override {
    const auto found = states_.find(&block.cluster());
    if (found == states_.end()) return;
    ClusterRaces& c = found->second;
    const uint32_t first = block.rank() * c.blockThreads;
    ClockJoin all;
    if (barrierOfAll_) all = c.exited[block.rank()];
    for (const uint32_t t : threads)
      if (const auto a = c.arrivals.find({first + t, barrierNumber_}); a != c.arrivals.end())
        all.add(a->second.known);
    const auto known = all.take();
    for (const uint32_t t : threads) {
      const auto a = c.arrivals.find({first + t, barrierNumber_});
      if (a == c.arrivals.end()) continue;
      // One that waits has learnt nothing since; what it did itself it knows anyway.
      if (a->second.waits) c.threads[first + t].clock.learn(known);
      c.arrivals.erase(a);
    }
  }

 private:
  // A store to global memory: what it changes is known when the op is done.
  struct GlobalWrite {
    uint64_t address = 0;
    unsigned lane = 0;
    Event event;
    const std::byte* at = nullptr;
    std::vector<std::byte> before;
  };

  // What an atomic access of `t` learns and reports where others of its cluster meet it.
  void order(RaceThread& t, std::shared_ptr<const ClockTable>& published, Access access) const {
    const bool reads = access != Access::Write, writes = access != Access::Read;
    if (reads && published != nullptr) {
      if (meaning_->acquires)
        learn(t, published);
      else if (std::find(t.seen.begin(), t.seen.end(), published) == t.seen.end())
        t.seen.push_back(published);
    }
    if (!writes) return;
    const auto news = meaning_->releases ? whatItKnows(t) : t.fenced;
    if (meaning_->releases) t.clock.tick();
    if (news == nullptr) return;
    ClockJoin join;
    if (published != nullptr) join.add(published);
    join.add(news);
    published = join.take();
  }

  // Likewise of other clusters.
  void tellOthers(ClusterRaces& c, const RaceThread& t, uint64_t address, Access access) {
    if (access != Access::Write && global_.hasReleased(address))
      GlobalRaces::learn(c.others, global_.released(address));
    const uint32_t until = meaning_->releases ? sequence_ : t.fencedAt;
    if (access == Access::Read || until == 0) return;
    GlobalRaces::Others& released = global_.released(address);
    GlobalRaces::learn(released, c.others);
    released[c.number] = std::max(released[c.number], until);
  }

  Event eventOf(const ClusterRaces& c, const RaceThread& t) {
    return {c.number, t.clock.thread(), t.clock.now(), ++sequence_, source_};
  }

  void finishWrites(const ClusterRaces& c, Warp& warp) {
    for (const GlobalWrite& w : writes_) {
      const Knowledge knows{c.number, &c.threads[w.event.thread].clock, &c.others};
      const auto conflict =
          global_.write(w.address, static_cast<unsigned>(w.before.size()), w.event, knows, w.before.data(), w.at);
      if (conflict.kind != nullptr) failGlobal(warp, w.lane, Access::Write, false, conflict);
    }
    writes_.clear();
  }

  const RaceMeaning& meaning(Warp& warp, const Routine& routine, const Op& op) {
    const auto [known, isNew] = meanings_.try_emplace(&op);
    if (isNew) known->second = raceMeaningOf(warp.block().program().module(), routine, op);
    return known->second;
  }

  ClusterRaces& stateOf(Warp& warp) {
    Block& b = warp.block();
    ClusterRaces& c = states_[&b.cluster()];
    const uint64_t birth = warpIds_.ofCluster(warp);
    if (c.birth == birth) return c;
    c = {};
    c.birth = birth;
    c.number = static_cast<uint32_t>(firstBlocks_.size());
    firstBlocks_.push_back(b.cluster().block(0).id());
    c.blockThreads = b.threads();
    const std::size_t blocks = b.cluster().blocks().size();
    for (uint32_t t = 0; t < blocks * c.blockThreads; ++t) c.threads.push_back({VectorClock(t), 0, nullptr, {}});
    c.shared.resize(blocks);
    c.exited.resize(blocks);
    c.exitedOfWarp.assign(blocks, std::vector<ClockJoin>(b.warps().size()));
    return c;
  }

  static RaceThread& threadOf(ClusterRaces& c, Warp& warp, unsigned lane) {
    return c.threads[warp.block().rank() * c.blockThreads + warp.threadIndex(lane)];
  }

  static std::shared_ptr<const ClockTable> whatItKnows(const RaceThread& t,
                                                       const std::shared_ptr<const ClockTable>& more = nullptr) {
    ClockJoin join;
    join.add(more);
    join.add(t.clock);
    return join.take();
  }

  static void learn(RaceThread& t, const std::shared_ptr<const ClockTable>& news) {
    ClockJoin join;
    join.add(t.clock.table());
    join.add(news);
    t.clock.learn(join.take());
  }

  void fence(RaceThread& t) const {
    for (const auto& news : t.seen) learn(t, news);
    t.seen.clear();
    t.fenced = whatItKnows(t);
    t.fencedAt = sequence_;
    t.clock.tick();
  }

  void touch(const ClusterRaces& c, Warp& warp, unsigned lane, const RaceThread& t, RaceByte& b, uint32_t at,
             Access access, bool atomic) const {
    const Event now{c.number, t.clock.thread(), t.clock.now(), 0, source_};
    const Knowledge clock{c.number, &t.clock, nullptr};
    const bool writes = access != Access::Read;
    const auto conflict = [&](const Event& e, const char* kind) {
      const bool isOther = e.time != 0 && !clock(e);
      if (isOther) fail(c, warp, lane, at, writes, atomic, e, kind);
    };
    const auto conflicts = [&](const Events& events, const char* kind) {
      if (const Event* e = events.unknownTo(clock)) conflict(*e, kind);
    };
    conflict(b.write, "write");
    if (!atomic) conflicts(b.atomicWrites, "atomic access");
    if (writes) conflicts(b.reads, "read");
    if (writes && !atomic) {
      conflicts(b.atomicReads, "atomic read");
      b.write = now;
      b.reads.clear();
      b.atomicReads.clear();
      b.atomicWrites.clear();
      return;
    }
    Events& events = !atomic ? b.reads : writes ? b.atomicWrites : b.atomicReads;
    events.add(now, events.isKnownTo(clock));
  }

  static const char* verb(bool writes, bool atomic) { return atomic ? "atomic access" : writes ? "write" : "read"; }

  [[noreturn]] void failGlobal(Warp& warp, unsigned lane, Access access, bool atomic,
                               const GlobalRaces::Conflict& conflict) {
    Block& block = warp.block();
    const Module& m = block.program().module();
    const LaunchConfig& config = block.launch().config();
    const Event& e = conflict.other;
    const auto threads = static_cast<uint32_t>(config.block.count());
    const Dim3 &first = firstBlocks_[e.cluster], in = positionIn(config.cluster, e.thread / threads);
    const Dim3 id{first.x + in.x, first.y + in.y, first.z + in.z};
    std::string who = "thread " + toString(positionIn(config.block, e.thread % threads));
    if (!(id == block.id())) who += " of block " + toString(id);
    const Allocation* const a = block.launch().machine().memory().find(conflict.address);
    throw LaneFault{
        FaultKind::Race, lane,
        fmt::format("{} of '{}' at {:#x} by thread {} at line {} is not ordered with the {} by {} at line {}",
                    verb(access != Access::Read, atomic), a->name, conflict.address,
                    toString(positionIn(config.block, warp.threadIndex(lane))), locate(m.source, source_).line,
                    conflict.kind, who, locate(m.source, e.source).line)};
  }

  [[noreturn]] void fail(const ClusterRaces& c, Warp& warp, unsigned lane, uint32_t at, bool writes, bool atomic,
                         const Event& other, const char* kind) const {
    Block& block = warp.block();
    const Module& m = block.program().module();
    const Dim3& shape = block.launch().config().block;
    const uint32_t rank = other.thread / c.blockThreads;
    std::string who = "thread " + toString(positionIn(shape, other.thread % c.blockThreads));
    if (rank != block.rank()) who += " of block " + toString(block.cluster().block(rank).id());
    throw LaneFault{
        FaultKind::Race, lane,
        fmt::format("{} of shared memory at {:#x} by thread {} at line {} is not ordered with the {} by "
                    "{} at line {}",
                    verb(writes, atomic), at, toString(positionIn(shape, warp.threadIndex(lane))),
                    locate(m.source, source_).line, kind, who, locate(m.source, other.source).line)};
  }

  const bool inShared_, inGlobal_;
  WarpIds warpIds_;
  GlobalRaces global_;
  std::vector<Dim3> firstBlocks_;  // of each cluster, by its number
  uint32_t sequence_ = 0;          // of the last event in global memory
  std::unordered_map<const Cluster*, ClusterRaces> states_;
  std::unordered_map<const Op*, RaceMeaning> meanings_;
  // Writes of the op that is being executed
  std::vector<GlobalWrite> writes_;
  const RaceMeaning* meaning_ = nullptr;
  uint32_t source_ = 0;
  uint64_t barrierNumber_ = 0;
  bool barrierOfAll_ = false;
};

}  // namespace

std::unique_ptr<Checks> makeRaceCheck(bool inShared, bool inGlobal) {
  return std::make_unique<RaceCheck>(inShared, inGlobal);
}

}  // namespace ptxopt::exec
