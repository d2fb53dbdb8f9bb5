// Delta debugging of a module: the smallest text that a test still calls interesting.
//
// Algorithm: each reduction of reductions.h lists its opportunities in the best text so far; chunks of them, all,
// halves, quarters, down to single ones, are tried in order, and what is interesting is kept. All reductions are
// repeated until an iteration changes nothing.
// A candidate is tested only if it parses, is structurally sound (ir/verify.h), and was not tested before.
// With several jobs the next candidates are tested at once, as if all but the last would fail; the first of them in
// order that is interesting is taken and those after it are forgotten. So the result, and the number of tests,
// depends on the test alone, not on the number of jobs.
// Cost: time is that of the tests; building a candidate parses the best text twice.
// Invariant: every accepted text was interesting, is in the form of --reprint, and was never accepted before, so
// that the search ends.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace ptxopt::reduce {

struct ReduceProgress {
  std::string_view reduction;
  uint64_t iteration = 0, tests = 0;
  std::size_t bytes = 0, instructions = 0;
  bool accepted = false;           // of the candidate just tested
  bool finishedReduction = false;  // no candidate; the reduction has had its turn
};

struct ReduceOptions {
  // Whether the text is interesting. Called from `jobs` threads at a time, each with its own `worker` below that;
  // the result is useless once `cancel` is true.
  std::function<bool(const std::string& text, unsigned worker, const std::atomic<bool>& cancel)> test;
  // A better text. False ends the reduction.
  std::function<bool(const std::string& text)> accept = [](const std::string&) { return true; };
  std::function<void(const ReduceProgress&)> progress = [](const ReduceProgress&) {};
  unsigned jobs = 1;
  uint64_t maxTests = 0;                    // 0: no limit
  bool interface = false;                   // also reductions that change how a kernel is launched
  const std::atomic<bool>* stop = nullptr;  // becomes true: end with the best so far
};

struct ReduceResult {
  enum class End { FixedPoint, MaxTests, Stopped };
  End end = End::FixedPoint;
  std::string text;
  uint64_t iterations = 0;
  uint64_t tests = 0;    // candidates tested
  uint64_t known = 0;    // not tested again
  uint64_t invalid = 0;  // not PTX, so not tested
};

// `text` is in the form of --reprint and interesting.
ReduceResult reduceText(std::string text, const ReduceOptions& options);

// The module's text in the form of --reprint, only with the entry called `kernel` if that is not empty; or why
// there is none.
struct NormalizedText {
  std::string text, error;
  bool isSyntax = false;  // the error is that of the parser, ready to print
};
NormalizedText normalize(std::string_view text, std::string_view kernel, const std::string& fileName);

// Real instructions of a text; 0 when it is not PTX.
std::size_t countInstructions(std::string_view text);

}  // namespace ptxopt::reduce
