// The analyses of one function: made when first asked for, kept until the function changes.
//
// Passes, dumps, the report and the guard ask here. Not thread-safe: each function has its own, and is worked on by one
// thread at a time. What getters return holds until invalidate() takes it away; the module, the function and what the
// analyses refer to must live as long.
#pragma once

#include <optional>
#include <string_view>

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

namespace ptxopt {

class Analyses {
 public:
  // `limits`: what liveness may take.
  Analyses(const Module& module, const Function& function, Liveness::Limits limits = {})
      : module_(module), function_(function), limits_(limits) {}
  Analyses(const Analyses&) = delete;  // the analyses refer to each other

  const Cfg& cfg();
  const RegisterFiles& registerFiles();
  const Liveness& liveness(Liveness::Strength strength);
  const DominatorTree& dominators();
  const DominatorTree& postDominators();
  const Loops& loops();
  const SlotIndexes& slotIndexes();
  const LiveIntervals& liveIntervals();
  // Whether live intervals, and all that is made of them, can be had within what liveness may take.
  bool mayHaveLiveIntervals();
  // Answers are made when asked for, and noted.
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
  // Takes away what is not preserved, and what uses it.
  void invalidate(AnalysisSet preserved = kNoAnalyses);
  // Makes each analysis that is kept anew and compares; of value ranges and scalar evolution each answer that was given.
  // The name of the first that differs, or an empty string.
  std::string_view stale() const;

 private:
  Liveness makeLiveness(Liveness::Strength strength, const Cfg& cfg, const RegisterFiles& files) const;
  bool isStale(AnalysisId id) const;

  // Of a graph that was: what was made of its edges alone holds for one that has the same.
  struct Shape {
    Cfg cfg;
    std::optional<DominatorTree> dominators, postDominators;
    std::optional<Loops> loops;
    std::optional<SlotIndexes> slots;
    std::optional<LiveIntervals> intervals;
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
};

}  // namespace ptxopt
