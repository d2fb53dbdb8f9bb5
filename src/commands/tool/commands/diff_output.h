// A comparison for people: a table in the terminal, and GitHub's markdown for pull requests.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "diff/diff.h"
#include "diff/names.h"
#include "tool/commands/diff_table.h"

namespace ptxopt::tool {

struct DiffOutputOptions {
  bool all = false;  // also what did not change
  bool mangled = false;
  bool colours = false;
  std::size_t width = 0;            // of lines of text; 0: as long as they come
  std::size_t tableWidth = 0;       // likewise
  std::vector<DiffFigure> columns;  // of --columns; empty: the usual ones
  std::string code;                 // of --show-code, after the table
  std::size_t nameWidth = 0;        // names longer than this are shortened; 0: none
};

// Without problems, which are messages.
std::string diffText(const diff::Result& result, const DiffOutputOptions& options);

// Begins with a mark by which a program finds its comment again. Long lists are folded, and cut before the text is
// too long for a comment (65,536 characters on GitHub).
std::string diffMarkdown(const diff::Result& result, const DiffOutputOptions& options);

// Sums over all kernels and for each architecture, a line each.
std::vector<std::string> diffSummary(const diff::Result& result);

// The first of them as messages of that command, and how many more there are.
void printProblems(std::string_view command, const std::vector<diff::Problem>& problems);

// "1 regression in 12 kernels".
std::string diffHeadline(const diff::Result& result);

}  // namespace ptxopt::tool
