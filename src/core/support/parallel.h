// Work on numbered items by several threads, in the order of the numbers: for items that are worth a thread's
// start, functions to optimize or other programs to wait for.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace ptxopt {

// Threads for computation: as many as cores, at most. `jobs`: those asked for; 0: one a core.
inline unsigned threadsFor(unsigned jobs) {
  if (jobs == 1) return 1;
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  return jobs == 0 ? cores : std::min(jobs, cores);
}

// The first exception that `work` throws comes out, when all threads have ended.
template <typename Work>
void inParallel(unsigned jobs, std::size_t n, const Work& work) {
  std::atomic<std::size_t> next = 0;
  std::exception_ptr thrown;
  std::mutex mutex;
  const auto run = [&] {
    for (std::size_t i = next++; i < n; i = next++) try {
        work(i);
      } catch (...) {
        next = n;
        const std::lock_guard lock(mutex);
        if (!thrown) thrown = std::current_exception();
      }
  };
  std::vector<std::jthread> threads;
  for (std::size_t t = 1; t < std::min<std::size_t>(jobs, n); ++t) threads.emplace_back(run);
  run();
  threads.clear();
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace ptxopt
