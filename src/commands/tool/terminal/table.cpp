// The width of a column is that of its widest cell. Where the sum is too large, the widest column that may give way
// loses one column of text at a time, down to 12.
#include "tool/terminal/table.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "support/printable.h"
#include "tool/terminal/markdown.h"

namespace ptxopt::tool {
namespace {

constexpr std::string_view kGap = "  ";
constexpr std::size_t kLeastWidth = 12;  // of a column that gives way

}  // namespace

Table::Cell::Cell(std::string what, Style how, bool code) : text(std::move(what)), style(how), isCode(code) {}
Table::Cell::Cell(const char* what, Style how, bool code) : text(what), style(how), isCode(code) {}

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

void Table::addRow(std::vector<Cell> cells) {
  assert(cells.size() <= columns_.size());
  for (Cell& cell : cells) {
    cell.text = printable(cell.text);
    std::replace(cell.text.begin(), cell.text.end(), '\t', ' ');
  }
  cells.resize(columns_.size(), Cell(""));
  rows_.push_back({std::move(cells), std::exchange(rule_, false)});
}

void Table::addRule() { rule_ = true; }

std::vector<std::size_t> Table::widths(const std::vector<Row>& rows, std::size_t limit) const {
  std::vector<std::size_t> widths(columns_.size(), 0);
  std::size_t sum = 0;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    for (const Row& row : rows) widths[c] = std::max(widths[c], displayWidth(row.cells[c].text));
    sum += widths[c] + (c == 0 ? 0 : kGap.size());
  }
  // The widest that may give way loses a column at a time: tables are narrow.
  while (limit != 0 && sum > limit) {
    std::size_t widest = columns_.size();
    for (std::size_t c = 0; c < columns_.size(); ++c)
      if (columns_[c].shrinks && widths[c] > kLeastWidth &&
          (widest == columns_.size() || widths[c] > widths[widest]))
        widest = c;
    if (widest == columns_.size()) break;
    --widths[widest];
    --sum;
  }
  return widths;
}

std::string Table::text(const TextOptions& options) const {
  std::vector<Row> rows = {{{}, false}};
  for (const Column& column : columns_) rows[0].cells.emplace_back(column.head, Style::Strong);
  rows.insert(rows.end(), rows_.begin(), rows_.end());
  const std::size_t limit = options.width == 0 ? 0 : std::max(options.width, options.indent.size() + 1);
  const std::vector<std::size_t> wide = widths(rows, limit == 0 ? 0 : limit - options.indent.size());

  std::string out;
  for (const Row& row : rows) {
    std::size_t lineWidth = 0;
    std::string line;
    std::size_t owed = 0;  // blanks to write before the next text, so that none end a line
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const std::string text = shortened(row.cells[c].text, std::max<std::size_t>(wide[c], 3));
      const std::size_t width = displayWidth(text), blanks = wide[c] - std::min(wide[c], width);
      if (c != 0) owed += kGap.size();
      if (columns_[c].align == Align::Right) owed += blanks;
      if (!text.empty()) {
        line += std::string(owed, ' ') + styled(text, row.cells[c].style, options.colours);
        owed = 0;
      }
      if (columns_[c].align == Align::Left) owed += blanks;
      lineWidth += wide[c] + (c == 0 ? 0 : kGap.size());
    }
    if (row.ruleBefore) out += std::string(options.indent) + std::string(lineWidth, '-') + "\n";
    out += line.empty() ? "\n" : std::string(options.indent) + line + "\n";
  }
  return out;
}

std::string Table::markdown() const {
  std::string out = "|", rule = "|";
  for (const Column& column : columns_) {
    out += " " + markdownText(column.head) + " |";
    rule += column.align == Align::Right ? "---:|" : "---|";
  }
  out += "\n" + rule + "\n";
  for (const Row& row : rows_) {
    out += "|";
    for (const Cell& cell : row.cells) {
      const bool isBold = cell.style == Style::Bad || cell.style == Style::Strong || row.ruleBefore;
      std::string text = cell.isCode ? markdownCode(cell.text, MarkdownPlace::Cell) : markdownText(cell.text);
      if (cell.text.empty())
        text.clear();
      else if (isBold)
        text.insert(0, "**").append("**");
      out += text.empty() ? " |" : " " + text + " |";
    }
    out += "\n";
  }
  return out;
}

}  // namespace ptxopt::tool
