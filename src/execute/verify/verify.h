// Are two PTX modules the same to a program that launches their kernels? Both are run on the same inputs, which are
// made up, and memory is compared bit for bit. Equal verdicts are evidence, not proof; a difference comes with an input
// that shows it.
//
// For each kernel of the first module (which the second must have, with the same parameters): trials choose a
// launch shape, scalars and memory contents. An input on which the first module faults, or runs longer than
// allowed, says nothing and is dropped. One on which the second alone has what the interpreter does not support leaves the
// kernel inconclusive. If the second faults or leaves other bytes, the kernels are different,
// unless the first races on this input, lets the quotient of a division by zero come to something, or leaves what
// rests on values never written: this is looked for before a difference is reported. Smaller inputs are tried until
// none smaller shows it. Cost: the work that the options allow, counted in instructions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "exec/shape.h"
#include "ir/module.h"

namespace ptxopt::verify {

struct VerifyOptions {
  std::string kernel;    // only this one; empty: all
  unsigned trials = 24;  // that say something, for each kernel; then some more that take few steps
  uint64_t seed = 1;
  uint64_t stepLimit = 4'000'000;  // warp instructions of a launch
  // The limit at first. Most inputs on which a kernel runs long are nonsense, such as an array of indices that are not
  // in order: the limit only rises to stepLimit as long as no input ends within it.
  uint64_t firstStepLimit = 250'000;
  // Warp instructions of all launches that compare, shared by the kernels; each has at least some. What is over ends
  // the trials of a kernel early, once a few have said something.
  uint64_t work = 96'000'000;
  bool anyNan = false;    // NaNs of whatever bits are equal, where memory holds floating-point numbers
  unsigned jobs = 1;      // kernels in parallel
  bool coverage = false;  // note which lines of the first module the earlier trials execute
  // What is not to be made up: the shape of the launch, and scalars by the parameter's name (the bits).
  std::optional<exec::Dim3> grid, block, cluster;
  std::optional<uint32_t> dynamicShared;
  std::map<std::string, uint64_t> scalars;
};

enum class Verdict : uint8_t { Equal, Different, Inconclusive };

struct KernelVerdict {
  std::string kernel;
  Verdict verdict = Verdict::Inconclusive;
  unsigned trials = 0;      // that said something
  unsigned dropped = 0;     // inputs on which the first module fails, or which say nothing for another reason
  std::string lastDropped;  // why the last of them, if any
  // Inputs on which the two differ, but the first module's own result is not determined.
  unsigned undeterminedDifferences = 0;
  // Why a kernel was not compared, in a word or two: the fault on the last input, such as "step-limit", or what
  // else is in the way.
  std::string reason;
  std::string detail;  // the counterexample, or why nothing could be said; several lines
  // VerifyOptions::coverage, of the first quarter or so of the trials: lines of the first module's source whose
  // instructions were come to, and of these the ones that some thread executed, its guard being true. Rising.
  std::vector<std::size_t> reached, executed;
  // Likewise: lines by number whose instructions computed something else in the second module, in some input on
  // which the first does not fail. Says something only where the two have the same lines but for a few.
  std::vector<std::size_t> changed;
  // Likewise: why the first module's own result is not determined, if in each of the first trials it rests on a
  // race or on what nothing has written.
  std::string undetermined;
};

// Verdicts in the order of the first module's kernels. Neither module is changed; both may be used meanwhile.
std::vector<KernelVerdict> verify(const Module& a, const Module& b, const VerifyOptions& options);

}  // namespace ptxopt::verify
