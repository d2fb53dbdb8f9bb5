// Which of two results of ptxas for one kernel is the better one.
//
// Compared one measure after the other: the first that differs decides. The usual order, which also keeps kernels
// from getting worse, is spills, then resident warps, then machine instructions. Only what both sides know counts.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "ptxas/measures.h"

namespace ptxopt {

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

// What a result is chosen for: each is an order of measures.
enum class Objective : uint8_t { Warps, Sass, Inner, Regs };
std::span<const Measure> orderOf(Objective o);
std::string_view name(Objective o);
std::optional<Objective> objectiveNamed(std::string_view name);

// The guard's.
inline constexpr std::array kGuardOrder{Measure::Spills, Measure::Warps, Measure::Instructions};

struct Comparison {
  int sign = 0;                    // < 0: `after` is better; > 0: worse; 0: no difference in these measures
  Measure by = Measure::Spills;    // the one that decided
  uint64_t before = 0, after = 0;  // its figures
};
Comparison compare(const FunctionMeasures& before, const FunctionMeasures& after,
                   std::span<const Measure> order = kGuardOrder);

}  // namespace ptxopt
