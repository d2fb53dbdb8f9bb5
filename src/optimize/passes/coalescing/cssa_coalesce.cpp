// cssa-coalesce: the copies that leaving SSA form left: parallel copies and phis.
//
// What:       sequences of plain copies in a block that come to one parallel copy are written as the shortest
//             sequence for it: what is there already and what nobody reads is not written, temporaries are seen
//             through, swaps and rotations take one copy more than they have registers (copy_runs.h). Then the
//             values that meet at a phi, and what is made of it at its block's start, become one register, all of a
//             phi at once where that may be (phi_webs.h). Both again until nothing changes.
// Algorithm:  two ways to tell what may be one register. By values, the default: two may, unless they hold
//             different values where both live (Boissinot et al., 2009). With cssa-interference: only where they do not
//             both live (Sreedhar et al., 1999); then more copies stay, and what a register holds is not known across
//             blocks.
// Keeps:      swaps, rotations and lost copies; registers of tied operands and of wgmma; names in parameter lists;
//             the order of everything else. Copies that are not part of a phi are for register-coalescer. Guarded
//             copies stay as they are unless join-guarded-definitions is set.
// Machine code of ptxas: identical.
// Cost:       n log n in the copies and what their registers' live ranges are long.
// Declines:   too-large: the control-flow graph has too many edges. Each copy of a phi that stays is counted with
//             why, as kept-REASON; with cssa-verbosity each phi is reported.
#include <fmt/format.h>

#include <memory>

#include "passes/coalescing/check.h"
#include "passes/coalescing/copy_runs.h"
#include "passes/coalescing/phi_webs.h"

namespace ptxopt {
namespace {

class CssaCoalesce {
 public:
  CssaCoalesce(Function& f, PassContext& context) : f_(f), context_(context) {}

  bool run() {
    bool changed = false;
    for (int iteration = 0; iteration < kMostIterations; ++iteration) {
      std::vector<Decline> kept;
      const bool isShorter = shortenRuns();
      const bool isJoined = knob(Knob::CssaCoalesce) && joinPhis(kept);
      changed |= isShorter | isJoined;
      // What is gone may leave shorter sequences and fewer values in each other's way.
      if ((isShorter || isJoined) && iteration + 1 < kMostIterations) continue;
      for (Decline& d : kept) context_.decline(d.reason, std::move(d.detail));
      break;
    }
    finish();
    return changed;
  }

 private:
  static constexpr int kMostIterations = 8;

  bool knob(Knob k) const { return context_.knobs[k] != 0; }
  int64_t verbosity() const { return context_.knobs[Knob::CssaVerbosity]; }

  // That of the function as it is, made once.
  Coalescer& coalescer() {
    if (!coalescer_) coalescer_ = std::make_unique<Coalescer>(makeCoalescer());
    return *coalescer_;
  }
  // The function has changed.
  void forget() {
    coalescer_.reset();
    context_.analyses.invalidate();
  }

  Coalescer makeCoalescer() const {
    return Coalescer(f_, context_, context_.analyses.copyFacts().plainCopies(),
                     {.mostCopies = static_cast<uint64_t>(context_.knobs[Knob::CopyLimit]),
                      .mostJoins = static_cast<uint64_t>(context_.knobs[Knob::CoalesceLimit]),
                      .joinPartial = knob(Knob::JoinGuardedDefinitions),
                      .byRangeOnly = knob(Knob::CssaInterference)});
  }

  bool shortenRuns() {
    CopyRuns runs(f_, context_, coalescer(),
                  {.usesRoots = !knob(Knob::CssaInterference), .takesGuarded = knob(Knob::JoinGuardedDefinitions)});
    const bool isShorter = runs.shorten([&](BlockId b, std::size_t before, std::size_t after) {
      if (verbosity() < 2) return;
      context_.decline("shortened", fmt::format("{}: {} {} are {} now", nameOf(b), before,
                                                before == 1 ? "copy" : "copies", after));
    });
    const CopyRuns::Counts& counts = runs.counts();
    // The runs of the first iteration; later ones are what is left of these.
    if (isFirst_) {
      context_.count("runs", counts.runs);
      context_.count("swaps", counts.swaps);
      context_.count("rotations", counts.rotations);
    }
    isFirst_ = false;
    context_.count("shortened-runs", counts.shortened);
    context_.count("removed-in-runs", counts.removed);
    if (isShorter) forget();
    return isShorter;
  }

  bool joinPhis(std::vector<Decline>& kept) {
    PhiWebs webs(context_, coalescer());
    const bool joined = webs.join();
    webs.report(report_, keptByRule_);
    for (const PhiWebs::Class& c : webs.classes()) tell(webs, c, kept);
    if (!joined) return false;
    coalescer().joinSameRegisters();
    coalescer().apply();
    forget();
    return true;
  }

  void tell(const PhiWebs& webs, const PhiWebs::Class& c, std::vector<Decline>& kept) {
    if (c.isWhole) context_.count("phis-joined");
    const bool isReported = c.kept != 0 ? verbosity() >= 1 : verbosity() >= 2 && c.isWhole;
    if (!isReported) return;
    const NameId id = f_.registers[webs.registerOf(c).value].name;
    std::string what =
        fmt::format("phi of {} in {}", id.valid() ? context_.module.text(id) : "a new register", nameOf(c.block));
    if (c.kept == 0)
      context_.decline("joined", fmt::format("{}: {} copies", what, c.copies.size()));
    else
      kept.push_back({c.why, fmt::format("{}: {} of {} copies stay", what, c.kept, c.copies.size())});
  }

  // By its label, where it has one.
  std::string nameOf(BlockId b) const {
    const Instruction& first = f_[context_.analyses.cfg()[b].first];
    if (first.kind == InstrKind::Label && f_.labels[first.payload].name.valid())
      return std::string(context_.module.text(f_.labels[first.payload].name));
    return fmt::format("B{}", b.value);
  }

  static std::string_view counterOf(std::string_view rule) {
    if (rule == "shared-value") return "kept-shared-value";
    return rule == "critical-edge" ? "kept-critical-edge" : "kept-irreducible";
  }

  void finish() {
    report_.finish(context_);
    for (const auto& [rule, n] : keptByRule_) context_.count(counterOf(rule), n);
    std::erase_if(context_.report.counters, [](const auto& counter) { return counter.second == 0; });
  }

  Function& f_;
  PassContext& context_;
  std::unique_ptr<Coalescer> coalescer_;
  CopyReport report_;
  std::map<std::string_view, uint64_t> keptByRule_;  // counters of the last iteration
  bool isFirst_ = true;
};

}  // namespace

bool cssaCoalesce(Function& f, PassContext& context) {
  if (!context.hasUsableGraph()) return false;
  return withCoalescingCheck(f, context, [&] { return CssaCoalesce(f, context).run(); });
}

}  // namespace ptxopt
