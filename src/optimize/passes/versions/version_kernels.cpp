// version-kernels: kernels get a second body for the launches that a profile says are frequent.
//
// What:       a copy of the kernel, with facts of its own: what a test at its entry will have shown. The passes that
//             follow work on both. join-versions puts them together.
// Which:      launch_choice.h. Where the bounds of all accesses are known, the test also shows that what is read
//             through parameters is not written (alias_test.h); a kernel without a useful number gets a body for that
//             alone.
// Invariants: facts of the copy are those of the kernel and what its test shows; nothing of a profile is believed.
// Cost:       nothing without a profile; a copy of each kernel that is chosen, and all passes once more.
// Declines:   no-use, share, gain (launch_choice.h); alias: and why (alias_test.h); hidden-names (names mean something
//             else in some scope); too-large (no control-flow graph).
#include <algorithm>

#include "facts/facts.h"
#include "passes/manager/pass.h"
#include "passes/versions/alias_test.h"
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

// Launches for which the profile does not say that what such a test shows is false.
struct ApartLaunches {
  Overlaps overlapping;
  double share = 0;  // of the time of all launches
};

ApartLaunches launchesApart(const LaunchProfile& profile, const LaunchClass& like) {
  ApartLaunches apart;
  if (like.isMemoryKnown) apart.overlapping = like.overlapping;
  for (const LaunchClass& launches : profile.classes)
    if (std::ranges::includes(apart.overlapping, launches.overlapping) && profile.time > 0)
      apart.share += launches.time / profile.time;
  return apart;
}

// Adds the test to a body's, and what it shows to the body's facts.
void add(AliasTest&& test, EntryTest& to, KernelFacts& facts) {
  facts.pointers.resize(std::max(facts.pointers.size(), test.pointers.size()));
  for (std::size_t p = 0; p < test.pointers.size(); ++p)
    facts.pointers[p].isReadonly |= test.pointers[p].isReadonly;
  to.conditions.push_back({"alias-test", std::move(test.emit)});
}

// What is read is shown to be apart from what is written, in the bodies that there are, or in one that is made for it.
void addAliasTest(const Module& module, const Function& f, const KernelFacts& base, Analyses& analyses,
                  const Knobs& knobs, std::vector<ChosenLaunches>& bodies, PassReport& report) {
  const LaunchProfile& profile = module.profiles[f.index];
  const auto most = static_cast<unsigned>(knobs[Knob::VersionAliasTest]);
  if (most == 0 || profile.classes.empty()) return;
  const bool isNew = bodies.empty();
  if (isNew) {
    const LaunchClass& launches = profile.classes.front();
    const double share = launchesApart(profile, launches).share;
    if (share * 100 < static_cast<double>(knobs[Knob::VersionShare]) || knobs[Knob::VersionBodies] == 0) return;
    bodies.push_back({.test = {}, .facts = base, .share = share, .launches = &launches});
  }
  std::string_view why;
  for (ChosenLaunches& body : bodies) {
    if (auto test = findAliasTest(module, f, analyses, most, launchesApart(profile, *body.launches).overlapping,
                                  true, why)) {
      ++report.counters["alias-tests"];
      add(std::move(*test), body.test, body.facts);
    }
  }
  if (!why.empty() && why != "no-candidate") report.declines.push_back({"alias", std::string(why)});
  if (isNew && bodies.front().test.isEmpty()) bodies.clear();
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
    std::vector<ChosenLaunches> bodies = chooseLaunches(
        module, f, profile, base, launchSources(module, f, analyses), context.knobs, usesAlignment, whyNot);
    addAliasTest(module, f, base, analyses, context.knobs, bodies, report);
    for (ChosenLaunches& chosen : bodies) made[f.index].push_back(versionOf(f, std::move(chosen)));
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
