// Telling small differences of time from noise.
//
// Two sides are measured in each iteration, in another order each time, so that what drifts (clocks, temperature) meets
// both alike. The ratio is taken within an iteration. What is said is the median of the ratios, and by order statistics
// an interval that has the true median with a confidence of 99%, whatever the distribution.
//
// A sample is one launch, or as many as take a given time: what a single short launch takes depends on what was in the caches,
// and on how fast the processor launches.
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
// "faster", "slower", "cannot be distinguished".
const char* verdictOf(const Summary& ratio, double margin = kMargin);

struct Times {
  Summary before, after;  // milliseconds
  Summary ratio;          // of after to before
  std::string verdict;
  unsigned iterations = 0;
};

struct TimingOptions {
  double seconds = 1;
  double sampleMilliseconds = 0;  // of the launches of a sample; 0: it is one launch
  unsigned leastIterations = 11, mostIterations = 1000;
  uint64_t seed = 0;  // of the order
};

// Restores memory, runs a side that many times, and says how many milliseconds these took. Side 0 is before, 1 after.
using MeasureSide = std::function<double(unsigned side, unsigned launches)>;
// The first samples of each side are not counted.
Times measureTimes(const MeasureSide& measure, const TimingOptions& options);

}  // namespace ptxopt::gpu
