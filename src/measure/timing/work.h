// What code does that compilers do not change: by it two versions of a loop are compared.
//
// ptxas unrolls a loop as it sees fit: an iteration of one version may do what two or four of another do, or a loop may
// become one for four iterations and one for the rest. Then cycles of an iteration say nothing. An iteration of four
// copies advances its induction variables four times as far; what is computed in floating point, what threads exchange,
// what is read and what is written are the same for the same work, unless a pass removed some of it. So they vote; of
// as many votes, what can vanish least counts: induction variables, arithmetic, exchanges, loads, then stores.
// Invariants: spills and constants do not count, nor what ptxas copies constants with (half precision) or divides
// integers with (special functions).
// Declines: where instructions do not differ as well, a loop was not unrolled; nor where the factor is not a whole
// number.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "timing/operation.h"

namespace ptxopt::timing {

struct Work {
  double written = 0, read = 0;  // bytes of a thread
  double computed = 0;           // operations in floating point, of a thread or by the matrix
  double exchanged = 0;          // atomics, barriers, shuffles and the like
  double instructions = 0;       // of all kinds
  // For a loop: by what constants an iteration advances registers, without sign, ascending, each once.
  std::vector<uint32_t> steps;

  void add(const Operation& operation, double frequency);
  void add(const Work& other, double times);
  friend bool operator==(const Work&, const Work&) = default;
};

// What shows the work, what can vanish least first.
enum class Witness : uint8_t { Steps, Computed, Exchanged, Read, Written };
std::string_view nameOf(Witness witness);      // "computed"
double of(const Work& work, Witness witness);  // not of Steps

// How often `after` does what `before` does, on the word of most witnesses.
struct Ratio {
  double value = 1;
  Witness by = Witness::Steps;  // the most trusted of those that say so
  unsigned agree = 0, all = 0;  // witnesses: that say so, and that either side has
};

// Ratios that differ by no more than `tolerance` agree. `isSameIfInDoubt`: of as many votes, those count first that say 1.
// Nothing: there is no witness on both sides.
std::optional<Ratio> agreedRatio(const Work& after, const Work& before, double tolerance,
                                 bool isSameIfInDoubt = false);

// How many iterations of a loop before are in one after: 1 unless it is clear that there are more or fewer. Nothing:
// there is no witness on both sides, and instructions differ by a factor.
std::optional<Ratio> iterationsIn(const Work& after, const Work& before);

// How much more `after` does; 1 where it is less than a part. For code in which some parts may be unrolled otherwise and some not.
Ratio workRatio(const Work& after, const Work& before);

}  // namespace ptxopt::timing
