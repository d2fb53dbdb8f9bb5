// A Warp goes over the instructions in order and keeps when each unit, each scoreboard and the stall of the instruction
// before are free. The critical path is followed backwards from the last issue through what each waited for.
#include "timing/issue.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace ptxopt::timing {
namespace {

constexpr unsigned kScoreboards = 6;
constexpr unsigned kMostIterations = 12;
constexpr double kSameTime = 0.01;  // cycles
// Cycles until sources are read: those of loads, and of stores with their data. Source: Huerta et al. (issue.h), write after
// read of 32-bit accesses to global memory.
constexpr double kRead = 11, kReadForStore = 14;
// If one scoreboard has more results, the oldest are forgotten.
constexpr std::size_t kMostOutstanding = 64;

class Warp {
 public:
  Warp(const TimedCode& code, const Region& region, const Machine& machine, Scenario scenario)
      : code_(code), machine_(machine), scenario_(scenario) {
    for (const Visit& v : region.visits) {
      const sass::Block& block = code.flow.blocks()[v.block];
      for (uint32_t i = block.first; i < block.end; ++i) {
        Issue issue;
        issue.instruction = i;
        issue.frequency = v.frequency;
        trace_.issues.push_back(issue);
      }
    }
  }

  Trace run(bool isLoop) {
    double before = -1;
    for (unsigned iteration = 0; iteration < (isLoop ? kMostIterations : 1); ++iteration) {
      const double start = now_;
      for (uint32_t n = 0; n < trace_.issues.size(); ++n) issue(n, start, iteration);
      trace_.cycles = now_ - start;
      if (std::abs(trace_.cycles - before) < kSameTime) break;
      before = trace_.cycles;
    }
    return std::move(trace_);
  }

 private:
  // A result that is written, or sources that are read.
  struct Outstanding {
    double until;
    uint32_t issue;
    unsigned iteration;
  };
  struct Taken {
    double until = 0;
    uint32_t issue = Issue::kNone;
    unsigned iteration = 0;
  };

  void issue(uint32_t n, double start, unsigned iteration) {
    Issue& i = trace_.issues[n];
    const sass::Instruction& instruction = code_.instructions[i.instruction];
    const Operation& operation = code_.operations[i.instruction];
    const std::span<const Use> uses = machine_.uses(operation.kind);

    Taken last{now_};
    i.unit = Unit::Issue;
    for (unsigned s = 0; s < kScoreboards; ++s)
      if (instruction.control.waits >> s & 1)
        for (const Outstanding& o : outstanding_[s])
          if (o.until > last.until) last = {o.until, o.issue, o.iteration};
    if (const auto& counted = code_.countedWaits[i.instruction]) waitFor(*counted, last);
    for (const Use& u : uses)
      if (u.unit != Unit::Issue && !isShared(u.unit) && taken_[index(u.unit)].until > last.until) {
        last = taken_[index(u.unit)];
        i.unit = u.unit;
      }
    i.wait = (last.until - now_) * i.frequency;
    i.waitedFor = last.issue;
    i.isFromIterationBefore = last.issue != Issue::kNone && last.iteration != iteration;
    now_ += i.wait;
    i.at = now_ - start;

    for (const Use& u : uses)
      if (u.unit != Unit::Issue && !isShared(u.unit))
        taken_[index(u.unit)] = {now_ + u.cycles * operation.repeats * i.frequency, n, iteration};
    const double latency = latencyOf(operation);
    const auto add = [&](uint8_t scoreboard, double cycles) {
      if (scoreboard >= kScoreboards) return;
      auto& all = outstanding_[scoreboard];
      std::erase_if(all, [&](const Outstanding& o) { return o.until <= now_; });
      if (all.size() == kMostOutstanding) all.erase(all.begin());
      all.push_back({now_ + cycles, n, iteration});
    };
    add(instruction.control.writeScoreboard, latency);
    add(instruction.control.readScoreboard, operation.writes ? kReadForStore : kRead);
    i.stall = stallOf(instruction.control) * i.frequency;
    now_ += i.stall;
  }

  void waitFor(const CountedWait& wait, Taken& last) const {
    if (wait.scoreboard < kScoreboards) waitForCount(outstanding_[wait.scoreboard], wait.count, last);
    for (unsigned s = 0; s < kScoreboards; ++s)
      if (wait.empty >> s & 1) waitForCount(outstanding_[s], 0, last);
  }

  // Results come in order: all but the last `count` have to be there.
  static void waitForCount(const std::vector<Outstanding>& outstanding, std::size_t count, Taken& last) {
    for (std::size_t i = 0; i + count < outstanding.size(); ++i)
      if (outstanding[i].until > last.until)
        last = {outstanding[i].until, outstanding[i].issue, outstanding[i].iteration};
  }

  double latencyOf(const Operation& o) const {
    const double own = machine_.latency(o.kind);
    if (!o.reads) return own;
    switch (o.space) {
      case Space::Global:
      case Space::Texture: return own + machine_.memory(scenario_).latency;
      case Space::Local: return own + machine_.memory(Scenario::L1).latency;  // of the thread itself, and small
      case Space::None:
      case Space::Shared:
      case Space::Constant: break;
    }
    return own;
  }

  static std::size_t index(Unit unit) { return static_cast<std::size_t>(unit); }

  const TimedCode& code_;
  const Machine& machine_;
  Scenario scenario_;
  Trace trace_;
  double now_ = 0;
  std::array<std::vector<Outstanding>, kScoreboards> outstanding_;
  std::array<Taken, kUnits> taken_{};
};

}  // namespace

Trace traceOf(const TimedCode& code, const Region& region, const Machine& machine, Scenario scenario) {
  return Warp(code, region, machine, scenario).run(region.loop != Region::kNone);
}

std::vector<PathStep> criticalPath(const Trace& trace) {
  std::vector<PathStep> path;
  if (trace.issues.empty()) return path;
  double end = trace.cycles;
  for (uint32_t n = static_cast<uint32_t>(trace.issues.size()) - 1;;) {
    const Issue& i = trace.issues[n];
    path.push_back({n, end - i.at});
    end = i.at;
    if (i.wait > 0 && i.waitedFor != Issue::kNone) {
      if (i.isFromIterationBefore || i.waitedFor >= n) break;
      n = i.waitedFor;
    } else {
      if (n == 0) break;
      --n;
    }
  }
  std::ranges::reverse(path);
  return path;
}

}  // namespace ptxopt::timing
