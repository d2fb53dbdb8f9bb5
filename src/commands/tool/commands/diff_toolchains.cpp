// The summary counts kernels that are worse, better and the same, lists the first ten that are worse, and ends with the
// two commands that reproduce the first of them, quoted for a shell.
#include "tool/commands/diff_toolchains.h"

#include <fmt/format.h>

#include <filesystem>

#include "diff/names.h"
#include "diff/output.h"
#include "support/printable.h"

namespace ptxopt::tool {
namespace {

constexpr std::size_t kMostRows = 10;

bool isWorse(const diff::Row& row) {
  return row.isCompared() && (row.change == diff::Change::Regression || row.change == diff::Change::Worse);
}

// As a shell takes it.
std::string quoted(const std::string& word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace

std::string toolchainSummary(const diff::Result& result, const Toolchains& t, bool mangled) {
  using diff::Change;
  const diff::Summary& s = result.all;
  // A version is not known where it assembled nothing.
  std::string out = fmt::format("ptxas {} against {}", result.ptxasBefore.empty() ? t.before : result.ptxasBefore,
                                result.ptxasAfter.empty() ? t.after : result.ptxasAfter);
  if (!t.arguments.empty()) out += fmt::format(", options {}", fmt::join(t.arguments, " "));
  out += fmt::format(": of {} kernel{} {} worse, {} better, {} the same ({} with the same machine code)\n",
                     s.compared, s.compared == 1 ? "" : "s", s.count(Change::Regression) + s.count(Change::Worse),
                     s.count(Change::Better), s.count(Change::Same), s.sameCode);
  std::size_t shown = 0, left = 0;
  const diff::Row* first = nullptr;
  for (const diff::Row& row : result.rows) {
    if (!isWorse(row)) continue;
    if (first == nullptr) first = &row;
    if (++shown > kMostRows) {
      ++left;
      continue;
    }
    out += fmt::format("  {} for {} ({}): {}\n", printable(diff::fullName(row.name, {mangled, 0})),
                       row.architecture, printable(row.file), diff::differences(row));
  }
  if (left != 0) out += fmt::format("  and {} more\n", left);
  if (first == nullptr) return out;
  std::error_code ignored;
  const std::filesystem::path input = t.input;
  const std::string file =
      std::filesystem::is_directory(input, ignored) ? (input / first->file).string() : input.string();
  const auto line = [&](const std::string& program) {
    std::string text = fmt::format("  {} -arch={} -v", quoted(program), first->architecture);
    for (const std::string& argument : t.arguments) text += " " + quoted(argument);
    return text + fmt::format(" {} -o /dev/null\n", quoted(file));
  };
  return out + "to reproduce the first:\n" + line(t.before) + line(t.after);
}

}  // namespace ptxopt::tool
