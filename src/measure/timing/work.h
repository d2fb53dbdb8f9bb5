// What code does that compilers do not change: by it two versions of a loop are compared.
//
// ptxas unrolls a loop as it sees fit: a round of one version may do what two or four of another do, or a loop may become one
// for four rounds and one for the rest. Then cycles of a round say nothing. What is written to memory, what is computed in
// floating point and what is read are the same for the same work.
// Invariants: spills and constants do not count, nor what ptxas copies constants with (half precision) or divides
// integers with (special functions).
// Declines: where instructions do not differ as well, a loop was not unrolled; nor where the factor is no whole number.
#pragma once

#include <optional>

#include "timing/operation.h"

namespace ptxopt::timing {

struct Work {
  double written = 0, read = 0;  // bytes of a thread
  double computed = 0;           // operations in floating point, of a thread or by the matrix
  double instructions = 0;       // of all kinds

  void add(const Operation& operation, double frequency);
  void add(const Work& other, double times);
  friend bool operator==(const Work&, const Work&) = default;
};

// How many rounds of a loop before are in one after: 1 unless it is clear that there are more or fewer. By what is written,
// else computed, else read. Nothing: neither has any of these, and instructions differ by a factor.
std::optional<double> roundsIn(const Work& after, const Work& before);

// How much more `after` does, by what of these differs most; 1 where nothing differs by a factor. For code in which some
// parts may be unrolled otherwise and some not.
double workRatio(const Work& after, const Work& before);

}  // namespace ptxopt::timing
