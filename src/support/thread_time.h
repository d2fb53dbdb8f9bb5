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

}  // namespace ptxopt
