// The rows of a comparison as a table: a line of figures for each side in the terminal, one line in markdown.
//
//                 kernel         regs  spills  stack  sass  inner  warps  cycles
//     REGRESSION  attention        96       0      0   946    176     16   23869
//      by spills  attention.ptx    64     192     96   997    208     32   31284
//
// In the second line only what differs is shown, so that a table of seven figures fits 80 columns. Where it does not, columns go
// in which nothing differs, then others, and a line says which.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diff/diff.h"
#include "tool/terminal/table.h"

namespace ptxopt::tool {

enum class DiffFigure : uint8_t {
  Registers,
  Spills,
  Stack,
  Instructions,
  Inner,
  Warps,
  Cycles,
  Shared,
  Notes,
  CompileTime
};
// What a table says of a figure.
struct DiffFigureInfo {
  std::string_view name, head;            // in text and --columns; in markdown
  std::optional<ptxas::Measure> measure;  // none: shared memory
  bool isPercent;
  bool isAlwaysShown;
};
std::span<const DiffFigureInfo> diffFigures();  // in the order of DiffFigure

// For a row. Empty where there is no such side, or nothing is known of both.
struct DiffFigures {
  std::optional<uint64_t> before, after;
  bool differ = false;
};
DiffFigures figuresOf(const diff::Row& row, DiffFigure figure);
std::optional<uint64_t> figureOf(const ptxas::FunctionMeasures& f, DiffFigure figure);

// "regression", "limit", "other-code": as a word.
std::string_view changeWord(const diff::Row& row);
// "spills": of a regression the first measure that fails, otherwise what decides. Empty where that is nothing.
std::string decidedBy(const diff::Row& row);

// "regs,spills": what --columns says. None, with the reason in `error`, where that makes no sense.
std::optional<std::vector<DiffFigure>> parseColumns(std::string_view text, std::string& error);

struct DiffColumns {
  bool files = false, architectures = false;
  std::vector<DiffFigure> figures;
};
// `wanted`: those of --columns; empty: what is of interest in these rows.
DiffColumns columnsFor(const diff::Result& result, std::span<const std::size_t> rows,
                       const std::vector<DiffFigure>& wanted, bool isText);

// `names`: of all rows. `width`: columns of the terminal; 0: as wide as it comes.
std::string diffTextTable(const diff::Result& result, DiffColumns columns, const std::vector<std::string>& names,
                          std::span<const std::size_t> rows, bool colours, std::size_t width);
Table diffMarkdownTable(const diff::Result& result, const DiffColumns& columns,
                        const std::vector<std::string>& names, std::span<const std::size_t> rows,
                        std::string_view arrow);

// What the figures of the table do not say, a line each: what decided, if no figure shows it; notes; limits; in what code differs.
std::vector<std::string> detailLines(const diff::Result& result, std::span<const std::size_t> rows,
                                     const std::vector<std::string>& names);

}  // namespace ptxopt::tool
