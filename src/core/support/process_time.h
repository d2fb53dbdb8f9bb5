// Time of the whole process.
#pragma once

#include <chrono>
#include <ctime>

namespace ptxopt {

// CPU time of all threads of this process, in seconds, without that of its children.
inline double processSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// Measures where somebody wants to know, as ThreadWatch.
class ProcessWatch {
 public:
  using Clock = std::chrono::steady_clock;
  explicit ProcessWatch(bool measures)
      : measures_(measures),
        cpuStart_(measures ? processSeconds() : 0),
        start_(measures ? Clock::now() : Clock::time_point()) {}
  // Since it was made; 0 where it does not measure.
  double cpuSeconds() const { return measures_ ? processSeconds() - cpuStart_ : 0; }
  double wallSeconds() const {
    return measures_ ? std::chrono::duration<double>(Clock::now() - start_).count() : 0;
  }

 private:
  bool measures_;
  double cpuStart_;
  Clock::time_point start_;
};

}  // namespace ptxopt
