// Telling small differences of time from noise, as tests/gpu/bench.py does.
//
// Two sides are measured in each round, in another order each time, so that what drifts (clocks, temperature) meets both
// alike. The ratio is taken within a round. What is said is the median of the ratios, and by order statistics an interval
// that has the true median with a confidence of 99%, whatever the distribution.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ptxopt::gpu {

struct Summary {
  double median = 0;
  double low = 0, high = 0;  // the median twice where there are too few samples: hasInterval
  bool hasInterval = false;
};

constexpr double kConfidence = 0.99;
// What measuring cannot see, such as where code lies: no smaller difference is called one.
constexpr double kMargin = 0.002;

Summary summaryOf(std::vector<double> samples, double confidence = kConfidence);
// "faster", "slower", "cannot be told apart".
const char* verdictOf(const Summary& ratio, double margin = kMargin);

struct Times {
  Summary before, after;  // milliseconds
  Summary ratio;          // of after to before
  std::string verdict;
  unsigned rounds = 0;
};

struct TimingOptions {
  double seconds = 1;
  unsigned leastRounds = 11, mostRounds = 1000;
  uint64_t seed = 0;  // of the order
};

// `measure`: restores memory, runs a side once, and says how many milliseconds it took. Side 0 is before, 1 after. The
// first samples of each are not counted.
Times measureTimes(const std::function<double(unsigned side)>& measure, const TimingOptions& options);

}  // namespace ptxopt::gpu
