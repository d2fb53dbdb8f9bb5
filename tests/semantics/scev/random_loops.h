// Kernels of small loops that are hard to count: counters of 16, 32 and 64 bits that start and end near the ends of
// their numbers, steps up and down that may not meet the limit, tests of the old and of the next number, before and
// behind the body, guards that hold too much or too little, increments under a guard, second exits and latches,
// nests whose inner bounds depend on outer counters.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace ptxopt::testing {

class RandomLoops {
 public:
  explicit RandomLoops(uint64_t seed) : random_(seed) {}
  // A file with one kernel; it begins with the comments that say how to launch it. The same seed, the same text.
  std::string make();

 private:
  struct Counter {
    std::string reg;
    unsigned width;
  };

  std::size_t pick(std::size_t n) { return random_() % n; }
  bool percent(std::size_t n) { return pick(100) < n; }
  template <std::size_t N>
  const char* oneOf(const char* const (&words)[N]) {
    return words[pick(N)];
  }
  void line(const std::string& text) { body_ += "  " + text + ";\n"; }
  std::string fresh(unsigned width);
  std::string predicate() { return "%p" + std::to_string(predicates_++); }
  std::string label() { return "L" + std::to_string(labels_++); }
  std::string number(unsigned width);
  std::string leaf(unsigned width, bool mayBeConstant = true);
  std::string converted(const Counter& from, unsigned width);
  void computeWith(const Counter& c);
  void loop(unsigned depth);
  void increment(const Counter& i, const std::string& step);

  std::mt19937_64 random_;
  std::string body_;
  unsigned registers_ = 0, predicates_ = 0, labels_ = 0;
  std::vector<Counter> counters_;  // of the loops around
};

}  // namespace ptxopt::testing
