// Comparing two sides: what became of each function, whether that is a regression, and sums over all.
//
// Better or worse is decided by the guard's rule (compare.h), then machine instructions of innermost loops, registers,
// stack: the first that differs. A regression is what --fail-on says. Rows are in the order in which one
// wants to see them: regressions, then what got worse, the worst first; what is gone; what got better, most of all
// first; what is new; the rest.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "diff/fail_on.h"
#include "diff/match.h"

namespace ptxopt::diff {

enum class Change : uint8_t { Regression, Worse, Missing, Better, New, Same };
inline constexpr std::size_t kChanges = 6;
std::string_view name(Change c);  // "regression", "worse", "missing", "better", "new", "same"

struct Regression {
  Limit limit;
  uint64_t before = 0, after = 0;
};

struct Row {
  std::string file, architecture, name;           // of the side after, if it has it
  std::string oldFile, oldArchitecture, oldName;  // where these were others before
  bool isKernel = false;
  PairedBy pairedBy = PairedBy::Name;
  std::optional<ptxas::FunctionMeasures> before, after;
  Change change = Change::Same;
  std::vector<Regression> regressions;  // a kernel that is gone has none, even if it counts as one

  const ptxas::FunctionMeasures& any() const { return after ? *after : *before; }
  bool isCompared() const { return before && after; }
  // None where a digest is not known.
  std::optional<bool> hasSameCode() const;
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

  std::size_t count(Change c) const { return kernels[static_cast<std::size_t>(c)]; }
};

struct Result {
  enum class Verdict : uint8_t { Ok, Regression, NotCompared };
  std::string before, after;  // names of the sides
  std::string ptxasBefore, ptxasAfter;
  FailOn failOn;
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
                    const std::vector<std::string>& asked, const MatchOptions& pairing = {});

}  // namespace ptxopt::diff
