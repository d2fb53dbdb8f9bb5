// A module and a function as dumps and reports show them: names, lines, and analyses made when first asked for.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/dataflow/cfg.h"
#include "analysis/dataflow/dominators.h"
#include "analysis/dataflow/live_intervals.h"
#include "analysis/dataflow/liveness.h"
#include "analysis/dataflow/loops.h"
#include "analysis/dataflow/slot_indexes.h"
#include "analysis/machine/register_estimate.h"
#include "analysis/machine/register_pressure.h"
#include "analysis/values/scalar_evolution.h"
#include "analysis/values/value_range.h"
#include "text/instruction_printer.h"

namespace ptxopt {

// What all functions of a module share.
class ModuleView {
 public:
  explicit ModuleView(const Module& module, std::string_view architecture = {});

  const Module& module;
  const text::MadeNames made;
  const std::string architecture;  // "sm_90a"; empty when nobody said

  // Lines of the module's text, from 1.
  std::size_t line(std::size_t offset) const;
  // Where a line begins in the text.
  std::size_t lineStart(std::size_t line) const { return lineStart_[line - 1]; }
  // Without its line end.
  std::string_view lineText(std::size_t line) const;

 private:
  std::vector<std::size_t> lineStart_;
};

class FunctionView {
 public:
  FunctionView(const ModuleView& module, const Function& function);
  FunctionView(const FunctionView&) = delete;

  const ModuleView& view;
  const Module& module;
  const Function& function;

  std::string_view name() const { return module.text(function.name); }
  // As spelled; of several registers with one spelling, in nested scopes, the second is `%r1#2`. The carry flag is
  // `cc`.
  std::string_view registerName(RegId reg) const { return names_[reg.value]; }
  // One line, as --reprint has it.
  std::string instructionText(InstrId id) const;
  // The line where it begins; 0 for what has no source.
  std::size_t line(InstrId id) const;
  // Of the first and the last thing in the block that has a source.
  std::size_t firstLine(BlockId block) const;
  std::size_t lastLine(BlockId block) const;
  // "B3 (lines 12-20)"
  std::string blockTitle(BlockId block) const;
  static std::string blockName(BlockId block);

  // False when the graph has too many edges to be used: the analyses below must not be asked for then.
  bool usable() { return cfg().complete(); }
  const Cfg& cfg();
  const DominatorTree& dominators();
  const DominatorTree& postDominators();
  const Loops& loops();
  const SlotIndexes& slots();
  const LiveIntervals& intervals();
  ValueRanges& ranges();
  ScalarEvolution& evolution();
  // With the uniform file filled as far as it is known.
  const RegisterFiles& registerFiles();
  // Plain strength.
  const Liveness& liveness();
  const RegisterPressure& pressure();
  const RegisterEstimate& estimate();

 private:
  std::string spelling(const Register& reg) const;

  std::vector<std::string> names_;  // by RegId
  std::optional<Cfg> cfg_;
  std::optional<DominatorTree> dominators_, postDominators_;
  std::optional<Loops> loops_;
  std::optional<SlotIndexes> slots_;
  std::optional<LiveIntervals> intervals_;
  std::optional<ValueRanges> ranges_;
  std::optional<ScalarEvolution> evolution_;
  std::optional<RegisterFiles> files_;
  std::optional<Liveness> liveness_;
  std::optional<RegisterPressure> pressure_;
  std::optional<RegisterEstimate> estimate_;
};

}  // namespace ptxopt
