#include "tool/commands/diff_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>
#include <sstream>

#include "diff/output.h"
#include "support/printable.h"
#include "tool/terminal/markdown.h"
#include "tool/terminal/table.h"

namespace ptxopt::tool {
namespace {

using diff::Change;
using diff::Result;
using diff::Row;
using diff::Summary;

constexpr std::size_t kMostCommentBytes = 60'000;
constexpr std::size_t kRowsBeforeFold = 20;
constexpr std::size_t kMostLines = 20;  // of notes, of problems
constexpr std::size_t kMostLineBytes = 600;
constexpr std::size_t kMostSums = 32;  // two for each architecture
constexpr std::string_view kMark = "<!-- ptxopt-diff -->";

std::string plural(std::size_t n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

// ---- cells ----

// "32 -> 40 (+8)", "100 -> 98 (-2.0%)", "32", "? -> 4".
class FigureCells {
 public:
  explicit FigureCells(std::string_view arrow) : arrow_(arrow) {}

  // `sign`: > 0: more is worse, < 0: more is better, 0: neither.
  Table::Cell cell(std::optional<uint64_t> before, std::optional<uint64_t> after, const Row& row, bool isPercent,
                   int sign, bool failed) const {
    if (!row.isCompared()) return plain(row.after ? after : before);
    if (before == after) return plain(after);
    if (!before && !after) return "";
    std::string text = fmt::format("{}{}{}", shown(before), arrow_, shown(after));
    if (!before || !after) return text;
    const bool isMore = *after > *before;
    const uint64_t change = isMore ? *after - *before : *before - *after;
    if (isPercent && *before != 0)
      text += fmt::format(" ({}{:.1f}%)", isMore ? '+' : '-',
                          100.0 * static_cast<double>(change) / static_cast<double>(*before));
    else
      text += fmt::format(" ({}{})", isMore ? '+' : '-', change);
    const bool isWorse = sign != 0 && isMore == (sign > 0);
    return {text, failed ? Style::Bad : sign == 0 ? Style::Plain : isWorse ? Style::Doubtful : Style::Good};
  }

 private:
  static std::string shown(std::optional<uint64_t> v) { return v ? std::to_string(*v) : "?"; }
  static Table::Cell plain(std::optional<uint64_t> v) { return v ? std::to_string(*v) : std::string(); }

  std::string_view arrow_;
};

Table::Cell changeCell(const Row& row) {
  switch (row.change) {
    case Change::Regression:
      return {!row.after ? "MISSING" : row.regressions.empty() ? "LIMIT" : "REGRESSION", Style::Bad};
    case Change::Worse: return {"worse", Style::Doubtful};
    case Change::Missing: return {"missing", Style::Doubtful};
    case Change::New: return {"new"};
    case Change::Better: return {"better", Style::Good};
    case Change::OtherCode: return {"other code"};
    case Change::Same: return {"same", Style::Faint};
  }
  return "";
}

Table::Cell notesCell(const Row& row, std::string_view arrow) {
  if (!row.isCompared()) return diff::notesOf(row.any());
  const std::string before = diff::notesOf(*row.before), after = diff::notesOf(*row.after);
  if (before == after && row.newNotes.empty()) return after == "none" ? "" : after;
  const bool failed =
      std::ranges::any_of(row.regressions, [](const auto& r) { return r.limit.measure == ptxas::Measure::Notes; });
  return {fmt::format("{}{}{}", before, arrow, after), failed                  ? Style::Bad
                                                       : !row.newNotes.empty() ? Style::Doubtful
                                                                               : Style::Good};
}

// ---- the table ----

struct Figure {
  std::string_view head;
  ptxas::Measure measure;
  bool isPercent;
  bool alwaysShown;
};
constexpr Figure kFigures[] = {
    {"registers", ptxas::Measure::Registers, false, true},
    {"spills", ptxas::Measure::Spills, false, true},
    {"stack", ptxas::Measure::Stack, false, false},
    {"instructions", ptxas::Measure::Instructions, true, true},
    {"inner loops", ptxas::Measure::Inner, true, false},
    {"warps", ptxas::Measure::Warps, false, true},
    {"cycles", ptxas::Measure::Cycles, true, false},
};

struct Columns {
  bool files = false, architectures = false, shared = false, notes = false;
  std::vector<Figure> figures;
};

Columns columnsFor(const Result& result, const std::vector<std::size_t>& rows) {
  Columns columns;
  std::set<std::string> files, architectures;
  for (const Row& row : result.rows) {
    files.insert(row.file);
    architectures.insert(row.architecture);
    columns.architectures = columns.architectures || !row.oldArchitecture.empty();
  }
  columns.files = files.size() > 1;
  columns.architectures = columns.architectures || architectures.size() > 1;
  const auto any = [&](const auto& isThere) {
    return std::any_of(rows.begin(), rows.end(), [&](std::size_t i) {
      const Row& row = result.rows[i];
      return (row.before && isThere(*row.before)) || (row.after && isThere(*row.after));
    });
  };
  for (const Figure& figure : kFigures)
    if (figure.alwaysShown ||
        any([&](const ptxas::FunctionMeasures& f) { return value(f, figure.measure).value_or(0) != 0; }))
      columns.figures.push_back(figure);
  columns.notes = any([](const ptxas::FunctionMeasures& f) { return f.notes && !f.notes->empty(); });
  // Shared memory is the source's business: only where it changes.
  columns.shared = std::any_of(rows.begin(), rows.end(), [&](std::size_t i) {
    const Row& row = result.rows[i];
    return row.isCompared() && row.before->shared != row.after->shared;
  });
  return columns;
}

std::string fromTo(const std::string& from, const std::string& to, std::string_view arrow) {
  return from.empty() ? to : from + std::string(arrow) + to;
}

Table makeTable(const Result& result, const Columns& columns, const std::vector<std::string>& names,
                std::span<const std::size_t> rows, std::string_view arrow) {
  std::vector<Table::Column> heads = {{""}, {"kernel", Table::Align::Left, true}};
  if (columns.files) heads.push_back({"file", Table::Align::Left, true});
  if (columns.architectures) heads.push_back({"for"});
  for (const Figure& figure : columns.figures) heads.push_back({std::string(figure.head), Table::Align::Right});
  if (columns.shared) heads.push_back({"shared", Table::Align::Right});
  if (columns.notes) heads.push_back({"notes"});
  Table table(std::move(heads));
  const FigureCells figures(arrow);
  for (const std::size_t i : rows) {
    const Row& row = result.rows[i];
    std::vector<Table::Cell> cells = {changeCell(row), {names[i], Style::Plain, true}};
    if (columns.files) cells.push_back({fromTo(row.oldFile, row.file, arrow), Style::Plain, true});
    if (columns.architectures) cells.emplace_back(fromTo(row.oldArchitecture, row.architecture, arrow));
    for (const Figure& figure : columns.figures) {
      const auto before = row.before ? value(*row.before, figure.measure) : std::nullopt;
      auto after = row.after ? value(*row.after, figure.measure) : std::nullopt;
      if (before && after) after = ptxas::valueAfter(*row.before, *row.after, figure.measure);
      const bool failed = std::any_of(row.regressions.begin(), row.regressions.end(),
                                      [&](const auto& r) { return r.limit.measure == figure.measure; });
      cells.push_back(
          figures.cell(before, after, row, figure.isPercent, ptxas::isMoreBetter(figure.measure) ? -1 : 1, failed));
    }
    if (columns.shared)
      cells.push_back(figures.cell(row.before ? std::optional(row.before->shared) : std::nullopt,
                                   row.after ? std::optional(row.after->shared) : std::nullopt, row, false, 0,
                                   false));
    if (columns.notes) cells.push_back(notesCell(row, arrow));
    table.addRow(std::move(cells));
  }
  return table;
}

std::vector<std::size_t> shownRows(const Result& result, bool all) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < result.rows.size(); ++i)
    if (all || result.rows[i].change != Change::Same) rows.push_back(i);
  return rows;
}

// What the figures of the table do not say, a line each.
std::vector<std::string> detailLines(const Result& result, const std::vector<std::size_t>& rows,
                                     const std::vector<std::string>& names) {
  std::vector<std::string> lines;
  for (const std::size_t i : rows)
    for (const diff::Breach& b : result.rows[i].breaches) lines.push_back(names[i] + ": " + text(b));
  return lines;
}

// ---- sums ----

std::string countsOf(const Summary& s) {
  std::string out = fmt::format("{} compared", plural(s.compared, "kernel"));
  std::string parts;
  const auto add = [&](std::size_t n, std::string_view text) {
    if (n != 0) parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", n, text);
  };
  add(s.count(Change::Regression), s.count(Change::Regression) == 1 ? "regression" : "regressions");
  add(s.count(Change::Worse), "worse");
  add(s.count(Change::Better), "better");
  add(s.count(Change::OtherCode), "with other machine code only");
  add(s.count(Change::Same), "the same");
  if (s.sameCode != 0) parts += fmt::format(" ({} with the same machine code)", s.sameCode);
  add(s.count(Change::New), "new");
  add(s.count(Change::Missing), "missing");
  if (!parts.empty()) out += ": " + parts;
  if (s.functions != 0) out += fmt::format("; and {}", plural(s.functions, "device function"));
  return out;
}

std::string meansOf(const Summary& s, std::string_view arrow) {
  std::string out;
  const auto add = [&](std::string_view name, const std::optional<double>& mean) {
    if (mean)
      out += fmt::format("{}{} {:.3f}", out.empty() ? "geometric means of after / before: " : ", ", name, *mean);
  };
  add("registers", s.registers);
  add("instructions", s.instructions);
  add("innermost loops", s.inner);
  add("warps", s.warps);
  add("cycles", s.cycles);
  if (s.spillsBefore && s.spillsAfter && (*s.spillsBefore != 0 || *s.spillsAfter != 0))
    out += fmt::format("{}spills of all {}{}{} bytes", out.empty() ? "" : "; ", *s.spillsBefore, arrow,
                       *s.spillsAfter);
  return out;
}

// `shown`: of a name, which a baseline may have from anywhere.
std::vector<std::string> summaryLines(const Result& result, std::string_view arrow,
                                      std::string (*shown)(std::string_view)) {
  std::vector<std::string> lines;
  if (result.isOneSide) return lines;
  const auto add = [&](const Summary& s, const std::string& prefix) {
    lines.push_back(prefix + countsOf(s));
    if (const std::string means = meansOf(s, arrow); !means.empty()) lines.push_back(prefix + means);
  };
  for (const Summary& s : result.architectures) add(s, shown(s.architecture) + ": ");
  add(result.all, result.architectures.empty() ? "" : "all: ");
  return lines;
}

// ---- markdown ----

std::string folded(std::string_view summary, const std::string& body) {
  return fmt::format("<details>\n<summary>{}</summary>\n\n{}\n</details>\n\n", summary, body);
}

std::string block(const std::vector<std::string>& lines) {
  return markdownBlock(lines, kMostLines, kMostLineBytes);
}

std::string span(const std::string& text) {
  return markdownCode(text.size() > kMostLineBytes ? text.substr(0, kMostLineBytes) + "..." : text,
                      MarkdownPlace::Sentence);
}

}  // namespace

std::string diffHeadline(const Result& result) {
  const Summary& s = result.all;
  const std::size_t regressions = static_cast<std::size_t>(std::count_if(
      result.rows.begin(), result.rows.end(), [](const Row& r) { return r.change == Change::Regression; }));
  if (s.compared == 0 && s.functions == 0) return "nothing was compared";
  const std::string in = plural(s.compared, "kernel");
  std::string out = result.isOneSide   ? regressions == 0 ? fmt::format("{} within the limits", in)
                                                          : fmt::format("{} of {} beyond a limit", regressions, in)
                      : regressions == 0 ? "no regression in " + in
                                       : plural(regressions, "regression") + " in " + in;
  if (!result.problems.empty()) out += "; not everything could be compared";
  return out;
}

std::string diffText(const Result& result, const DiffOutputOptions& options) {
  constexpr std::string_view kArrow = " -> ";
  std::string out;
  const auto rows = shownRows(result, options.all);
  const auto names = displayNames(result.rows, {options.mangled, options.nameWidth});
  if (!rows.empty()) {
    const Table table = makeTable(result, columnsFor(result, rows), names, rows, kArrow);
    out += table.text({options.colours, options.width}) + "\n";
  }
  const std::vector<std::string> details = detailLines(result, rows, names);
  for (const std::string& line : details) out += printable(line) + "\n";
  if (!details.empty()) out += "\n";
  if (!options.code.empty()) out += options.code + "\n";
  for (const std::string& line : summaryLines(result, kArrow, printable)) out += line + "\n";
  for (std::size_t i = 0; i < std::min(result.notes.size(), kMostLines); ++i)
    out += styled("note: ", Style::Strong, options.colours) + printable(result.notes[i]) + "\n";
  if (result.notes.size() > kMostLines) out += fmt::format("and {} notes more\n", result.notes.size() - kMostLines);
  const auto verdict = result.verdict();
  out += styled(diffHeadline(result), verdict == Result::Verdict::Ok ? Style::Good : Style::Bad, options.colours);
  out += result.isOneSide ? "\n" : fmt::format(" (--fail-on {})\n", result.failOn.text());
  return out;
}

std::string diffMarkdown(const Result& result, const DiffOutputOptions& options) {
  constexpr std::string_view kArrow = "\u00a0→\u00a0";  // figures are not to be torn apart
  const char* const sign = result.verdict() == Result::Verdict::Ok ? "✅" : "❌";
  std::string head = fmt::format("{}\n### {} ptxopt diff: {}\n\n", kMark, sign, diffHeadline(result));
  if (!result.problems.empty()) {
    std::vector<std::string> lines;
    for (const diff::Problem& p : result.problems) {
      // What ptxas says has lines of its own.
      std::istringstream said(text(p));
      for (std::string line; std::getline(said, line);) lines.push_back(line);
    }
    head += "Not compared:\n\n" + block(lines) + "\n";
  }

  std::string tail;
  std::vector<std::string> sums = summaryLines(result, kArrow, markdownText);
  const std::size_t left = sums.size() > kMostSums ? sums.size() - kMostSums : 0;
  if (left != 0) tail += fmt::format("- {} more lines of sums are left out\n", left);
  for (std::size_t i = left; i < sums.size(); ++i) tail += "- " + sums[i] + "\n";  // that of all is the last
  tail += "\n";
  if (!result.notes.empty()) tail += folded(plural(result.notes.size(), "note"), block(result.notes));
  tail += fmt::format("<sub>before: {}, after: {}", span(result.before), span(result.after));
  const std::string& ptxas = result.ptxasAfter.empty() ? result.ptxasBefore : result.ptxasAfter;
  if (!ptxas.empty()) tail += fmt::format("; ptxas {}", span(ptxas));
  tail += fmt::format(
      "; fails on {}; registers a thread, spills and stack in bytes, resident warps of a multiprocessor"
      "</sub>\n",
      span(result.failOn.text()));

  const auto rows = shownRows(result, options.all);
  const auto names = displayNames(result.rows, {options.mangled, options.nameWidth});
  if (const auto lines = detailLines(result, rows, names); !lines.empty()) {
    std::string details;
    for (std::size_t i = 0; i < std::min(lines.size(), kMostLines); ++i)
      details += "- " + markdownText(lines[i]) + "\n";
    if (lines.size() > kMostLines) details += fmt::format("- and {} lines more\n", lines.size() - kMostLines);
    tail.insert(0, details + "\n");
  }
  const Columns columns = columnsFor(result, rows);
  const auto body = [&](std::size_t count) {
    if (count == 0) return std::string();
    const std::span<const std::size_t> shown = std::span(rows).first(count);
    const std::size_t open = std::min(count, kRowsBeforeFold);
    std::string out = makeTable(result, columns, names, shown.first(open), kArrow).markdown() + "\n";
    if (count > open)
      out += folded(fmt::format("{} more", count - open),
                    makeTable(result, columns, names, shown.subspan(open), kArrow).markdown());
    return out;
  };
  std::size_t count = rows.size();
  std::string table = body(count);
  while (head.size() + table.size() + tail.size() > kMostCommentBytes && count != 0) {
    count = count * 3 / 4;
    table = body(count);
  }
  if (count != rows.size())
    table +=
        fmt::format("{} more rows are left out: a comment has at most 65,536 characters.\n\n", rows.size() - count);
  return head + table + tail;
}

}  // namespace ptxopt::tool
