// Both writers use the same rows, sums and details. The markdown folds all but the first rows, and leaves out a quarter
// of them at a time until the comment is short enough for GitHub.
#include "tool/commands/diff_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <sstream>

#include "diff/output.h"
#include "support/printable.h"
#include "tool/commands/diff_table.h"
#include "tool/terminal/markdown.h"
#include "tool/terminal/messages.h"

namespace ptxopt::tool {
namespace {

constexpr std::size_t kMostCommentBytes = 60'000;
constexpr std::size_t kRowsBeforeFold = 20;
constexpr std::size_t kMostLines = 20;  // of notes, of problems
constexpr std::size_t kMostLineBytes = 600;
constexpr std::size_t kMostSums = 32;  // two for each architecture
constexpr std::string_view kMark = "<!-- ptxopt-diff -->";

std::string plural(std::size_t n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

// Who asks for the compile times of one side wants to see them.
bool isListed(const diff::Result& result, const diff::Row& row) {
  return result.isOneSide && row.any().compileTime.has_value();
}

std::vector<std::size_t> shownRows(const diff::Result& result, bool all) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < result.rows.size(); ++i)
    if (all || result.rows[i].change != diff::Change::Same || isListed(result, result.rows[i])) rows.push_back(i);
  return rows;
}

// ---- sums ----

std::string countsOf(const diff::Summary& s) {
  std::string out = fmt::format("{} compared", plural(s.compared, "kernel"));
  std::string parts;
  const auto add = [&](std::size_t n, std::string_view text) {
    if (n != 0) parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", n, text);
  };
  add(s.count(diff::Change::Regression), s.count(diff::Change::Regression) == 1 ? "regression" : "regressions");
  add(s.count(diff::Change::Worse), "worse");
  add(s.count(diff::Change::Better), "better");
  add(s.count(diff::Change::OtherCode), "with other machine code only");
  add(s.count(diff::Change::Same), "the same");
  if (s.sameCode != 0) parts += fmt::format(" ({} with the same machine code)", s.sameCode);
  add(s.count(diff::Change::New), "new");
  add(s.count(diff::Change::Missing), "missing");
  if (!parts.empty()) out += ": " + parts;
  if (s.functions != 0) out += fmt::format("; and {}", plural(s.functions, "device function"));
  return out;
}

std::string meansOf(const diff::Summary& s, std::string_view arrow) {
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
  if (s.compileTimeBefore)
    out += fmt::format("{}compile time of all {}{}{} ms", out.empty() ? "" : "; ", *s.compileTimeBefore, arrow,
                       *s.compileTimeAfter);
  return out;
}

// `shown`: of a name, which a baseline may have from anywhere.
std::vector<std::string> summaryLines(const diff::Result& result, std::string_view arrow,
                                      std::string (*shown)(std::string_view)) {
  std::vector<std::string> lines;
  if (result.isOneSide) {
    if (const auto& time = result.all.compileTimeAfter)
      lines.push_back(fmt::format("compile time of all {} ms", *time));
    return lines;
  }
  const auto add = [&](const diff::Summary& s, const std::string& prefix) {
    lines.push_back(prefix + countsOf(s));
    if (const std::string means = meansOf(s, arrow); !means.empty()) lines.push_back(prefix + means);
  };
  for (const diff::Summary& s : result.architectures) add(s, shown(s.architecture) + ": ");
  add(result.all, result.architectures.empty() ? "" : "all: ");
  return lines;
}

// In lines of at most `width` columns, if there are blanks to break them at; 0: one line.
std::string wrapped(const std::string& text, std::size_t width) {
  constexpr std::string_view kIndent = "    ";
  std::string out, line;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const bool isFirst = line.empty() || line == kIndent;
    if (width != 0 && !isFirst && displayWidth(line) + 1 + displayWidth(word) > width) {
      out += line + "\n";
      line = kIndent;
    }
    if (!line.empty() && line != kIndent) line += ' ';
    line += word;
  }
  return out + line;
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

std::vector<std::string> diffSummary(const diff::Result& result) {
  return summaryLines(result, " \u2192 ", printable);
}

void printProblems(std::string_view command, const std::vector<diff::Problem>& problems) {
  const std::size_t count = std::min(problems.size(), kMostLines);
  for (std::size_t i = 0; i < count; ++i)
    printError(fmt::format("ptxopt {}: error: {}\n", command, diff::text(problems[i])));
  if (count < problems.size())
    printError(fmt::format("ptxopt {}: error: and {} more\n", command, problems.size() - count));
}

std::string diffHeadline(const diff::Result& result) {
  const diff::Summary& s = result.all;
  const std::size_t regressions =
      static_cast<std::size_t>(std::count_if(result.rows.begin(), result.rows.end(), [](const diff::Row& r) {
        return r.change == diff::Change::Regression;
      }));
  if (s.compared == 0 && s.functions == 0) return "nothing was compared";
  const std::string in = plural(s.compared, "kernel");
  std::string out = result.isOneSide && result.bounds.empty() ? in
                    : result.isOneSide ? regressions == 0 ? fmt::format("{} within the limits", in)
                                                          : fmt::format("{} of {} beyond a limit", regressions, in)
                    : regressions == 0 ? "no regression in " + in
                                       : plural(regressions, "regression") + " in " + in;
  if (!result.problems.empty()) out += "; not everything could be compared";
  return out;
}

std::string diffText(const diff::Result& result, const DiffOutputOptions& options) {
  constexpr std::string_view kArrow = " -> ";
  std::string out;
  const auto rows = shownRows(result, options.all);
  const auto names = displayNames(result.rows, {options.mangled, options.nameWidth});
  const auto add = [&](const std::string& line) { out += wrapped(line, options.width) + "\n"; };
  if (!rows.empty()) {
    const DiffColumns columns = columnsFor(result, rows, options.columns, true);
    out += diffTextTable(result, columns, names, rows, options.colours, options.tableWidth) + "\n";
  }
  const std::vector<std::string> details = detailLines(result, rows, names);
  for (const std::string& line : details) add(printable(line));
  if (!details.empty()) out += "\n";
  if (!options.code.empty()) out += options.code + "\n";
  for (const std::string& line : summaryLines(result, kArrow, printable)) add(line);
  for (std::size_t i = 0; i < std::min(result.notes.size(), kMostLines); ++i)
    out += styled("note: ", Style::Strong, options.colours) +
           wrapped("note: " + printable(result.notes[i]), options.width).substr(std::string_view("note: ").size()) +
           "\n";
  if (result.notes.size() > kMostLines) out += fmt::format("and {} notes more\n", result.notes.size() - kMostLines);
  const auto verdict = result.verdict();
  out += styled(diffHeadline(result), verdict == diff::Result::Verdict::Ok ? Style::Good : Style::Bad,
                options.colours);
  const std::size_t passing = result.all.count(diff::Change::Worse);
  const std::string pass = passing == 0 ? std::string() : fmt::format("; {} worse by other measures", passing);
  out += result.isOneSide ? "\n" : fmt::format(" (--fail-on {}{})\n", result.failOn.text(), pass);
  return out;
}

std::string diffMarkdown(const diff::Result& result, const DiffOutputOptions& options) {
  constexpr std::string_view kArrow = "\u00a0→\u00a0";  // figures are not to be torn apart
  const char* const sign = result.verdict() == diff::Result::Verdict::Ok ? "✅" : "❌";
  std::string head = fmt::format("{}\n### {} ptxopt diff: {}\n\n", kMark, sign, diffHeadline(result));
  if (!result.problems.empty()) {
    std::vector<std::string> lines;
    for (const diff::Problem& p : result.problems) {
      // What ptxas says has lines of its own.
      std::istringstream said(diff::text(p));
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
      details += "- " + markdownText(lines[i].substr(0, kMostLineBytes)) + "\n";
    if (lines.size() > kMostLines) details += fmt::format("- and {} lines more\n", lines.size() - kMostLines);
    tail.insert(0, details + "\n");
  }
  const DiffColumns columns = columnsFor(result, rows, options.columns, false);
  const auto body = [&](std::size_t count) {
    if (count == 0) return std::string();
    const std::span<const std::size_t> shown = std::span(rows).first(count);
    const std::size_t open = std::min(count, kRowsBeforeFold);
    std::string out = diffMarkdownTable(result, columns, names, shown.first(open), kArrow).markdown() + "\n";
    if (count > open)
      out += folded(fmt::format("{} more", count - open),
                    diffMarkdownTable(result, columns, names, shown.subspan(open), kArrow).markdown());
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
