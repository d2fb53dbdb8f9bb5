// What a pass is, and what it is given.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/dataflow/cfg.h"
#include "analysis/dataflow/dominators.h"
#include "analysis/dataflow/live_intervals.h"
#include "analysis/dataflow/liveness.h"
#include "analysis/dataflow/loops.h"
#include "analysis/dataflow/slot_indexes.h"
#include "analysis/machine/register_pressure.h"
#include "analysis/values/scalar_evolution.h"
#include "analysis/values/value_range.h"
#include "ir/module.h"

namespace ptxopt {

// ---- knobs ----

struct KnobInfo {
  std::string_view name;
  int64_t defaultValue, least, most;
  std::string_view summary;
  std::string_view values;  // names of the numbers from 0 on, "a|b|c"; empty: it is a number
};
std::span<const KnobInfo> knobTable();
// The name of a value of a knob whose values have names.
std::string_view knobValueName(const KnobInfo& knob, int64_t value);

// The values of all knobs.
class Knobs {
 public:
  Knobs();
  int64_t operator[](std::string_view name) const;
  // An error in words, or an empty string.
  std::string set(std::string_view name, int64_t value);

 private:
  std::vector<int64_t> values_;  // in the order of the table
};

// ---- what a pass tells ----

// Why a pass left something as it was. `reason` is one of a fixed set of names.
struct Decline {
  std::string_view reason;
  std::string detail;
};

// Something that a pass expects or found, for the user.
struct Note {
  std::string_view name;  // one of a fixed set of names
  std::string text;
};

// What a pass found of a loop, and did with it.
struct LoopReport {
  struct Form {
    std::string_view name;
    double perRound = 0;        // machine instructions, by the pass's cost
    int setup = 0;              // ... before the loop
    int registers = 0;          // 32-bit units that it adds
    std::string_view rejected;  // why it could not be chosen
    bool chosen = false;
  };
  struct Group {
    std::string_view space;
    std::size_t uses = 0;
    std::string address;  // in terms of scalar evolution
    std::vector<Form> forms;
    uint32_t sourceBegin = 0;   // of the first use
    std::string_view declined;  // why there are no forms; empty when there are
  };
  std::string header;        // its label, or empty
  uint32_t sourceBegin = 0;  // of the first instruction, in the module's text
  Loc line;                  // where that comes from; line 0: not said
  uint32_t depth = 1;
  std::string tripCount;  // "unknown" and why, or an expression
  std::vector<Group> groups;
  double before = 0, after = 0;  // integer instructions a round
  std::string_view declined;     // why nothing was done; empty when something was
};

struct PassReport {
  std::string_view pass;  // as the step of the pipeline is called: "live-dead@2"
  bool changed = false;
  bool skipped = false;  // nothing had changed since it ran last, or it only tidies
  std::map<std::string_view, uint64_t> counters;
  std::vector<Decline> declines;
  std::vector<Note> notes;
  std::vector<LoopReport> loops;
  double seconds = 0;  // CPU time of the thread
};

// What still holds after a pass changed the function.
enum class Preserves : uint8_t { Nothing, ControlFlow };

// ---- the analyses of one function, made when first asked for ----

class Analyses {
 public:
  Analyses(const Module& module, const Function& function, const Knobs& knobs)
      : module_(module), function_(function), knobs_(knobs) {}
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
  const RegisterPressure& registerPressure();
  // What ptxas may give, by the two estimates of register_estimate.h.
  uint32_t plainRegisters();
  uint32_t fatPointRegisters();
  // Makes all of them, so that stale() has everything to compare.
  void makeAll();
  void invalidate(Preserves preserved = Preserves::Nothing);

  // Makes each analysis that is kept anew and compares. The name of the first that differs, or an empty string.
  // Value ranges hold when what they are made of holds: they are not compared.
  std::string_view stale();

 private:
  Liveness makeLiveness(Liveness::Strength strength, const Cfg& cfg, const RegisterFiles& files) const;

  const Module& module_;
  const Function& function_;
  const Knobs& knobs_;
  std::optional<Cfg> cfg_;
  std::optional<RegisterFiles> files_;
  std::optional<Liveness> plain_, needed_;
  std::optional<DominatorTree> dominators_, postDominators_;
  std::optional<Loops> loops_;
  std::optional<SlotIndexes> slots_;
  std::optional<LiveIntervals> intervals_;
  std::optional<ValueRanges> ranges_;
  std::optional<ScalarEvolution> evolution_;
  std::optional<RegisterPressure> pressure_;
  std::optional<uint32_t> plainRegisters_, fatPointRegisters_;
};

// ---- passes ----

struct PassContext {
  const Module& module;
  const Knobs& knobs;
  Analyses& analyses;
  PassReport& report;
  std::string_view target = {};  // optimized for; empty: the module's
  std::string error = {};        // what the pass found wrong with its own work: an internal error

  std::string_view architecture() const { return target.empty() ? module.architecture() : target; }
  // Whether the control-flow graph and live intervals can be had; declines where they cannot.
  bool hasUsableIntervals();
  void count(std::string_view counter, uint64_t n = 1) { report.counters[counter] += n; }
  void decline(std::string_view reason, std::string detail = {}) {
    report.declines.push_back({reason, std::move(detail)});
  }
  void note(std::string_view name, std::string text) { report.notes.push_back({name, std::move(text)}); }
};

// Whether the pass changed the function; if it did, the analyses that it does not preserve are made anew.
using PassFunction = bool (*)(Function&, PassContext&);

// What a pass leaves for itself.
enum class Again : uint8_t {
  Useful,   // a second run may find more
  Useless,  // a second run finds nothing until another pass changes something: it is skipped
};

struct PassInfo {
  std::string_view name;
  PassFunction run;
  Preserves preserves;
  Again again;
  std::string_view summary;
};
std::span<const PassInfo> passTable();
const PassInfo* findPass(std::string_view name);

#define PTXOPT_PASS(name, function, preserves, again, summary) bool function(Function&, PassContext&);
#include "passes/manager/passes.def"
#undef PTXOPT_PASS

}  // namespace ptxopt
