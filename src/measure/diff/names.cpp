// A name that is too long loses its parameters, then its template arguments, then its middle. Names that become equal
// within a file keep their full form.
#include "diff/names.h"

#include <fmt/format.h>

#include <map>
#include <tuple>

#include "support/demangle.h"

namespace ptxopt::diff {
namespace {

constexpr std::size_t kLeast = 8;

// What stands between the outermost `<` and `>` becomes dots.
std::string withoutTemplateArguments(const std::string& name) {
  std::string out;
  int depth = 0;
  for (const char c : name) {
    if (c == '>' && --depth == 0) out += "...";
    if (depth == 0) out += c;
    if (c == '<' && ++depth == 1 && out.back() != '<') out += c;
  }
  return depth == 0 ? out : name;
}

std::string shortName(const std::string& name, std::size_t width) {
  if (width == 0 || name.size() <= width) return name;
  const std::string bare = withoutParameters(name);
  std::string text = bare.size() < name.size() ? bare + "(...)" : name;
  if (text.size() > width) text = withoutTemplateArguments(text);
  if (text.size() <= width) return text;
  const std::size_t kept = std::max(width, kLeast) - 3;
  std::size_t head = (kept + 1) / 2, tail = text.size() - kept / 2;
  // No character is cut through.
  const auto isContinuation = [&](std::size_t i) { return (static_cast<unsigned char>(text[i]) & 0xC0) == 0x80; };
  while (head > 0 && isContinuation(head)) --head;
  while (tail < text.size() && isContinuation(tail)) ++tail;
  return text.substr(0, head) + "..." + text.substr(tail);
}

}  // namespace

std::string fullName(const std::string& name, const NameOptions& options) {
  if (options.mangled) return name;
  std::string text = demangled(name);
  if (text.empty()) return name;
  // The return type is part of the name of templates only, and says nothing of kernels.
  constexpr std::string_view kVoid = "void ";
  return text.starts_with(kVoid) ? text.substr(kVoid.size()) : text;
}

std::vector<std::string> displayNames(const std::vector<Row>& rows, const NameOptions& options) {
  using Place = std::tuple<std::string, std::string, std::string>;
  std::vector<std::string> names;
  std::map<Place, std::size_t> uses;
  for (const Row& row : rows) {
    names.push_back(shortName(fullName(row.name, options), options.width));
    ++uses[{row.file, row.architecture, names.back()}];
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    if (uses[{row.file, row.architecture, names[i]}] > 1) names[i] = fullName(row.name, options);
    if (!row.isKernel) names[i] += " (device function)";
    const std::string old = row.oldName.empty() ? std::string() : fullName(row.oldName, options);
    if (!old.empty() && old != fullName(row.name, options))
      names[i] += fmt::format(" (was {}{})", shortName(old, options.width),
                              row.pairedBy == PairedBy::Similarity ? ", by similarity" : "");
  }
  return names;
}

}  // namespace ptxopt::diff
