// A warm-up gives the time of one launch, and from it the number of launches in a sample. The interval comes from the
// binomial distribution of how many samples lie below the median.
#include "gpu/timing.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>

namespace ptxopt::gpu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kWarmMilliseconds = 20;
constexpr unsigned kLeastWarm = 2;        // of each side
constexpr double kMostLaunches = 10'000;  // of a sample

double medianOf(const std::vector<double>& ordered) {
  const std::size_t n = ordered.size();
  return n % 2 != 0 ? ordered[n / 2] : (ordered[n / 2 - 1] + ordered[n / 2]) / 2;
}

}  // namespace

Summary summaryOf(std::vector<double> samples, double confidence) {
  Summary s;
  if (samples.empty()) return s;
  std::sort(samples.begin(), samples.end());
  s.median = s.low = s.high = medianOf(samples);
  // The k-th least and greatest leave out the median with the probability that fewer than k of n coins show heads, twice.
  const double n = static_cast<double>(samples.size());
  double tail = 0;
  std::size_t k = 0;
  for (; k < samples.size() / 2; ++k) {
    const double i = static_cast<double>(k);
    tail += std::exp(std::lgamma(n + 1) - std::lgamma(i + 1) - std::lgamma(n - i + 1) - n * std::log(2.0));
    if (2 * tail > 1 - confidence) break;
  }
  if (k == 0) return s;
  s.low = samples[k - 1];
  s.high = samples[samples.size() - k];
  s.hasInterval = true;
  return s;
}

const char* verdictOf(const Summary& ratio, double margin) {
  if (ratio.hasInterval && ratio.high < 1 - margin) return "faster";
  if (ratio.hasInterval && ratio.low > 1 + margin) return "slower";
  return "cannot be distinguished";
}

Times measureTimes(const MeasureSide& measure, const TimingOptions& options) {
  double spent = 0, once = 0;
  const auto warm = Clock::now() + std::chrono::duration<double>(options.seconds / 4);
  for (unsigned i = 0; i < kLeastWarm || (spent < kWarmMilliseconds && Clock::now() < warm); ++i)
    spent += (once = measure(0, 1)) + measure(1, 1);
  const double wanted = options.sampleMilliseconds > 0 ? options.sampleMilliseconds / once : 1;  // once may be 0
  const auto launches = static_cast<unsigned>(std::ceil(std::clamp(wanted, 1.0, kMostLaunches)));
  std::mt19937_64 random(options.seed);
  std::vector<double> samples[2], ratios;
  const auto end = Clock::now() + std::chrono::duration<double>(options.seconds);
  Times times;
  for (; times.iterations < options.mostIterations; ++times.iterations) {
    if (times.iterations >= options.leastIterations && Clock::now() > end) break;
    const unsigned first = static_cast<unsigned>(random() & 1);
    double iteration[2];
    iteration[first] = measure(first, launches) / launches;
    iteration[1 - first] = measure(1 - first, launches) / launches;
    for (const unsigned side : {0u, 1u}) samples[side].push_back(iteration[side]);
    if (iteration[0] > 0) ratios.push_back(iteration[1] / iteration[0]);
  }
  times.before = summaryOf(std::move(samples[0]));
  times.after = summaryOf(std::move(samples[1]));
  times.ratio = summaryOf(std::move(ratios));
  times.verdict = verdictOf(times.ratio);
  return times;
}

}  // namespace ptxopt::gpu
