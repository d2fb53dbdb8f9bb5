// One launch: its configuration and what its blocks share.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "exec/checks.h"
#include "exec/machine.h"

namespace ptxopt::exec {

class Launch {
 public:
  Launch(Machine& machine, const Program& program, const LaunchConfig& config);

  // Runs all blocks. Throws ExecError; of several, the one of the lowest block that failed.
  void run();

  Machine& machine() { return machine_; }
  const Program& program() const { return program_; }
  const LaunchConfig& config() const { return config_; }
  std::vector<std::byte>& parameters() { return parameters_; }
  Observer* observer() const { return config_.observer; }
  Checks* checks() const { return checks_.get(); }
  bool watchesMemory() const { return checks_ != nullptr; }
  // For atomic operations that the host does not have.
  bool isParallel() const { return workers_ > 1; }
  void print(std::string_view text);

  uint32_t stackLimit() const { return 512u << 10; }
  uint32_t callDepthLimit() const { return 4096; }
  uint64_t steps() const { return steps_; }  // counted so far
  // Throws when the launch has run too many, or no block has ended for too long.
  void countSteps(uint64_t steps);
  // Those that a warp has left when it ends, and which no limit looks at.
  void noteSteps(uint64_t steps) { uncountedSteps_.fetch_add(steps, std::memory_order_relaxed); }
  uint64_t uncountedSteps() const { return uncountedSteps_; }
  bool isLenient() const { return config_.isLenient; }
  // What a read outside of all allocations gives: what it has inside, then zeros. It is counted, and lives as long as this.
  std::byte* strayBytes(std::span<const std::byte> inside, unsigned bytes);
  uint64_t strayReads() const { return strayReads_; }

 private:
  void runClusters();

  Machine& machine_;
  const Program& program_;
  const LaunchConfig& config_;
  std::vector<std::byte> parameters_;
  std::unique_ptr<Checks> checks_;
  std::atomic<uint64_t> steps_ = 0, uncountedSteps_ = 0;
  uint64_t idleLimit_;
  std::atomic<uint64_t> idleSteps_ = 0;  // since a block last ended
  std::atomic<uint64_t> warps_ = 0;      // that ended
  unsigned workers_ = 1;
  std::atomic<unsigned> active_ = 1;  // workers that have something to run
  std::atomic<uint64_t> next_ = 0;
  uint64_t clusters_ = 0;
  std::mutex straying_;
  uint64_t strayReads_ = 0;
  std::deque<std::vector<std::byte>> strays_;  // those that are not only zeros
  std::vector<std::byte> zeros_ = std::vector<std::byte>(64);
  std::mutex printing_;
  std::mutex failure_;
  std::exception_ptr error_;
  uint64_t errorCluster_ = UINT64_MAX;
  std::atomic<bool> failed_ = false;
};

}  // namespace ptxopt::exec
