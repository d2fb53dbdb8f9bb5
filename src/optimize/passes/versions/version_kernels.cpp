// version-kernels: kernels get a second body for the launches that a profile says are frequent.
//
// What:       a copy of the kernel, with facts of its own: what a test at its entry will have shown. The passes that follow
//             work on both. join-versions puts them together.
// Which:      launch_choice.h.
// Invariants: facts of the copy are those of the kernel and what its test shows; nothing of a profile is believed.
// Cost:       nothing without a profile; a copy of each kernel that is chosen, and all passes once more.
// Declines:   no-use, share, gain (launch_choice.h); hidden-names (names mean something else in some scope); too-large (no
//             control-flow graph).
#include <algorithm>

#include "facts/facts.h"
#include "passes/manager/pass.h"
#include "passes/versions/launch_choice.h"

namespace ptxopt {
namespace {

KernelVersion versionOf(const Function& f, ChosenLaunches launches) {
  return {.body = f,
          .variables = f.variables.size(),
          .facts = std::move(launches.facts),
          .test = std::move(launches.test),
          .share = launches.share};
}

}  // namespace

void versionKernels(Module& module, ModulePassContext& context) {
  std::vector<std::vector<KernelVersion>> made(module.functions.size());
  const bool usesAlignment = context.knobs[Knob::WidenAccessesEverywhere] != 0 ||
                             context.target().has(target::Capability::SlowNarrowAccesses);
  context.forEachFunction([&](Function& f, PassReport& report) {
    const LaunchProfile& profile = module.profiles[f.index];
    if (!f.isEntry || !profile.isSeen()) return false;
    const auto decline = [&](std::string_view reason, std::string_view detail) {
      report.declines.push_back({reason, std::string(detail)});
      return false;
    };
    if (f.hidesNames) return decline("hidden-names", "names mean something else in some scope");
    Analyses analyses(module, f, livenessLimits(context.knobs));
    if (!analyses.cfg().complete()) return decline("too-large", "the control-flow graph has too many edges");
    const KernelFacts base = module.facts.empty() ? facts::factsOfAll(module, f) : module.facts[f.index];
    std::string_view whyNot;
    for (ChosenLaunches& chosen : chooseLaunches(module, f, profile, base, launchSources(module, f, analyses),
                                                 context.knobs, usesAlignment, whyNot))
      made[f.index].push_back(versionOf(f, std::move(chosen)));
    if (!made[f.index].empty())
      report.counters["bodies"] += made[f.index].size();
    else if (whyNot == "no-use")
      decline(whyNot, "no number that frequent launches have is of use as a constant");
    else if (whyNot == "share")
      decline(whyNot, "no launches take enough of the time");
    else if (whyNot == "gain")
      decline(whyNot, "the test at entry would take what constants save");
    return false;
  });
  for (std::vector<KernelVersion>& all : made)
    for (KernelVersion& version : all) {
      module.versions.push_back(std::move(version));
      module.versions.back().body.version = static_cast<uint32_t>(module.versions.size());
    }
}

bool mayVersionKernels(const Module& module, const ModuleAnalyses&) {
  return std::ranges::any_of(module.profiles, &LaunchProfile::isSeen);
}

}  // namespace ptxopt
