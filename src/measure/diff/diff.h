// Comparing two sides: what became of each function, whether that is a regression, and sums over all.
//
// Better or worse is decided by the guard's rule (compare.h), then machine instructions of innermost loops, registers,
// stack: the first that differs. A regression is what --fail-on says, or a limit that is not kept. Rows are in the order in which one
// wants to see them: regressions, then what got worse, the worst first; what is gone; what got better, most of all
// first; what is new; what has other code only; the rest.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "diff/bounds.h"
#include "diff/fail_on.h"
#include "diff/match.h"

namespace ptxopt::diff {

// OtherCode: all figures are the same, and the machine code is not.
enum class Change : uint8_t { Regression, Worse, Missing, Better, New, OtherCode, Same };
inline constexpr std::size_t kChanges = 7;
std::string_view name(Change c);  // "regression", "worse", "missing", "better", "new", "other-code", "same"

struct Regression {
  Limit limit;
  uint64_t before = 0, after = 0;
  std::vector<ptxas::Note> notes;  // of Measure::Notes: those that are new
};

struct Row {
  std::string file, architecture, name;           // of the side after, if it has it
  std::string oldFile, oldArchitecture, oldName;  // where these were others before
  bool isKernel = false;
  PairedBy pairedBy = PairedBy::Name;
  std::optional<ptxas::FunctionMeasures> before, after;
  Change change = Change::Same;
  std::vector<Regression> regressions;  // a kernel that is gone has none, even if it counts as one
  std::vector<ptxas::Note> newNotes;
  std::vector<Breach> breaches;  // limits that the side after does not keep
  // What decides whether it got better or worse, and by what; also where that is not what fails.
  ptxas::Comparison by;

  const ptxas::FunctionMeasures& any() const { return after ? *after : *before; }
  bool isCompared() const { return before && after; }
  // None where a digest is not known.
  std::optional<bool> hasSameCode() const;
  // "instructions", "constants, scheduling": in what the code differs. Empty where it does not, or no more is known.
  std::string codeDifference() const;
};

struct Problem {
  enum class Of : uint8_t { Before, After, Both };
  Of side = Of::Both;
  std::string file, architecture, message;  // the first two may be empty
};

// Over the kernels that both sides have.
struct Summary {
  std::string architecture;  // empty: all
  std::array<std::size_t, kChanges> kernels{};
  std::size_t compared = 0, sameCode = 0;  // kernels; of these, those of known and equal code
  std::size_t functions = 0;               // compared that are not kernels
  // Geometric means of after / before where neither is 0; none where there is no such kernel.
  std::optional<double> registers, instructions, inner, warps, cycles;
  // Sums, of device functions too; none where no function's are known.
  std::optional<uint64_t> spillsBefore, spillsAfter;
  std::optional<uint64_t> compileTimeBefore, compileTimeAfter;  // ms

  std::size_t count(Change c) const { return kernels[static_cast<std::size_t>(c)]; }
};

struct Result {
  enum class Verdict : uint8_t { Ok, Regression, NotCompared };
  std::string before, after;  // names of the sides
  std::string ptxasBefore, ptxasAfter;
  FailOn failOn;
  std::vector<Bound> bounds;
  bool isOneSide = false;  // only limits were checked: both sides are the same
  std::vector<Row> rows;
  std::vector<Problem> problems;  // each means NotCompared
  std::vector<std::string> notes;
  Summary all;
  std::vector<Summary> architectures;  // in order; of one there is none

  Verdict verdict() const;
  bool hasRegression() const { return all.count(Change::Regression) != 0 || functionRegression; }
  bool functionRegression = false;
};
std::string_view name(Result::Verdict v);  // "ok", "regression", "not-compared"

// `asked`: architectures that must have something to compare.
Result compareSides(const Side& before, const Side& after, const FailOn& failOn,
                    const std::vector<std::string>& asked, const std::vector<Bound>& bounds = {},
                    const MatchOptions& pairing = {});
// For one side, its limits alone.
Result checkSide(const Side& side, const std::vector<std::string>& asked, const std::vector<Bound>& bounds);

}  // namespace ptxopt::diff
