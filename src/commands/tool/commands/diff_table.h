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

enum class DiffFigure : uint8_t { Registers, Spills, Stack, Instructions, Inner, Warps, Cycles, Shared, Notes };
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
