// The table of the .def file is included twice: for the passes, and for the names that other compilers have for them. A
// pass is looked up among the latter first.
#include "passes/manager/pass.h"

#include <algorithm>
#include <array>

namespace ptxopt {
namespace {

constexpr auto needs(auto... facts) { return ModuleFactSet{facts...}; }
constexpr auto asks(auto... analyses) { return AnalysisSet{analyses...}; }

constexpr auto kPasses = [] {
  using enum ModuleFact;
  using enum AnalysisId;
  return std::to_array<PassInfo>({
#define PTXOPT_PASS(id, name, function, asks, preserves, again, declines, needs, summary) \
  {name, function, nullptr, nullptr, asks, preserves, Again::again, Declines::declines, needs, summary},
#define PTXOPT_MODULE_PASS(id, name, function, hasWork, needs, summary) \
  {name, nullptr, function, hasWork, kNoAnalyses, kNoAnalyses, Again::Idempotent, Declines::Whole, needs, summary},
#define PTXOPT_PASS_ALIAS(alias, id)
#include "passes/manager/passes.def"
#undef PTXOPT_PASS_ALIAS
#undef PTXOPT_MODULE_PASS
#undef PTXOPT_PASS
  });
}();

constexpr PassAlias kPassAliases[] = {
#define PTXOPT_PASS(id, name, function, asks, preserves, again, declines, needs, summary)
#define PTXOPT_MODULE_PASS(id, name, function, hasWork, needs, summary)
#define PTXOPT_PASS_ALIAS(alias, id) {alias, PassId::id},
#include "passes/manager/passes.def"
#undef PTXOPT_PASS_ALIAS
#undef PTXOPT_MODULE_PASS
#undef PTXOPT_PASS
};

}  // namespace

Liveness::Limits livenessLimits(const Knobs& knobs) {
  return {.mostBytes = static_cast<std::size_t>(knobs[Knob::LivenessMemoryMb]) << 20,
          .walkOnly = knobs[Knob::FastCompile] != 0};
}

bool PassContext::hasUsableGraph() {
  if (analyses.cfg().complete()) return true;
  decline("too-large", "the control-flow graph has too many edges");
  return false;
}

bool PassContext::hasUsableIntervals() {
  if (!hasUsableGraph()) return false;
  if (analyses.mayHaveLiveIntervals()) return true;
  decline("too-large", "live ranges need more than liveness may take");
  return false;
}

std::span<const PassInfo> passTable() { return kPasses; }

const PassInfo& passInfo(PassId id) { return kPasses[static_cast<std::size_t>(id)]; }

const PassInfo* findPass(std::string_view name) {
  for (const PassAlias& alias : kPassAliases)
    if (alias.name == name) return &passInfo(alias.pass);
  const auto it = std::ranges::find(kPasses, name, &PassInfo::name);
  return it == std::end(kPasses) ? nullptr : it;
}

std::span<const PassAlias> passAliases() { return kPassAliases; }

}  // namespace ptxopt
