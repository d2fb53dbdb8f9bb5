// The analyses of one function: made when first asked for, kept until the function changes.
//
// Passes, dumps, the report and the guard ask here. Not thread-safe: each function has its own, and is worked on by one
// thread at a time. What getters return holds until invalidate() takes it away; the module, the function and what the
// analyses refer to must live as long.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/addresses/address_spaces.h"
#include "analysis/dataflow/cfg.h"
#include "analysis/dataflow/copy_facts.h"
#include "analysis/dataflow/dominators.h"
#include "analysis/dataflow/live_intervals.h"
#include "analysis/dataflow/liveness.h"
#include "analysis/dataflow/loops.h"
#include "analysis/dataflow/slot_indexes.h"
#include "analysis/machine/register_estimate.h"
#include "analysis/machine/register_pressure.h"
#include "analysis/manager/analysis_set.h"
#include "analysis/values/allocated_values.h"
#include "analysis/values/scalar_evolution.h"
#include "analysis/values/value_range.h"
#include "ir/module.h"
#include "support/thread_time.h"

namespace ptxopt {

class Analyses {
 public:
  // `limits`: what liveness may take.
  Analyses(const Module& module, const Function& function, Liveness::Limits limits = {})
      : module_(module), function_(function), limits_(limits) {}
  Analyses(const Analyses&) = delete;  // the analyses refer to each other

  const Cfg& cfg();
  const RegisterFiles& registerFiles();
  // By class alone: which file a register goes to changes no result.
  const RegisterNumbers& registerNumbers() { return *sharedNumbers(); }
  const Liveness& liveness(Liveness::Strength strength);
  // To be called where all that `Needed` liveness finds unneeded was removed: its solution is that of `Plain` liveness then.
  // Who removed something preserves PlainLiveness.
  void removedUnneeded();
  const DominatorTree& dominators();
  const DominatorTree& postDominators();
  const Loops& loops();
  const SlotIndexes& slotIndexes();
  const LiveIntervals& liveIntervals();
  // Whether live intervals, and all that is made of them, can be had within what liveness may take.
  bool mayHaveLiveIntervals();
  // Results are computed on demand and recorded for stale().
  ValueRanges& valueRanges();
  ScalarEvolution& scalarEvolution();
  const CopyFacts& copyFacts();
  // By what the module says, and whether pointers in memory are taken for global: the same at each call.
  const AddressSpaces& addressSpaces(const ModuleAddressFacts& facts, bool memoryIsGlobal);
  const RegisterPressure& registerPressure();
  const AllocatedValues& allocatedValues();
  // What ptxas may give, by the two estimates of register_estimate.h.
  uint32_t plainRegisters();
  uint32_t fatPointRegisters();
  const RegisterEstimate& registerEstimate();

  // Makes all that many passes ask for, so that stale() has something to compare.
  void makeAll();
  // Takes away what is not preserved, and what uses it. Plain liveness is preserved by itself where the edges stay.
  void invalidate(AnalysisSet preserved = kNoAnalyses);
  // Makes each analysis that is kept anew and compares; of value ranges and scalar evolution each result that was
  // given. The name of the first that differs, or an empty string.
  std::string_view stale() const;

  // What was asked for since the last call, and what that is made of.
  AnalysisSet takeAsked() { return std::exchange(asked_, {}); }
  // From now on notes what is made; made() says that in words: "control-flow graph 2, needed liveness (by sets, 2 sweeps)".
  void noteMade() { made_ = Made(); }
  std::string made() const;
  // From now on measures the CPU time in which analyses are made; seconds() is the sum.
  void measureTime() { measures_ = true; }
  double seconds() const { return seconds_; }

 private:
  Liveness makeLiveness(Liveness::Strength strength, const Cfg& cfg,
                        std::shared_ptr<const RegisterNumbers> numbers) const;
  std::shared_ptr<const RegisterNumbers> makeNumbers(const Cfg& cfg) const;
  const std::shared_ptr<const RegisterNumbers>& sharedNumbers();
  bool isStale(AnalysisId id) const;
  // For a getter that keeps its analysis in `kept`: makes it where it is not there.
  template <typename Kept, typename Make>
  auto& get(AnalysisId id, std::optional<Kept>& kept, Make make);
  void note(AnalysisId id, std::string_view how = {});
  // Adds the time until it goes. An analysis that is made for another one is within that one's time.
  class Timer {
   public:
    explicit Timer(Analyses& of) : of_(of), watch_(of.measures_ && of.timers_ == 0) { ++of.timers_; }
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;
    ~Timer() {
      --of_.timers_;
      of_.seconds_ += watch_.seconds();
    }

   private:
    Analyses& of_;
    ThreadWatch watch_;
  };

  // For a graph that was: what was made of its edges alone holds for one that has the same.
  struct Shape {
    Cfg cfg;
    std::optional<DominatorTree> dominators, postDominators;
    std::optional<Loops> loops;
    std::optional<SlotIndexes> slots;
    std::optional<LiveIntervals> intervals;
    std::optional<Liveness> liveness;  // `Plain`, where it is preserved
  };
  // How often each analysis was made, and how.
  struct Made {
    std::array<uint32_t, kAnalyses> times;
    std::array<std::string, kAnalyses> how;
  };
  void takeOver(Shape&& before, bool hasSameEdges);

  const Module& module_;
  const Function& function_;
  const Liveness::Limits limits_;
#define PTXOPT_ANALYSIS(id, type, name, uses) std::optional<type> kept##id##_;
#include "analysis/manager/analyses.def"
#undef PTXOPT_ANALYSIS
  std::optional<Shape> before_;  // the function changed
  // Numbers of before, and live intervals that refer to them; the edges are the same since.
  std::optional<SlotIndexes> slotsBefore_;
  std::optional<LiveIntervals> intervalsBefore_;
  AnalysisSet asked_;
  std::optional<Made> made_;
  bool measures_ = false;
  unsigned timers_ = 0;
  double seconds_ = 0;
};

}  // namespace ptxopt
