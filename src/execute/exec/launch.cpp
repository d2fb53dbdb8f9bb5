// Running the blocks of a grid.
//
// Blocks (clusters, where the launch has them) start in order, each worker running one until it is done. One that
// only looks at memory, waiting for what another block is to write, is set aside and taken up again after others,
// so that grid-wide synchronization works; an unbounded number may be set aside.
#include "exec/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "exec/block.h"
#include "exec/launch_facts.h"

namespace ptxopt::exec {

namespace {
// How often a block may find nothing but spinning before another is taken up.
constexpr int kPatience = 256;
}  // namespace

Launch::Launch(Machine& machine, const Program& program, const LaunchConfig& config)
    : machine_(machine),
      program_(program),
      config_(config),
      parameters_(config.parameters),
      idleLimit_(config.idleLimit) {
  const auto fail = [](const std::string& why) { throw ExecError(FaultKind::BadLaunch, why); };
  const Dim3 &g = config.grid, &b = config.block, &c = config.cluster;
  if (g.count() == 0 || b.count() == 0 || c.count() == 0) fail("a grid, block or cluster of size 0");
  if (g.x > INT32_MAX || g.y > 65535 || g.z > 65535) fail(fmt::format("a grid of {} blocks", toString(g)));
  if (b.x > 1024 || b.y > 1024 || b.z > 64 || b.count() > 1024)  // the product may wrap
    fail(fmt::format("a block of {} threads: at most 1024, and 64 in z", toString(b)));
  if (c.x > 16 || c.y > 16 || c.z > 16 || c.count() > 16) fail("a cluster of more than 16 blocks");
  if (g.x % c.x != 0 || g.y % c.y != 0 || g.z % c.z != 0) fail("the grid is not a multiple of the cluster");
  if (parameters_.size() != program.parameterBytes())
    fail(fmt::format("the kernel has {} bytes of parameters, {} were given", program.parameterBytes(),
                     parameters_.size()));
  if (uint64_t{program.staticShared()} + config.dynamicShared >= (uint64_t{1} << kSharedRankShift))
    fail("16 MB or more of shared memory");
  if (const std::string broken = brokenFact(program, config); !broken.empty()) fail(broken);
  clusters_ = g.count() / c.count();
  workers_ = config.jobs != 0 ? config.jobs : std::max(1u, std::thread::hardware_concurrency());
  if (config.firstCluster >= clusters_) fail("no cluster is left to run");
  next_ = config.firstCluster;
  workers_ = static_cast<unsigned>(std::min<uint64_t>(workers_, clusters_ - config.firstCluster));
  checks_ = makeChecks(config);
  if (config.observer != nullptr || checks_ != nullptr) workers_ = 1;
  active_ = workers_;
  // Watched instructions take several times as long.
  if (idleLimit_ != UINT64_MAX && workers_ == 1 && (config.observer != nullptr || checks_ != nullptr))
    idleLimit_ /= 8;
}

void Launch::countSteps(uint64_t steps) {
  if (steps_.fetch_add(steps, std::memory_order_relaxed) + steps > config_.stepLimit)
    throw ExecError(FaultKind::StepLimit, fmt::format("more than {} warp instructions", config_.stepLimit));
  if (idleLimit_ == UINT64_MAX) return;
  const uint64_t most = idleLimit_ * active_.load(std::memory_order_relaxed);
  if (idleSteps_.fetch_add(steps, std::memory_order_relaxed) + steps > most)
    throw ExecError(
        FaultKind::StepLimit,
        fmt::format("no block has ended within {} warp instructions, which looks like a loop without an end; "
                    "--max-steps sets another limit",
                    most));
}

std::byte* Launch::strayBytes(std::span<const std::byte> inside, unsigned bytes) {
  const std::lock_guard lock(straying_);
  ++strayReads_;
  if (inside.empty() && bytes <= zeros_.size()) return zeros_.data();
  auto& made = strays_.emplace_back(bytes);
  std::copy_n(inside.begin(), std::min<std::size_t>(inside.size(), bytes), made.begin());
  return made.data();
}

void Launch::print(std::string_view text) {
  const std::lock_guard lock(printing_);
  if (machine_.print) machine_.print(text);
}

void Launch::runClusters() {
  struct Entry {
    uint64_t number;
    std::unique_ptr<Cluster> cluster;
  };
  std::deque<Entry> aside;
  const Dim3 shape{config_.grid.x / config_.cluster.x, config_.grid.y / config_.cluster.y,
                   config_.grid.z / config_.cluster.z};
  const uint64_t warps = config_.cluster.count() * ((config_.block.count() + 31) / 32);
  const auto work = [&](Entry& e) {
    for (int i = 0; i < kPatience && !failed_; ++i)
      if (e.cluster->run()) return true;
    return false;
  };
  while (!failed_) {
    Entry e;
    e.number = next_.fetch_add(1);
    if (e.number >= clusters_) {
      if (aside.empty()) break;
      e = std::move(aside.front());
      aside.pop_front();
    }
    try {
      if (e.cluster == nullptr) e.cluster = std::make_unique<Cluster>(*this, positionIn(shape, e.number));
      if (!work(e)) {
        aside.push_back(std::move(e));
        continue;
      }
      idleSteps_ = 0;
      if (const uint64_t ended = warps_.fetch_add(warps) + warps; ended > config_.stepLimit)
        throw ExecError(FaultKind::StepLimit, fmt::format("more than {} warps", config_.stepLimit));
    } catch (...) {
      const std::lock_guard lock(failure_);
      if (e.number < errorCluster_) {
        errorCluster_ = e.number;
        error_ = std::current_exception();
      }
      failed_ = true;
    }
  }
  --active_;
}

void Launch::run() {
  if (workers_ == 1) {
    runClusters();
  } else {
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < workers_; ++i) threads.emplace_back([this] { runClusters(); });
    for (std::thread& t : threads) t.join();
  }
  if (error_) std::rethrow_exception(error_);
}

}  // namespace ptxopt::exec
