// Functions are matched, each pair becomes a row with its verdict, and rows are sorted by change and severity. Then
// sums and geometric means are made, and what could not be checked is added as problems.
#include "diff/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>

#include "support/demangle.h"

namespace ptxopt::diff {
namespace {

constexpr std::array<std::string_view, kChanges> kChangeNames{"regression", "worse",      "missing", "better",
                                                              "new",        "other-code", "same"};
constexpr std::array kOrder{ptxas::Measure::Notes,     ptxas::Measure::Spills,       ptxas::Measure::Cycles,
                            ptxas::Measure::Warps,     ptxas::Measure::Instructions, ptxas::Measure::Inner,
                            ptxas::Measure::Registers, ptxas::Measure::Stack};
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
    if (m == ptxas::Measure::Notes) {
      result[i] = static_cast<double>(row.newNotes.size());
      continue;
    }
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
    if (x != y) return a.change == Change::Better ? x < y : x > y;
    return a.any().compileTime > b.any().compileTime;  // what takes most, where that was asked for
  });
}

Row comparedRow(const Match& m, const FailOn& failOn) {
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
  row.newNotes = newNotes(*row.before, *row.after);
  row.by = compare(*row.before, *row.after, ptxas::GuardRule::Time);
  // The same code takes the same time: its cycles are another number where the model assumes other blocks.
  if (row.by.by == ptxas::Measure::Cycles && row.hasSameCode().value_or(false)) row.by = {};
  if (row.by.sign == 0) row.by = compare(*row.before, *row.after, kBesides);
  row.pairedBy = m.by;
  for (const Limit& limit : failOn.limits) {
    const auto before = value(*row.before, limit.measure),
               after = ptxas::valueAfter(*row.before, *row.after, limit.measure);
    if (limit.measure == ptxas::Measure::Notes) {
      if (limit.isExceeded(0, row.newNotes.size()))
        row.regressions.push_back({limit, *before, *after, row.newNotes});
      continue;
    }
    if (before && after && limit.isExceeded(*before, *after))
      row.regressions.push_back({limit, *before, *after, {}});
  }
  // Unless it was asked for, nothing fails that is better to the guard: fewer warps for an end to spills.
  if (failOn.isUsual && row.by.sign < 0) row.regressions.clear();
  row.change = !row.regressions.empty()            ? Change::Regression
               : row.by.sign > 0                   ? Change::Worse
               : row.by.sign < 0                   ? Change::Better
               : !row.hasSameCode().value_or(true) ? Change::OtherCode
                                                   : Change::Same;
  return row;
}

Row rowOf(const Match& m, const FailOn& failOn, const std::vector<Bound>& bounds) {
  Row row = comparedRow(m, failOn);
  if (!row.after) return row;
  for (const Bound& bound : bounds)
    if (bound.isFor(*row.after))
      if (const auto value = bound.figureOf(*row.after); value && !bound.isKept(*value))
        row.breaches.push_back({bound, *value});
  if (!row.breaches.empty()) row.change = Change::Regression;
  return row;
}

// Limits that nothing was checked against.
void addUnchecked(Result& result) {
  for (const Bound& bound : result.bounds) {
    std::size_t kernels = 0, unknown = 0;
    for (const Row& row : result.rows)
      if (row.after && bound.isFor(*row.after)) {
        ++kernels;
        if (!bound.figureOf(*row.after)) ++unknown;
      }
    std::string message;
    if (kernels == 0)
      message = fmt::format("the limit '{}' is for no kernel", bound.text());
    else if (unknown != 0)
      message = fmt::format("the limit '{}': the figure is not known of {} of its {} kernels", bound.text(),
                            unknown, kernels);
    if (!message.empty()) result.problems.push_back({Problem::Of::Both, "", "", std::move(message)});
  }
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
    if (a.compileTime && b.compileTime) {
      s.compileTimeBefore = s.compileTimeBefore.value_or(0) + *a.compileTime;
      s.compileTimeAfter = s.compileTimeAfter.value_or(0) + *b.compileTime;
    }
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

// Notes, spills, warps, ... that --fail-on asks for and that one side does not know.
void addUnknown(Result& result) {
  for (const Limit& limit : result.failOn.limits) {
    std::size_t unknown = 0;
    for (const Row& row : result.rows)
      if (row.isCompared() && row.isKernel &&
          (!value(*row.before, limit.measure) || !value(*row.after, limit.measure)))
        ++unknown;
    if (unknown == 0) continue;
    const std::string message = fmt::format(
        "{} {} not known of {} kernel{}, and not checked there{}", name(limit.measure),
        limit.measure == ptxas::Measure::Code || limit.measure == ptxas::Measure::CompileTime ? "is" : "are",
        unknown, unknown == 1 ? "" : "s",
        limit.measure == ptxas::Measure::Spills  ? "; cubins do not tell them, only their stack (--fail-on stack)"
        : limit.measure == ptxas::Measure::Notes ? "; neither cubins nor baselines of older versions tell them"
        : limit.measure == ptxas::Measure::Code  ? "; baselines of older versions do not tell it"
        : limit.measure == ptxas::Measure::CompileTime
            ? "; it is measured of PTX (of built files with --only ptx), and in baselines made with --compile-time"
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
  if (!result.isOneSide) check(before, Problem::Of::Before);
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

// "keep/k" of "keep/k.sm_80.cubin": files of one source, as nvcc -keep names them.
std::string_view sourceStem(std::string_view file) {
  const std::size_t name = file.rfind('/') + 1;
  return file.substr(0, file.find('.', name));
}

// A folder may have a kernel as PTX, as a cubin and in an object: it is compared in each, and counts as often.
void addRepeated(Result& result) {
  constexpr std::size_t kShown = 4;
  std::map<std::array<std::string_view, 3>, std::vector<std::string_view>> files;
  for (const Row& row : result.rows)
    if (row.isKernel) files[{sourceStem(row.file), row.architecture, row.name}].push_back(row.file);
  std::erase_if(files, [](const auto& f) { return f.second.size() < 2; });
  if (files.empty()) return;
  std::vector<std::string_view>& first = files.begin()->second;
  std::ranges::sort(first);
  const std::size_t others = files.size() - 1;
  const std::string_view name = files.begin()->first[2];
  const std::string shown = demangled(std::string(name));
  result.notes.push_back(fmt::format(
      "{}{} several files of one name and has a row for each: {}{}; give files of one kind to compare it once",
      shown.empty() ? std::string(name) : shown,
      others == 0 ? " is in" : fmt::format(", like {} more kernel{}, is in", others, others == 1 ? "" : "s"),
      fmt::join(std::span(first).first(std::min(first.size(), kShown)), ", "),
      first.size() > kShown ? ", ..." : ""));
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

std::string Row::codeDifference() const {
  if (hasSameCode().value_or(true) || !before->codeParts || !after->codeParts) return {};
  std::string out;
  for (const ptxas::CodePart part : ptxas::differingParts(*before->codeParts, *after->codeParts))
    out += fmt::format("{}{}", out.empty() ? "" : ", ", ptxas::name(part));
  return out;
}

Result::Verdict Result::verdict() const {
  if (!problems.empty()) return Verdict::NotCompared;
  return hasRegression() ? Verdict::Regression : Verdict::Ok;
}

Result checkSide(const Side& side, const std::vector<std::string>& asked, const std::vector<Bound>& bounds) {
  return compareSides(side, side, FailOn(), asked, bounds);
}

Result compareSides(const Side& before, const Side& after, const FailOn& failOn,
                    const std::vector<std::string>& asked, const std::vector<Bound>& bounds,
                    const MatchOptions& pairing) {
  Result result;
  result.isOneSide = &before == &after;
  result.bounds = bounds;
  result.before = before.name;
  result.after = after.name;
  result.ptxasBefore = before.ptxas;
  result.ptxasAfter = after.ptxas;
  result.failOn = failOn;
  Matching matching = match(before, after, pairing);
  for (const Match& m : matching.matches) result.rows.push_back(rowOf(m, failOn, bounds));
  sortRows(result.rows);

  addVersions(before, after, result);
  for (std::string& note : matching.notes) result.notes.push_back(std::move(note));
  std::set<std::string> said;
  for (const Side* side : {&before, &after})
    for (const std::string& note : side->notes)
      if (said.insert(note).second) result.notes.push_back(note);
  if (!result.isOneSide) addProblems(before, Problem::Of::Before, result);
  addProblems(after, Problem::Of::After, result);
  for (const std::string& rule : matching.idle)
    result.problems.push_back({Problem::Of::Both, "", "", fmt::format("--pair '{}' fits no two kernels", rule)});
  addRepeated(result);
  addUnknown(result);
  addUnchecked(result);
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
