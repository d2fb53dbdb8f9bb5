// Tables for people: aligned text, with colours on a terminal, and GitHub's markdown of the same rows.
//
//     Table table({{"kernel", Table::Align::Left, true}, {"registers", Table::Align::Right}});
//     table.addRow({{"saxpy", Style::Plain, true}, {"40", Style::Good}});
//     table.addRule();
//     table.addRow({"all", "40"});
//     printAsked(table.text({.colours = hasColours(stderr), .width = terminalWidth(stderr, 0)}));
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tool/terminal/terminal.h"

namespace ptxopt::tool {

class Table {
 public:
  enum class Align : unsigned char { Left, Right };
  struct Column {
    std::string head;
    Align align = Align::Left;
    bool shrinks = false;  // gives way when the table is too wide: names
  };
  struct Cell {
    // Not explicit: a row is a list of texts.
    Cell(std::string what, Style how = Style::Plain, bool code = false);
    Cell(const char* what, Style how = Style::Plain, bool code = false);
    std::string text;
    Style style;
    bool isCode;  // markdown: a code span, in which nothing has a meaning
  };

  explicit Table(std::vector<Column> columns);
  // Cells that are not there are empty; there are no more than columns.
  void addRow(std::vector<Cell> cells);
  // A rule between the rows before and after it, for sums. Markdown has no rules: there the row after it is bold.
  void addRule();
  bool empty() const { return rows_.empty(); }
  std::size_t size() const { return rows_.size(); }

  struct TextOptions {
    bool colours = false;
    std::size_t width = 0;  // 0: as wide as it comes
    std::string_view indent = {};
  };
  // Each line ends with a line feed and has no blanks before it. Control characters are shown as '?'.
  std::string text(const TextOptions& options) const;
  // Bad and Strong are bold. Everything in cells is text, not markup.
  std::string markdown() const;

 private:
  struct Row {
    std::vector<Cell> cells;
    bool ruleBefore = false;
  };
  std::vector<std::size_t> widths(const std::vector<Row>& rows, std::size_t limit) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
  bool rule_ = false;  // the next row has one before it
};

}  // namespace ptxopt::tool
