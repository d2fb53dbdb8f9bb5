// The texts that functions may get, and what ptxas makes of them.
//
// A way (of a unit) is a text for each member and a limit on registers. What ptxas makes of a way does not depend
// on other units, so runs leave out kernels of other units, unless something may name these, and no way is measured
// twice. A run that ptxas refuses is done again in halves, to find out whose text it is.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ptxas/assemble.h"
#include "tune/pieces.h"
#include "tune/units.h"

namespace ptxopt::tune {

struct Way {
  std::vector<uint32_t> texts;  // by member: 0 is the input's
  uint32_t limit = 0;           // of a unit with one member

  friend auto operator<=>(const Way&, const Way&) = default;
};

// What ptxas made of a way.
struct Outcome {
  enum class State : uint8_t { NotTried, Measured, Failed } state = State::NotTried;
  std::string error;
  std::vector<std::optional<ptxas::FunctionMeasures>> members;  // none: no code of its own
};

class Bench {
 public:
  using Clock = std::chrono::steady_clock;
  struct Settings {
    ptxas::PtxasSettings ptxas;
    std::string architecture;
    unsigned jobs = 1;
    std::optional<Clock::time_point> deadline;
  };
  // A text to assemble: ways of some units.
  using Run = std::vector<std::pair<uint32_t, Way>>;

  Bench(const Pieces& input, const Units& units, Settings settings);

  // The number of a function's text.
  uint32_t add(uint32_t function, std::string_view text);
  Way inputWay(uint32_t unit) const { return {std::vector<uint32_t>(units_.members[unit].size()), 0}; }
  // For the ways that were not asked for yet. Each is in one run; runs without any are left out.
  void measure(const std::vector<Run>& runs, const std::function<void(std::size_t, std::size_t)>& progress);
  // Notes what the whole text, in which units are as they are in the input, was measured at.
  void note(const ptxas::Measures& input);
  const Outcome& outcome(uint32_t unit, const Way& way) const;
  bool isTimeUp() const { return settings_.deadline && Clock::now() >= *settings_.deadline; }

  // The whole text.
  std::string compose(const std::vector<Way>& ways) const;
  ptxas::Assembly assembleWhole(std::string_view text) const;

  std::size_t runs() const { return runs_; }
  std::size_t runsNotTried() const { return notTried_; }
  // Why temporary files could not be written, where a run failed for that: its outcome says nothing of the text.
  const std::string& noFolder() const { return noFolder_; }

 private:
  std::string composeRun(std::span<const std::pair<uint32_t, Way>> run) const;
  void measureRun(std::span<const std::pair<uint32_t, Way>> run, bool isFirst);
  std::string memberText(uint32_t unit, const Way& way, std::size_t member) const;
  void setOutcome(const std::pair<uint32_t, Way>& asked, Outcome outcome);
  Outcome outcomeFrom(uint32_t unit, const ptxas::Measures& measures) const;

  const Pieces& input_;
  const Units& units_;
  Settings settings_;
  std::vector<std::deque<std::string>> texts_;                           // by function, besides the input's
  std::vector<std::unordered_map<std::string_view, uint32_t>> numbers_;  // ... and their numbers
  std::vector<std::map<Way, Outcome>> outcomes_;                         // by unit
  std::mutex mutex_;
  std::size_t runs_ = 0, notTried_ = 0;
  std::string noFolder_;
};

}  // namespace ptxopt::tune
