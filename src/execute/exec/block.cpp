// A cluster runs its blocks in turn, and a block its warps, until all are done. Where nothing advances, waiting
// convergences are broken; where that does not help either, the deadlock is reported by places and counts of threads.
#include "exec/block.h"

#include <fmt/format.h>

#include <algorithm>

#include "exec/launch.h"

namespace ptxopt::exec {

std::string toString(const Dim3& d) { return fmt::format("({},{},{})", d.x, d.y, d.z); }

Block::Block(Launch& launch, Cluster& cluster, const Dim3& id, unsigned rank)
    : shared(launch.program().staticShared() + launch.config().dynamicShared, launch.config().unwritten),
      launch_(launch),
      cluster_(cluster),
      program_(launch.program()),
      id_(id),
      rank_(rank) {
  threads_ = liveThreads_ = static_cast<unsigned>(launch.config().block.count());
  for (unsigned i = 0; i * kLanes < threads_; ++i) warps_.emplace_back(*this, i);
}

Warp::Progress Block::run() {
  Warp::Progress result = Warp::Progress::None;
  for (Warp& w : warps_) {
    if (w.done()) continue;
    const Warp::Progress p = w.run();
    result = std::max(result, p == Warp::Progress::Done ? Warp::Progress::Some : p);
  }
  return done() ? Warp::Progress::Done : result;
}

bool Block::breakConvergences() {
  bool any = false;
  for (Warp& w : warps_) any = w.breakConvergences() || any;
  return any;
}

Cluster::Cluster(Launch& launch, const Dim3& id) : launch_(launch), id_(id) {
  const Dim3& shape = launch.config().cluster;
  for (unsigned rank = 0; rank < shape.count(); ++rank) {
    const Dim3 at = positionIn(shape, rank);
    blocks_.emplace_back(launch, *this, Dim3{id.x * shape.x + at.x, id.y * shape.y + at.y, id.z * shape.z + at.z},
                         rank);
  }
}

unsigned Cluster::liveThreads() const {
  unsigned n = 0;
  for (const Block& b : blocks_) n += b.liveThreads();
  return n;
}

bool Cluster::done() const {
  return std::all_of(blocks_.begin(), blocks_.end(), [](const Block& b) { return b.done(); });
}

bool Cluster::run() {
  for (;;) {
    Warp::Progress best = Warp::Progress::None;
    for (Block& b : blocks_) {
      if (b.done()) continue;
      const Warp::Progress p = b.run();
      best = std::max(best, p == Warp::Progress::Done ? Warp::Progress::Some : p);
    }
    if (done()) return true;
    if (best == Warp::Progress::Spinning) return false;
    if (best == Warp::Progress::Some) continue;
    // Nobody got on, and what they wait for is inside this cluster.
    bool any = false;
    for (Block& b : blocks_) any = b.breakConvergences() || any;
    if (!any) failDeadlock();
  }
}

// Says who waits where.
void Cluster::failDeadlock() {
  const Module& m = launch_.machine().module();
  std::string text;
  ExecError error(FaultKind::Deadlock, "");
  struct Place {
    uint32_t source;
    std::string where;
    unsigned threads = 0;
  };
  std::vector<Place> places;
  unsigned exited = 0;
  for (Block& b : blocks_) {
    exited += b.threads() - b.liveThreads();
    for (Warp& w : b.warps())
      for (const Path& p : w.paths()) {
        const Routine& r = *p.frame->routine;
        const Op& op = r.code[p.pc];
        const Instruction& i = r.function->instructions[op.instruction];
        const auto lanes = static_cast<unsigned>(std::popcount(p.mask));
        const auto known =
            std::find_if(places.begin(), places.end(), [&](const Place& x) { return x.source == i.sourceBegin; });
        if (known != places.end()) {
          known->threads += lanes;
          continue;
        }
        const auto lane = static_cast<unsigned>(std::countr_zero(p.mask));
        const std::string thread =
            fmt::format("thread {} of block {}", toString(positionIn(launch_.config().block, w.threadIndex(lane))),
                        toString(b.id()));
        if (places.empty()) {
          error.source = i.sourceBegin;
          error.function = r.function->name;
          error.thread = thread;
        }
        places.push_back({i.sourceBegin,
                          fmt::format("at line {} ({}), {} first", locate(m.source, i.sourceBegin).line,
                                      m.printedOpcode(i), thread),
                          lanes});
      }
  }
  std::string list;
  for (const Place& p : places)
    list +=
        fmt::format("{}{} thread{} {}", list.empty() ? "" : "; ", p.threads, p.threads == 1 ? "" : "s", p.where);
  error.message = fmt::format("threads wait for others that never come: {}; {} have exited", list, exited);
  throw error;
}

}  // namespace ptxopt::exec
