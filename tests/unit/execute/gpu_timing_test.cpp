// Medians, their intervals, and what is said of a ratio.
#include "gpu/timing.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace ptxopt::gpu;

namespace {

std::vector<double> downFrom(int n) {
  std::vector<double> values;
  for (int i = n; i > 0; --i) values.push_back(i);
  return values;
}

}  // namespace

TEST_CASE("gpu timing: the median, and order statistics that hold it") {
  const Summary eleven = summaryOf(downFrom(11));
  CHECK(eleven.median == 6);
  CHECK(eleven.hasInterval);
  // 2 * P(no head of 11 coins) = 0.001; with at most one head it is 0.0117, more than 0.01.
  CHECK(eleven.low == 1);
  CHECK(eleven.high == 11);
  const Summary hundred = summaryOf(downFrom(100));
  CHECK(hundred.median == 50.5);
  CHECK(hundred.low == 37);
  CHECK(hundred.high == 64);
  // 2 * 2^-7 > 0.01: seven samples are too few.
  CHECK_FALSE(summaryOf(downFrom(7)).hasInterval);
  CHECK(summaryOf(downFrom(8)).hasInterval);
  CHECK_FALSE(summaryOf({}).hasInterval);
}

TEST_CASE("gpu timing: a ratio is called faster or slower beyond the margin only") {
  CHECK(verdictOf({0.9, 0.89, 0.91, true}) == std::string("faster"));
  CHECK(verdictOf({1.1, 1.05, 1.2, true}) == std::string("slower"));
  CHECK(verdictOf({0.9985, 0.998, 0.999, true}) == std::string("cannot be distinguished"));
  CHECK(verdictOf({0.9, 0.8, 1.1, true}) == std::string("cannot be distinguished"));
  CHECK(verdictOf({0.9, 0.9, 0.9, false}) == std::string("cannot be distinguished"));
}

TEST_CASE("gpu timing: sides are measured in turn, the ratio within an iteration") {
  // A clock that drifts to a half of what it was: both sides see it.
  int calls = 0;
  const auto measure = [&](unsigned side, unsigned) {
    const double drift = 1 + std::exp(-0.01 * ++calls);
    return (side == 0 ? 10.0 : 9.0) * drift;
  };
  const Times times = measureTimes(measure, {.seconds = 0, .leastIterations = 101, .mostIterations = 101});
  CHECK(times.iterations == 101);
  CHECK(times.verdict == "faster");
  CHECK(times.ratio.median == doctest::Approx(0.9).epsilon(0.01));
  CHECK(times.ratio.high - times.ratio.low < 0.02);
  CHECK(times.before.high - times.before.low > 0.5);
}

TEST_CASE("gpu timing: a sample is one launch, or as many as take the time asked for") {
  std::vector<unsigned> launches;
  double milliseconds = 0.1;
  const auto measure = [&](unsigned side, unsigned n) {
    launches.push_back(n);
    return (side == 0 ? milliseconds : 2 * milliseconds) * n;
  };
  const auto launchesOfSample = [&](double sampleMilliseconds) {
    launches.clear();
    const Times times = measureTimes(
        measure,
        {.seconds = 0, .sampleMilliseconds = sampleMilliseconds, .leastIterations = 11, .mostIterations = 11});
    CHECK(launches.front() == 1);  // warming up
    CHECK(times.before.median == doctest::Approx(milliseconds));
    return launches.back();
  };
  CHECK(launchesOfSample(0) == 1);
  CHECK(launchesOfSample(0.55) == 6);
  CHECK(launchesOfSample(0.05) == 1);
  milliseconds = 0;
  CHECK(launchesOfSample(0.5) == 10'000);  // a clock that does not move
}
