// What a pass is, and what it is given.
//
// A function pass works on one function; several functions are worked on at the same time, so that it reads of others only
// what the analyses of the module say. A module pass works on all functions while no other pass runs.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "analysis/manager/analyses.h"
#include "analysis/manager/module_analyses.h"
#include "ir/module.h"
#include "passes/manager/knobs.h"
#include "passes/manager/module_facts.h"
#include "passes/manager/pass_report.h"
#include "support/bit_vector.h"
#include "target/target.h"

namespace ptxopt {

// What liveness may take by the knobs.
Liveness::Limits livenessLimits(const Knobs& knobs);

struct PassContext {
  const Module& module;
  const Knobs& knobs;
  Analyses& analyses;
  const ModuleAnalyses& moduleAnalyses;  // those that the pass's row in passes.def asks for
  PassReport& report;
  std::string_view architecture = {};  // optimized for; empty: the module's
  std::string error = {};              // what the pass found wrong with its own work: an internal error
  AnalysisSet preserved = {};          // by this run, beyond what the pass's row says
  bool describesLoops = true;          // whether anybody reads PassReport::loops
  BitVector declinedBlocks = {};       // by BlockId, where the user asks the pass to change nothing; empty: nowhere

  target::Target target() const {
    return target::Target(architecture.empty() ? module.architecture() : architecture);
  }
  const target::Costs& costs() const { return target().costs(); }
  // Whether the control-flow graph can be had, and live intervals with it; both decline where not.
  bool hasUsableGraph();
  bool hasUsableIntervals();
  void count(std::string_view counter, uint64_t n = 1) { report.counters[counter] += n; }
  void decline(std::string_view reason, std::string detail = {}) {
    report.declines.push_back({reason, std::move(detail)});
  }
  // A pass that changes nothing there for this reason declines with kAsked.
  bool isDeclined(BlockId block) const { return declinedBlocks.size() != 0 && declinedBlocks.test(block.value); }
  bool isDeclined(InstrId id) const { return declinedBlocks.size() != 0 && isDeclined(analyses.cfg().blockOf(id)); }
  void note(std::string_view name, std::string text) { report.notes.push_back({name, std::move(text)}); }
};

inline constexpr std::string_view kAsked = "asked";

// Whether the pass changed the function; if it did, the analyses that it does not preserve are made anew.
using RunOnFunction = bool (*)(Function&, PassContext&);

struct ModulePassContext {
  const Knobs& knobs;
  const ModuleAnalyses& moduleAnalyses;
  std::string_view architecture;  // optimized for, "sm_90"
  // Calls `work` for each function that may be changed, on several threads; it says whether it changed the function, and
  // the report is that of the function.
  std::function<void(const std::function<bool(Function&, PassReport&)>& work)> forEachFunction;

  target::Target target() const { return target::Target(architecture); }
};
using RunOnModule = void (*)(Module&, ModulePassContext&);

// What a pass leaves for itself.
enum class Again : uint8_t {
  Useful,      // a second run may find more
  Idempotent,  // a second run finds nothing until another pass changes something: it is skipped
};

// The parts of a function that a pass can be asked not to change (declined_blocks.h).
enum class Declines : uint8_t { Whole, Loops, Blocks };

struct PassInfo {
  std::string_view name;
  RunOnFunction run = nullptr;
  RunOnModule runOnModule = nullptr;  // one of the two is there
  // For a module pass: whether it may change anything.
  bool (*hasWork)(const Module&, const ModuleAnalyses&) = nullptr;
  AnalysisSet asks;       // for which it may ask, without what they are made of
  AnalysisSet preserves;  // which still hold when the pass changed the function
  Again again;
  Declines declines;
  ModuleFactSet needs;  // analyses of the module that it asks for
  std::string_view summary;
};

enum class PassId : uint8_t {
#define PTXOPT_PASS(id, name, function, asks, preserves, again, declines, needs, summary) id,
#define PTXOPT_MODULE_PASS(id, name, function, hasWork, needs, summary) id,
#define PTXOPT_PASS_ALIAS(alias, id)
#include "passes/manager/passes.def"
#undef PTXOPT_PASS_ALIAS
#undef PTXOPT_MODULE_PASS
#undef PTXOPT_PASS
};

// By PassId.
std::span<const PassInfo> passTable();
const PassInfo& passInfo(PassId id);
// By name or alias; null: there is none.
const PassInfo* findPass(std::string_view name);

// The name that ptxas, cicc or LLVM has for a pass.
struct PassAlias {
  std::string_view name;
  PassId pass;
};
std::span<const PassAlias> passAliases();

#define PTXOPT_PASS(id, name, function, asks, preserves, again, declines, needs, summary) \
  bool function(Function&, PassContext&);
#define PTXOPT_MODULE_PASS(id, name, function, hasWork, needs, summary) \
  void function(Module&, ModulePassContext&);                           \
  bool hasWork(const Module&, const ModuleAnalyses&);
#define PTXOPT_PASS_ALIAS(alias, id)
#include "passes/manager/passes.def"
#undef PTXOPT_PASS_ALIAS
#undef PTXOPT_MODULE_PASS
#undef PTXOPT_PASS

}  // namespace ptxopt
