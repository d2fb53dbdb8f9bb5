// Rows in words, for what has no table.
#include <fmt/format.h>

#include "diff/output.h"
#include "support/printable.h"

namespace ptxopt::diff {

std::string notesOf(const ptxas::FunctionMeasures& f) {
  if (!f.notes) return "?";
  return f.notes->empty() ? "none" : ptxas::idsOf(*f.notes);
}

std::string codeText(const Row& row) {
  const std::string parts = row.codeDifference();
  return parts.empty() ? "other code" : fmt::format("other code ({})", parts);
}

std::string differences(const Row& row) {
  if (!row.isCompared()) return {};
  std::string out;
  for (std::size_t i = 0; i < ptxas::kMeasures; ++i) {
    const auto m = static_cast<ptxas::Measure>(i);
    if (m == ptxas::Measure::Notes) {
      if (ptxas::compareNotes(*row.before, *row.after).sign != 0)
        out += fmt::format("notes {} -> {}", notesOf(*row.before), notesOf(*row.after));
      continue;
    }
    if (m == ptxas::Measure::Code) {
      if (!row.hasSameCode().value_or(true)) out += (out.empty() ? "" : ", ") + codeText(row);
      continue;
    }
    const auto before = value(*row.before, m), after = ptxas::valueAfter(*row.before, *row.after, m);
    if (before && after && *before != *after)
      out += fmt::format("{}{} {} -> {}", out.empty() ? "" : ", ", name(m), *before, *after);
  }
  return out;
}

std::string text(const Regression& r) {
  if (r.limit.measure == ptxas::Measure::Code) return "other code";
  if (r.limit.measure == ptxas::Measure::Notes) {
    std::string notes;
    for (const ptxas::Note& note : r.notes)
      notes += fmt::format("{}{} ({})", notes.empty() ? "" : ", ", note.id, note.brief());
    return fmt::format("new note{}: {}", r.notes.size() == 1 ? "" : "s", notes);
  }
  std::string out = fmt::format("{} {} -> {}", name(r.limit.measure), r.before, r.after);
  if (r.limit.tolerance != 0)
    out += fmt::format(" ({}{} tolerated)", r.limit.tolerance, r.limit.isPercent ? "%" : "");
  return out;
}

std::string text(const Breach& b) {
  return fmt::format("{} {} (limit {})", b.bound.figure, b.value, b.bound.text());
}

std::string text(const Problem& p) {
  std::string out;
  if (p.side != Problem::Of::Both) out = p.side == Problem::Of::Before ? "before: " : "after: ";
  if (!p.file.empty()) out += printable(p.file);
  if (!p.architecture.empty()) out += (p.file.empty() ? "" : " for ") + printable(p.architecture);
  if (!p.file.empty() || !p.architecture.empty()) out += ": ";
  return out + p.message;
}

}  // namespace ptxopt::diff
