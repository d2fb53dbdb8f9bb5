// CPU time.
#pragma once

#include <ctime>

namespace ptxopt {

// CPU time of the calling thread, in seconds.
inline double threadSeconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// Measures where somebody wants to know: the clock is a system call.
class ThreadWatch {
 public:
  explicit ThreadWatch(bool measures) : measures_(measures), start_(measures ? threadSeconds() : 0) {}
  // Since it was made; 0 where it does not measure.
  double seconds() const { return measures_ ? threadSeconds() - start_ : 0; }

 private:
  bool measures_;
  double start_;
};

}  // namespace ptxopt
