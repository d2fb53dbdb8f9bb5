// A thread block, and the cluster it belongs to: shared memory, barriers, warps.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <vector>

#include "exec/memory.h"
#include "exec/op.h"
#include "exec/shape.h"
#include "exec/warp.h"

namespace ptxopt::exec {

class Cluster;
class Launch;

// State of one of the block's 16 named barriers; instructions/barrier.cpp works on it.
struct Barrier {
  // What bar.red wants to know about a completed generation.
  struct Counts {
    uint32_t held = 0, threads = 0;
  };
  static constexpr unsigned kRemembered = 8;

  uint32_t arrived = 0;     // threads in this generation, those that count for others included
  uint32_t expected = 0;    // 0: all live threads of the block
  uint32_t threads = 0;     // that really arrived
  uint32_t trueCount = 0;   // ... whose predicate held
  uint32_t generation = 0;  // counts completions
  std::array<Counts, kRemembered> counts{};
  std::vector<uint32_t> participants;  // thread indices, for Checks
};

class Block {
 public:
  static constexpr unsigned kBarriers = 16;

  Block(Launch& launch, Cluster& cluster, const Dim3& id, unsigned rank);

  Launch& launch() { return launch_; }
  Cluster& cluster() { return cluster_; }
  const Dim3& id() const { return id_; }
  unsigned rank() const { return rank_; }  // in the cluster
  const Program& program() const { return program_; }

  std::vector<std::byte> shared;
  std::array<Barrier, kBarriers> barriers;

  std::deque<Warp>& warps() { return warps_; }
  unsigned threads() const { return threads_; }
  unsigned liveThreads() const { return liveThreads_; }
  void threadsExited(unsigned count) { liveThreads_ -= count; }

  // Runs each warp once. The best progress that any of them made.
  Warp::Progress run();
  bool done() const { return liveThreads_ == 0; }
  bool breakConvergences();

 private:
  Launch& launch_;
  Cluster& cluster_;
  const Program& program_;
  Dim3 id_;
  unsigned rank_;
  unsigned threads_ = 0, liveThreads_ = 0;
  std::deque<Warp> warps_;
};

// Blocks that run together and see each other's shared memory; one block when the launch has no clusters.
class Cluster {
 public:
  Cluster(Launch& launch, const Dim3& id);

  const Dim3& id() const { return id_; }
  std::deque<Block>& blocks() { return blocks_; }
  Block& block(unsigned rank) { return blocks_[rank]; }

  // barrier.cluster: threads that arrived, and completed phases.
  uint32_t arrived = 0;
  uint32_t generation = 0;
  unsigned liveThreads() const;

  // Runs until done (true) or until all that is left spins (false). Throws a Deadlock when all wait.
  bool run();
  bool done() const;

 private:
  [[noreturn]] void failDeadlock();

  Launch& launch_;
  Dim3 id_;
  std::deque<Block> blocks_;
};

}  // namespace ptxopt::exec
