// join-versions: the bodies of version-kernels become part of their kernels.
//
// What:       where control enters, a test of all that the body relies on, and a branch to it; it stands at the end of the
//             kernel. The test reads parameters and sizes alone, so that all threads of a launch go the same way: bra.uni.
//             Launches that it does not fit run the kernel as it was.
// Which:      bodies that came out other than the kernel: constants may have changed nothing. Those that take most time first, as
//             long as kernel and module do not grow too much.
// Keeps:      variables: shared memory is there once, for both.
// Declines:   same-body, kernel-growth, module-growth (by the knobs).
// Cost:       nothing where there are none; else linear in the bodies.
#include <algorithm>
#include <vector>

#include "passes/manager/pass.h"
#include "passes/versions/body_copy.h"
#include "passes/versions/entry_test.h"
#include "passes/versions/hidden_counts.h"

namespace ptxopt {
namespace {

constexpr uint64_t kAlwaysFree = 2000;         // instructions that a module may grow by
constexpr uint64_t kAlwaysFreeInKernel = 100;  // ... and a kernel

// For the kernel as it was read: passes make it longer or shorter.
uint64_t sourceInstructionsOf(const Function& f) {
  return static_cast<uint64_t>(std::count_if(f.instructions.begin(), f.instructions.begin() + f.sourceInstructions,
                                             [](const Instruction& i) { return i.isInstruction(); }));
}

// Where control enters: after declarations and what is said there of the whole function.
InstrId entryOf(const Function& f) {
  InstrId at = f.first;
  while (at.valid() && (f[at].kind == InstrKind::Declaration || f[at].kind == InstrKind::Pragma)) at = f[at].next;
  return at;
}

class Joiner {
 public:
  Joiner(Module& module, const Knobs& knobs)
      : module_(module), knobs_(knobs), whyNot_(module.versions.size()), sizes_(module.versions.size()) {}

  // What is joined, of all kernels: the limit of the module is one for all.
  void choose() {
    uint64_t all = 0;
    for (const Function& f : module_.functions) all += f.hasBody ? f.countInstructions() : 0;
    const uint64_t growth = percent(Knob::VersionModuleGrowth);
    const uint64_t most = growth == 0 ? 0 : std::max(kAlwaysFree, all * growth / 100);
    std::vector<std::size_t> order(module_.versions.size());
    for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
    const auto time = [&](std::size_t k) {
      const KernelVersion& v = module_.versions[k];
      return v.share * module_.profiles[v.body.index].share;
    };
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return time(a) > time(b); });
    uint64_t added = 0;
    const uint64_t growthOfKernel = percent(Knob::VersionKernelGrowth);
    std::vector<uint64_t> addedTo(module_.functions.size());
    for (const std::size_t k : order) {
      const Function& body = module_.versions[k].body;
      const Function& f = module_.functions[body.index];
      if (hasSameBody(f, body)) {
        whyNot_[k] = "same-body";
        continue;
      }
      sizes_[k] = body.countInstructions();
      const uint64_t now = f.countInstructions(), larger = std::max(now, sourceInstructionsOf(f));
      const uint64_t mostOfKernel =
          growthOfKernel == 0 ? 0 : std::max(larger - now + larger * growthOfKernel / 100, kAlwaysFreeInKernel);
      if (addedTo[f.index] + sizes_[k] > mostOfKernel)
        whyNot_[k] = "kernel-growth";
      else if (added + sizes_[k] > most)
        whyNot_[k] = "module-growth";
      if (!whyNot_[k].empty()) continue;
      addedTo[f.index] += sizes_[k];
      added += sizes_[k];
    }
  }

  bool join(Function& f, PassReport& report) {
    bool any = false;
    const InstrId where = entryOf(f);
    for (std::size_t k = 0; k < module_.versions.size(); ++k) {
      KernelVersion& version = module_.versions[k];
      if (version.body.index != f.index) continue;
      if (!whyNot_[k].empty()) {
        report.declines.push_back({whyNot_[k], std::string(detail(whyNot_[k]))});
        continue;
      }
      report.counters["hidden-counts"] += hideTripCounts(module_, version, knobs_);
      const RegId holds = emitEntryTest(module_, f, where, version.test);
      const LabelId body = appendBody(module_, f, version);
      const Operand operands[] = {registerOperand(holds, Role::Use, Join::None, Operand::Guard),
                                  {.kind = OperandKind::Label, .payload = body.value}};
      f.insert(where, module_.synth.entry.branch, operands);
      version.isJoined = true;
      ++report.counters["bodies"];
      report.counters["instructions"] += sizes_[k];
      any = true;
    }
    return any;
  }

 private:
  uint64_t percent(Knob knob) const { return static_cast<uint64_t>(knobs_[knob]); }

  static std::string_view detail(std::string_view why) {
    if (why == "same-body") return "nothing came of what the test would show";
    return why == "kernel-growth" ? "the kernel would grow too much" : "the module would grow too much";
  }

  Module& module_;
  const Knobs& knobs_;
  std::vector<std::string_view> whyNot_;  // by version
  std::vector<uint64_t> sizes_;
};

}  // namespace

void joinVersions(Module& module, ModulePassContext& context) {
  Joiner joiner(module, context.knobs);
  joiner.choose();
  context.forEachFunction([&](Function& f, PassReport& report) { return joiner.join(f, report); });
}

bool hasVersions(const Module& module, const ModuleAnalyses&) { return !module.versions.empty(); }

}  // namespace ptxopt
