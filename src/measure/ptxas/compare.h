// Which of two results of ptxas for one kernel is the better one.
//
// By one measure after the other: the first that differs decides. Or by a rule of the guard, which keeps kernels from
// getting worse. By both rules it is worse, whatever the figures say, if blocks that could be launched no longer can be: the registers
// no longer suffice, or the kernel allows fewer threads. So is a new note of ptxas (notes.h). That one is gone is better where figures
// do not differ.
//   time   spills; then modelled cycles, where they differ by more than half a percent: worse if any innermost loop, or the
//          whole, costs more in any of the three scenarios (L1, L2, DRAM), better if the whole costs less in one; the same of the
//          whole and of all loops with few warps, where they differ by more than two percent, and by more than the whole gains with
//          many; then resident warps, instructions that are executed, by more than half a percent, and machine instructions.
//          Innermost loops may cost a little more if the whole gains three times what all of them lose, with many warps or
//          with few; with few, any loop may if the whole gains
//   warps  spills, then resident warps, then machine instructions
// Where launches of a profile were given a body of their own (ModelledTime::versions), cycles are those of that body; it has to be better,
// if in some loop it is not, by a tenth of the whole; the other one may cost two percent more.
// Loops are compared where there are as many before and after, in the order of addresses. Where ptxas unrolled them otherwise,
// what they cost for the same work is compared (timing/loop_matching.h). Only what both sides know counts.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "ptxas/measures.h"
#include "timing/loop_matching.h"

namespace ptxopt::ptxas {

enum class Measure : uint8_t {
#define PTXOPT_MEASURE(id, name, moreIsBetter) id,
#include "ptxas/measures.def"
#undef PTXOPT_MEASURE
};
inline constexpr std::size_t kMeasures = 0
#define PTXOPT_MEASURE(id, name, moreIsBetter) +1
#include "ptxas/measures.def"
#undef PTXOPT_MEASURE
    ;
std::string_view name(Measure m);  // "spills"
std::optional<Measure> measureNamed(std::string_view name);
bool isMoreBetter(Measure m);
// The figure; none where it is not known: no spills of a cubin, no registers or instructions of a function that has
// no machine code of its own.
std::optional<uint64_t> value(const FunctionMeasures& f, Measure m);

// The most threads of a block that launches may have, as far as the kernel says it.
uint32_t mostThreads(const FunctionMeasures& f);

// A figure of the model as a whole number; of what is too large for any number of cycles, the most.
uint64_t wholeNumber(double figure);

// The geometric mean of the whole's cycles over where data may lie.
uint64_t meanCycles(const ModelledTime& time);

// What a result is chosen for: each is an order of measures.
enum class Objective : uint8_t { Time, Warps, Sass, Inner, Regs };
std::span<const Measure> orderOf(Objective o);
std::string_view name(Objective o);
std::optional<Objective> objectiveNamed(std::string_view name);

struct Comparison {
  int sign = 0;                    // < 0: `after` is better; > 0: worse; 0: no difference in these measures
  Measure by = Measure::Spills;    // the one that decided
  uint64_t before = 0, after = 0;  // its figures
  std::string detail;              // of cycles: which ones, and these
  // "48 -> 40", "L2 12.50 -> 13.25 in innermost loop 2"
  std::string text() const;
};
Comparison compare(const FunctionMeasures& before, const FunctionMeasures& after, std::span<const Measure> order);
// By notes alone: worse if `after` has one that `before` lacks, better if it only lacks some.
Comparison compareNotes(const FunctionMeasures& before, const FunctionMeasures& after);

enum class GuardRule : uint8_t { Time, Warps };
std::string_view name(GuardRule rule);  // "time"
std::optional<GuardRule> guardRuleNamed(std::string_view name);
Comparison compare(const FunctionMeasures& before, const FunctionMeasures& after, GuardRule rule);

// A kernel by the iterations, blocks and launches of a profile, as ModelledTime has it by what is assumed.
struct ProfiledTime {
  ModelledTime::Cycles whole{}, alone{};
  ModelledTime::Cycles beside{}, besideAlone{};  // of the body for launches that the profile does not have
  double computed = 0, written = 0;              // of timing::Work
};
// Both are of the same kernel, made without a profile and with it. Useless where they do not compute as much: some loop
// is taken for another one.
struct ProfiledTimes {
  ProfiledTime without, with;
  bool areOfSameWork() const;
};

// For a kernel as it is made without a profile and with it. Launches beside the profile may cost two percent more at
// most, whatever others gain, by this rule and by the profile's iterations. It is better where it is by this rule, and
// by the profile costs no more; or where it costs less by the profile, and by this rule two percent more at most.
// Without `times` the rule decides.
Comparison compareProfiled(const FunctionMeasures& without, const FunctionMeasures& with, GuardRule rule,
                           const std::optional<ProfiledTimes>& times = std::nullopt);
// What of both is compared, by what they do; nothing: no time is known of one of them.
std::optional<timing::WorkMatch> workMatchOf(const FunctionMeasures& before, const FunctionMeasures& after);
// As Measure::Cycles of `after`, but for the work of `before`, whose loops ptxas may have unrolled otherwise: what may be compared
// with cycles of `before`, and with what this says of others. Nothing: no time is known of one of them.
std::optional<uint64_t> cyclesForWorkOf(const FunctionMeasures& before, const FunctionMeasures& after);
// The cycles of `after` where data lies in L1, L2 and DRAM, likewise.
std::optional<ModelledTime::Cycles> scenariosForWorkOf(const FunctionMeasures& before,
                                                       const FunctionMeasures& after);
// The figure of `after` that is to be compared with that of `before`.
std::optional<uint64_t> valueAfter(const FunctionMeasures& before, const FunctionMeasures& after, Measure m);
// What is worse for who wants the most of this.
constexpr GuardRule ruleFor(Objective o) { return o == Objective::Time ? GuardRule::Time : GuardRule::Warps; }

}  // namespace ptxopt::ptxas
