// One table describes the figures, and another gives the order in which columns are dropped where the terminal is
// narrow; columns without differences are dropped first. A detail line is added only where the figures do not show what
// decided.
#include "tool/commands/diff_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "diff/output.h"

namespace ptxopt::tool {
namespace {

// In the order of DiffFigure.
constexpr DiffFigureInfo kFigures[] = {
    {"regs", "registers", ptxas::Measure::Registers, false, true},
    {"spills", "spills", ptxas::Measure::Spills, false, true},
    {"stack", "stack", ptxas::Measure::Stack, false, false},
    {"sass", "instructions", ptxas::Measure::Instructions, true, true},
    {"inner", "inner loops", ptxas::Measure::Inner, true, false},
    {"warps", "warps", ptxas::Measure::Warps, false, true},
    {"cycles", "cycles", ptxas::Measure::Cycles, true, false},
    {"shared", "shared", std::nullopt, false, false},
    {"notes", "notes", ptxas::Measure::Notes, false, false},
    {"compile-time", "compile time (ms)", ptxas::Measure::CompileTime, true, false},
};
// Which go first where there is no room.
constexpr DiffFigure kDropped[] = {DiffFigure::Notes, DiffFigure::Shared, DiffFigure::Stack,
                                   DiffFigure::Inner, DiffFigure::Cycles, DiffFigure::Instructions,
                                   DiffFigure::Warps};

const DiffFigureInfo& infoOf(DiffFigure f) { return kFigures[static_cast<std::size_t>(f)]; }

}  // namespace

std::span<const DiffFigureInfo> diffFigures() { return kFigures; }

std::optional<uint64_t> figureOf(const ptxas::FunctionMeasures& f, DiffFigure figure) {
  const auto measure = infoOf(figure).measure;
  return measure ? value(f, *measure) : f.shared;
}

DiffFigures figuresOf(const diff::Row& row, DiffFigure figure) {
  const auto measure = infoOf(figure).measure;
  DiffFigures f;
  if (row.before) f.before = figureOf(*row.before, figure);
  if (row.after) f.after = figureOf(*row.after, figure);
  if (measure && f.before && f.after) f.after = ptxas::valueAfter(*row.before, *row.after, *measure);
  f.differ = row.isCompared() && f.before != f.after;
  if (measure == ptxas::Measure::Notes)
    f.differ = row.isCompared() && diff::notesOf(*row.before) != diff::notesOf(*row.after);
  return f;
}

std::string_view changeWord(const diff::Row& row) {
  if (row.change != diff::Change::Regression) return name(row.change);
  return !row.after ? "missing" : row.regressions.empty() ? "limit" : "regression";
}

std::string decidedBy(const diff::Row& row) {
  if (!row.regressions.empty()) return std::string(name(row.regressions[0].limit.measure));
  if (row.change != diff::Change::Worse && row.change != diff::Change::Better) return {};
  return std::string(name(row.by.by));
}

namespace {

Style styleOf(const diff::Row& row, DiffFigure figure, const DiffFigures& f) {
  const auto measure = infoOf(figure).measure;
  if (measure && std::ranges::any_of(row.regressions, [&](const auto& r) { return r.limit.measure == *measure; }))
    return Style::Bad;
  if (!measure || !f.before || !f.after) return Style::Plain;
  if (figure == DiffFigure::CompileTime) return Style::Plain;  // noise, unless it fails
  if (measure == ptxas::Measure::Notes) return row.newNotes.empty() ? Style::Good : Style::Doubtful;
  return (*f.after > *f.before) == ptxas::isMoreBetter(*measure) ? Style::Good : Style::Doubtful;
}

std::string shown(const std::optional<uint64_t>& v) { return v ? std::to_string(*v) : "?"; }

std::string notesShown(const ptxas::FunctionMeasures& f) {
  const std::string notes = diff::notesOf(f);
  return notes == "none" ? "-" : notes;
}

// "32 -> 40 (+8)", "100 -> 98 (-2.0%)", "32", "? -> 4".
Table::Cell markdownCell(const diff::Row& row, DiffFigure figure, std::string_view arrow) {
  const DiffFigures f = figuresOf(row, figure);
  if (figure == DiffFigure::Notes) {
    if (!f.differ) return notesShown(row.any());
    return {fmt::format("{}{}{}", notesShown(*row.before), arrow, notesShown(*row.after)), styleOf(row, figure, f)};
  }
  const std::optional<uint64_t>& only = row.after ? f.after : f.before;
  if (!f.differ) return only ? std::to_string(*only) : std::string();
  std::string text = fmt::format("{}{}{}", shown(f.before), arrow, shown(f.after));
  if (!f.before || !f.after) return text;
  const bool isMore = *f.after > *f.before;
  const uint64_t change = isMore ? *f.after - *f.before : *f.before - *f.after;
  if (infoOf(figure).isPercent && *f.before != 0)
    text += fmt::format(" ({}{:.1f}%)", isMore ? '+' : '-',
                        100.0 * static_cast<double>(change) / static_cast<double>(*f.before));
  else
    text += fmt::format(" ({}{})", isMore ? '+' : '-', change);
  return {text, styleOf(row, figure, f)};
}

Table::Cell changeCell(const diff::Row& row) {
  switch (row.change) {
    case diff::Change::Regression:
      return {!row.after ? "MISSING" : row.regressions.empty() ? "LIMIT" : "REGRESSION", Style::Bad};
    case diff::Change::Worse: return {"worse", Style::Doubtful};
    case diff::Change::Missing: return {"missing", Style::Doubtful};
    case diff::Change::New: return {"new"};
    case diff::Change::Better: return {"better", Style::Good};
    case diff::Change::OtherCode: return {"other code"};
    case diff::Change::Same: return {"same", Style::Faint};
  }
  return "";
}

// "by spills"
std::string byText(const diff::Row& row) {
  const std::string by = decidedBy(row);
  return by.empty() ? by : "by " + by;
}

std::string fromTo(const std::string& from, const std::string& to, std::string_view arrow) {
  return from.empty() ? to : from + std::string(arrow) + to;
}

// "a.ptx for sm_80".
std::string placeOf(const diff::Row& row, const DiffColumns& columns) {
  constexpr std::string_view kArrow = " -> ";
  std::string place = columns.files ? fromTo(row.oldFile, row.file, kArrow) : std::string();
  if (!columns.architectures) return place;
  if (!place.empty()) place += " for ";
  return place + fromTo(row.oldArchitecture, row.architecture, kArrow);
}

Table textTable(const diff::Result& result, const DiffColumns& columns, const std::vector<std::string>& names,
                std::span<const std::size_t> rows) {
  std::vector<Table::Column> heads = {{""}, {"kernel", Table::Align::Left, true}};
  for (const DiffFigure figure : columns.figures)
    heads.push_back(
        {std::string(infoOf(figure).name), figure == DiffFigure::Notes ? Table::Align::Left : Table::Align::Right});
  Table table(std::move(heads));
  for (const std::size_t i : rows) {
    const diff::Row& row = result.rows[i];
    const Table::Cell change = changeCell(row);
    std::vector<Table::Cell> first = {change, {names[i], Style::Plain, true}},
                             second = {{byText(row), change.style}, placeOf(row, columns)};
    bool isTwo = !second[0].text.empty() || !second[1].text.empty();
    for (const DiffFigure figure : columns.figures) {
      const DiffFigures f = figuresOf(row, figure);
      const bool isNotes = figure == DiffFigure::Notes;
      if (!f.differ) {
        const std::optional<uint64_t>& only = row.after ? f.after : f.before;
        first.emplace_back(isNotes ? notesShown(row.any()) : only ? std::to_string(*only) : std::string());
        second.emplace_back("");
        continue;
      }
      first.emplace_back(isNotes ? notesShown(*row.before) : shown(f.before));
      second.emplace_back(isNotes ? notesShown(*row.after) : shown(f.after), styleOf(row, figure, f));
      isTwo = true;
    }
    table.addRow(std::move(first));
    if (isTwo) table.addRow(std::move(second));
  }
  return table;
}

std::size_t widthOf(const std::string& text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    width = std::max(width, displayWidth(std::string_view(text).substr(at, end - at)));
    at = end + 1;
  }
  return width;
}

// Whether a figure of the table says what the verdict says.
bool isExplained(const diff::Row& row) {
  if (row.by.by == ptxas::Measure::Block) return false;  // no column has it
  const auto before = value(*row.before, row.by.by), after = ptxas::valueAfter(*row.before, *row.after, row.by.by);
  if (!before || !after || *before == *after) return false;
  return ((*after < *before) == ptxas::isMoreBetter(row.by.by)) == (row.by.sign > 0);
}

void addDetails(const diff::Row& row, const std::string& name, std::vector<std::string>& lines) {
  const auto add = [&](const std::string& line) { lines.push_back(name + ": " + line); };
  for (const diff::Breach& b : row.breaches) add(diff::text(b));
  if (!row.isCompared()) return;
  for (const ptxas::Note& note : row.newNotes) add(fmt::format("new note {}: {}", note.id, note.brief()));
  for (const ptxas::Note& note : newNotes(*row.after, *row.before))
    add(fmt::format("no longer {}: {}", note.id, note.brief()));
  if (row.by.sign != 0 && row.by.by != ptxas::Measure::Notes && row.change != diff::Change::Same &&
      !isExplained(row))
    add(fmt::format("{} by {}: {}", row.by.sign > 0 ? "worse" : "better", ptxas::name(row.by.by), row.by.text()));
  if (row.by.sign < 0 && !row.regressions.empty())
    add(fmt::format("fails by {}, and is better by {} to the guard, which looks at that first",
                    ptxas::name(row.regressions[0].limit.measure), ptxas::name(row.by.by)));
  if (row.change == diff::Change::OtherCode ||
      (!row.regressions.empty() && row.regressions[0].limit.measure == ptxas::Measure::Code))
    add(codeText(row));
}

}  // namespace

std::optional<std::vector<DiffFigure>> parseColumns(std::string_view text, std::string& error) {
  std::vector<DiffFigure> figures;
  for (;;) {
    const std::string_view word = text.substr(0, text.find(','));
    const auto it = std::ranges::find(kFigures, word, &DiffFigureInfo::name);
    if (it == std::end(kFigures)) {
      std::string names;
      for (const DiffFigureInfo& info : kFigures)
        names += fmt::format("{}{}", names.empty() ? "" : ", ", info.name);
      error = fmt::format("--columns: '{}': not one of {}", word, names);
      return std::nullopt;
    }
    const auto figure = static_cast<DiffFigure>(it - std::begin(kFigures));
    if (std::ranges::find(figures, figure) != figures.end()) {
      error = fmt::format("--columns: '{}': named twice", word);
      return std::nullopt;
    }
    figures.push_back(figure);
    if (word.size() == text.size()) return figures;
    text.remove_prefix(word.size() + 1);
  }
}

DiffColumns columnsFor(const diff::Result& result, std::span<const std::size_t> rows,
                       const std::vector<DiffFigure>& wanted, bool isText) {
  DiffColumns columns;
  std::set<std::string> files, architectures;
  for (const diff::Row& row : result.rows) {
    files.insert(row.file);
    architectures.insert(row.architecture);
    columns.architectures = columns.architectures || !row.oldArchitecture.empty();
  }
  columns.files = files.size() > 1;
  columns.architectures = columns.architectures || architectures.size() > 1;
  columns.figures = wanted;
  if (!wanted.empty()) return columns;
  for (std::size_t n = 0; n < std::size(kFigures); ++n) {
    const auto figure = static_cast<DiffFigure>(n);
    if (isText && figure == DiffFigure::Notes) continue;  // they have lines of their own
    const bool isOfInterest =
        kFigures[n].isAlwaysShown || std::ranges::any_of(rows, [&](std::size_t i) {
          const DiffFigures f = figuresOf(result.rows[i], figure);
          // Shared memory is the source's business: only where it changes.
          if (figure == DiffFigure::CompileTime) return f.before || f.after;  // only where it was asked for
          return figure == DiffFigure::Shared ? f.differ : f.before.value_or(0) != 0 || f.after.value_or(0) != 0;
        });
    if (isOfInterest) columns.figures.push_back(figure);
  }
  return columns;
}

std::string diffTextTable(const diff::Result& result, DiffColumns columns, const std::vector<std::string>& names,
                          std::span<const std::size_t> rows, bool colours, std::size_t width) {
  const auto differs = [&](DiffFigure figure) {
    return std::ranges::any_of(rows, [&](std::size_t i) { return figuresOf(result.rows[i], figure).differ; });
  };
  std::size_t kernelWidth = 0;
  for (const std::size_t i : rows)
    kernelWidth = std::max({kernelWidth, displayWidth(names[i]), displayWidth(placeOf(result.rows[i], columns))});
  // Names keep more room where nothing else would be lost.
  constexpr std::size_t kName = 24, kLeastName = 12;
  std::string left;
  for (const bool isOther : {false, true})
    for (const DiffFigure figure : kDropped) {
      const std::size_t others = widthOf(textTable(result, columns, names, rows).text({})) - kernelWidth;
      if (width == 0 || others + std::min(kernelWidth, isOther ? kLeastName : kName) <= width) break;
      if (differs(figure) != isOther || std::erase(columns.figures, figure) == 0 || !isOther) continue;
      left += fmt::format("{}{}", left.empty() ? "" : ",", infoOf(figure).name);
    }
  const Table table = textTable(result, columns, names, rows);
  std::string out = table.text({colours, width});
  if (!left.empty()) out += fmt::format("no room for {}: --columns\n", left);
  return out;
}

Table diffMarkdownTable(const diff::Result& result, const DiffColumns& columns,
                        const std::vector<std::string>& names, std::span<const std::size_t> rows,
                        std::string_view arrow) {
  std::vector<Table::Column> heads = {{""}, {"kernel", Table::Align::Left, true}};
  if (columns.files) heads.push_back({"file", Table::Align::Left, true});
  if (columns.architectures) heads.push_back({"for"});
  for (const DiffFigure figure : columns.figures)
    heads.push_back(
        {std::string(infoOf(figure).head), figure == DiffFigure::Notes ? Table::Align::Left : Table::Align::Right});
  Table table(std::move(heads));
  for (const std::size_t i : rows) {
    const diff::Row& row = result.rows[i];
    Table::Cell change = changeCell(row);
    if (const std::string by = byText(row); !by.empty()) change.text += " " + by;
    std::vector<Table::Cell> cells = {std::move(change), {names[i], Style::Plain, true}};
    if (columns.files) cells.push_back({fromTo(row.oldFile, row.file, arrow), Style::Plain, true});
    if (columns.architectures) cells.emplace_back(fromTo(row.oldArchitecture, row.architecture, arrow));
    for (const DiffFigure figure : columns.figures) cells.push_back(markdownCell(row, figure, arrow));
    table.addRow(std::move(cells));
  }
  return table;
}

std::vector<std::string> detailLines(const diff::Result& result, std::span<const std::size_t> rows,
                                     const std::vector<std::string>& names) {
  std::vector<std::string> lines;
  for (const std::size_t i : rows) addDetails(result.rows[i], names[i], lines);
  return lines;
}

}  // namespace ptxopt::tool
