#include "diff/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace ptxopt::diff {
namespace {

constexpr std::array<std::string_view, kChanges> kChangeNames{"regression", "worse", "missing",
                                                              "better",     "new",   "same"};
constexpr std::array kOrder{ptxas::Measure::Spills,       ptxas::Measure::Cycles, ptxas::Measure::Warps,
                            ptxas::Measure::Instructions, ptxas::Measure::Inner,  ptxas::Measure::Registers,
                            ptxas::Measure::Stack};
// Where the guard's rule sees no difference.
constexpr std::array kBesides{ptxas::Measure::Inner, ptxas::Measure::Registers, ptxas::Measure::Stack};

// How much worse a row got, in the order of kOrder; negative: better. Bytes and registers count as they are, the
// others by their part of what was.
std::array<double, kOrder.size()> severity(const Row& row) {
  std::array<double, kOrder.size()> result{};
  if (!row.isCompared()) return result;
  for (std::size_t i = 0; i < kOrder.size(); ++i) {
    const ptxas::Measure m = kOrder[i];
    const auto a = value(*row.before, m), b = ptxas::valueAfter(*row.before, *row.after, m);
    if (!a || !b) continue;
    const double before = static_cast<double>(*a), after = static_cast<double>(*b);
    const bool isRelative =
        m != ptxas::Measure::Spills && m != ptxas::Measure::Registers && m != ptxas::Measure::Stack;
    const double worse = ptxas::isMoreBetter(m) ? before - after : after - before;
    result[i] = isRelative ? worse / std::max(before, 1.0) : worse;
  }
  return result;
}

// Rows by Change, then worst first; but best first among those that got better.
void sortRows(std::vector<Row>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    if (a.change != b.change) return a.change < b.change;
    const auto x = severity(a), y = severity(b);
    return a.change == Change::Better ? x < y : x > y;
  });
}

Row rowOf(const Match& m, const FailOn& failOn) {
  Row row;
  const Unit& unit = m.afterUnit != nullptr ? *m.afterUnit : *m.beforeUnit;
  const ptxas::FunctionMeasures& f = m.after != nullptr ? *m.after : *m.before;
  row.file = unit.file;
  row.architecture = unit.measures.architecture;
  row.name = f.name;
  row.isKernel = f.isKernel;
  if (m.before != nullptr) row.before = *m.before;
  if (m.after != nullptr) row.after = *m.after;
  if (!row.isCompared()) {
    row.change = m.after != nullptr             ? Change::New
                 : failOn.missing && f.isKernel ? Change::Regression
                                                : Change::Missing;
    return row;
  }
  const auto ifOther = [](const std::string& old, const std::string& now) {
    return old == now ? std::string() : old;
  };
  row.oldFile = ifOther(m.beforeUnit->file, row.file);
  row.oldArchitecture = ifOther(m.beforeUnit->measures.architecture, row.architecture);
  row.oldName = ifOther(m.before->name, row.name);
  row.pairedBy = m.by;
  for (const Limit& limit : failOn.limits) {
    const auto before = value(*row.before, limit.measure),
               after = ptxas::valueAfter(*row.before, *row.after, limit.measure);
    if (before && after && limit.isExceeded(*before, *after)) row.regressions.push_back({limit, *before, *after});
  }
  int sign = compare(*row.before, *row.after, ptxas::GuardRule::Time).sign;
  if (sign == 0) sign = compare(*row.before, *row.after, kBesides).sign;
  row.change = !row.regressions.empty() ? Change::Regression
               : sign > 0               ? Change::Worse
               : sign < 0               ? Change::Better
                                        : Change::Same;
  return row;
}

// Geometric mean of after / before.
class Mean {
 public:
  void add(const std::optional<uint64_t>& before, const std::optional<uint64_t>& after) {
    if (!before || !after || *before == 0 || *after == 0) return;
    logarithms_ += std::log(static_cast<double>(*after) / static_cast<double>(*before));
    ++count_;
  }
  std::optional<double> mean() const {
    return count_ == 0 ? std::nullopt : std::optional(std::exp(logarithms_ / static_cast<double>(count_)));
  }

 private:
  double logarithms_ = 0;
  std::size_t count_ = 0;
};

Summary summarize(const std::vector<Row>& rows, const std::string& architecture) {
  Summary s;
  s.architecture = architecture;
  Mean registers, instructions, inner, warps, cycles;
  for (const Row& row : rows) {
    if (!architecture.empty() && row.architecture != architecture) continue;
    if (row.isKernel) ++s.kernels[static_cast<std::size_t>(row.change)];
    if (!row.isCompared()) continue;
    const ptxas::FunctionMeasures &a = *row.before, &b = *row.after;
    const auto spillsBefore = value(a, ptxas::Measure::Spills), spillsAfter = value(b, ptxas::Measure::Spills);
    if (spillsBefore && spillsAfter) {
      s.spillsBefore = s.spillsBefore.value_or(0) + *spillsBefore;
      s.spillsAfter = s.spillsAfter.value_or(0) + *spillsAfter;
    }
    if (!row.isKernel) {
      ++s.functions;
      continue;
    }
    ++s.compared;
    if (row.hasSameCode().value_or(false)) ++s.sameCode;
    const auto add = [&](Mean& mean, ptxas::Measure m) { mean.add(value(a, m), ptxas::valueAfter(a, b, m)); };
    add(registers, ptxas::Measure::Registers);
    add(instructions, ptxas::Measure::Instructions);
    add(inner, ptxas::Measure::Inner);
    add(warps, ptxas::Measure::Warps);
    add(cycles, ptxas::Measure::Cycles);
  }
  s.registers = registers.mean();
  s.instructions = instructions.mean();
  s.inner = inner.mean();
  s.warps = warps.mean();
  s.cycles = cycles.mean();
  return s;
}

void addProblems(const Side& side, Problem::Of of, Result& result) {
  for (const Unit& unit : side.units)
    if (!unit.error.empty()) result.problems.push_back({of, unit.file, unit.measures.architecture, unit.error});
}

// Spills, warps, ... that --fail-on asks for and that one side does not know.
void addUnknown(Result& result) {
  for (const Limit& limit : result.failOn.limits) {
    std::size_t unknown = 0;
    for (const Row& row : result.rows)
      if (row.isCompared() && row.isKernel &&
          (!value(*row.before, limit.measure) || !value(*row.after, limit.measure)))
        ++unknown;
    if (unknown == 0) continue;
    const std::string message = fmt::format("{} are not known of {} kernel{}, so that nothing was checked{}",
                                            name(limit.measure), unknown, unknown == 1 ? "" : "s",
                                            limit.measure == ptxas::Measure::Spills
                                                ? "; cubins do not tell them, only their stack (--fail-on stack)"
                                                : "");
    if (result.failOn.isUsual)
      result.notes.push_back(message);
    else
      result.problems.push_back({Problem::Of::Both, "", "", message});
  }
}

void addEmpty(const Side& before, const Side& after, const std::vector<std::string>& asked, Result& result) {
  const auto check = [&](const Side& side, Problem::Of of) {
    if (side.units.empty())
      result.problems.push_back({of, "", "", fmt::format("there is nothing to compare in '{}'", side.name)});
  };
  check(before, Problem::Of::Before);
  check(after, Problem::Of::After);
  std::set<std::string> have;
  bool any = false;
  for (const Row& row : result.rows) {
    if (!row.isCompared()) continue;
    any = true;
    have.insert(row.architecture);
  }
  if (!any) {
    result.problems.push_back({Problem::Of::Both, "", "", "no kernel is on both sides, so nothing was compared"});
    return;
  }
  for (const std::string& architecture : asked)
    if (!have.contains(architecture))
      result.problems.push_back({Problem::Of::Both, "", architecture, "no kernel is on both sides"});
}

void addVersions(const Side& before, const Side& after, Result& result) {
  if (!before.ptxas.empty() && !after.ptxas.empty() && before.ptxas != after.ptxas)
    result.notes.push_back(
        fmt::format("the figures are of different versions of ptxas, {} and {}, which may be the only reason for "
                    "differences",
                    before.ptxas, after.ptxas));
  if (!before.ptxas.empty() && !after.ptxas.empty() && before.ptxasOptions != after.ptxasOptions)
    result.notes.push_back(fmt::format("ptxas had different options: '{}' and '{}'",
                                       fmt::join(before.ptxasOptions, " "), fmt::join(after.ptxasOptions, " ")));
}

}  // namespace

std::string_view name(Change c) { return kChangeNames[static_cast<std::size_t>(c)]; }

std::string_view name(Result::Verdict v) {
  switch (v) {
    case Result::Verdict::Ok: return "ok";
    case Result::Verdict::Regression: return "regression";
    case Result::Verdict::NotCompared: return "not-compared";
  }
  return "";
}

std::optional<bool> Row::hasSameCode() const {
  if (!isCompared() || before->code.empty() || after->code.empty()) return std::nullopt;
  return before->code == after->code;
}

Result::Verdict Result::verdict() const {
  if (!problems.empty()) return Verdict::NotCompared;
  return hasRegression() ? Verdict::Regression : Verdict::Ok;
}

Result compareSides(const Side& before, const Side& after, const FailOn& failOn,
                    const std::vector<std::string>& asked, const MatchOptions& pairing) {
  Result result;
  result.before = before.name;
  result.after = after.name;
  result.ptxasBefore = before.ptxas;
  result.ptxasAfter = after.ptxas;
  result.failOn = failOn;
  Matching matching = match(before, after, pairing);
  for (const Match& m : matching.matches) result.rows.push_back(rowOf(m, failOn));
  sortRows(result.rows);

  addVersions(before, after, result);
  for (std::string& note : matching.notes) result.notes.push_back(std::move(note));
  std::set<std::string> said;
  for (const Side* side : {&before, &after})
    for (const std::string& note : side->notes)
      if (said.insert(note).second) result.notes.push_back(note);
  addProblems(before, Problem::Of::Before, result);
  addProblems(after, Problem::Of::After, result);
  for (const std::string& rule : matching.idle)
    result.problems.push_back({Problem::Of::Both, "", "", fmt::format("--pair '{}' fits no two kernels", rule)});
  addUnknown(result);
  addEmpty(before, after, asked, result);

  result.all = summarize(result.rows, "");
  std::set<std::string> architectures;
  for (const Row& row : result.rows) {
    architectures.insert(row.architecture);
    if (!row.isKernel && row.change == Change::Regression) result.functionRegression = true;
  }
  if (architectures.size() > 1)
    for (const std::string& a : architectures) result.architectures.push_back(summarize(result.rows, a));
  return result;
}

}  // namespace ptxopt::diff
