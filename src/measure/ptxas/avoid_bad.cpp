// Rows are filtered by their words in the text before anything is parsed. Edits are collected as ranges of the source
// and applied in order, so that all else keeps its text.
#include "ptxas/avoid_bad.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <variant>

#include "ptxas/bad_patterns.h"
#include "text/parse.h"

namespace ptxopt::ptxas {
namespace {

struct Edit {
  uint32_t begin, end;  // of the text
  std::string text;
};

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t from = text.find_first_not_of(kBlanks);
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(kBlanks) - from + 1);
}

// "max.s32 a, x, n;" with its last two operands swapped. Empty where it has another shape.
std::string swapped(std::string_view instruction) {
  const std::size_t last = instruction.rfind(','), semicolon = instruction.find(';');
  if (last == std::string_view::npos || last == 0 || semicolon == std::string_view::npos || semicolon < last ||
      instruction.find('/') != std::string_view::npos)
    return {};
  const std::size_t before = instruction.rfind(',', last - 1);
  if (before == std::string_view::npos) return {};
  return fmt::format("{}, {}, {}{}", instruction.substr(0, before),
                     trimmed(instruction.substr(last + 1, semicolon - last - 1)),
                     trimmed(instruction.substr(before + 1, last - before - 1)), instruction.substr(semicolon));
}

void addEdits(BadPattern pattern, const Module& module, std::string_view text, std::vector<Edit>& edits) {
  for (const Function& f : module.functions)
    for (const InstrId id : avoidable(pattern, module, f)) {
      const Instruction& i = f[id];
      if (pattern == BadPattern::TrapBeforeLabel) {
        edits.push_back({i.sourceEnd, i.sourceEnd, " exit;"});
      } else if (std::string other = swapped(text.substr(i.sourceBegin, i.sourceEnd - i.sourceBegin));
                 !other.empty()) {
        edits.push_back({i.sourceBegin, i.sourceEnd, std::move(other)});
      }
    }
}

}  // namespace

bool mayBeAvoided(std::string_view text) {
  return std::ranges::any_of(
      knownBadRows(), [&](const KnownBad& row) { return isAvoidable(row.pattern) && mayHave(text, row.pattern); });
}

std::optional<Avoided> avoidKnownBad(std::string_view text, const Release& release, std::string_view architecture) {
  std::vector<const KnownBad*> rows;
  for (const KnownBad& row : knownBadRows())
    if (isAvoidable(row.pattern) && concerns(row, release, architecture) && mayHave(text, row.pattern))
      rows.push_back(&row);
  if (rows.empty()) return std::nullopt;
  const auto parsed = text::parse(text);
  const auto* module = std::get_if<std::unique_ptr<Module>>(&parsed);
  if (module == nullptr) return std::nullopt;
  std::vector<Edit> edits;
  for (const KnownBad* row : rows) addEdits(row->pattern, **module, (*module)->source, edits);
  if (edits.empty()) return std::nullopt;
  std::ranges::sort(edits, {}, &Edit::begin);
  Avoided avoided;
  std::size_t at = 0;
  for (const Edit& edit : edits) {
    avoided.text += std::string((*module)->source.substr(at, edit.begin - at)) + edit.text;
    at = edit.end;
  }
  avoided.text += (*module)->source.substr(at);
  const std::vector<KnownBadHit> after = triggersIn(avoided.text, release, architecture);
  for (KnownBadHit& hit : triggersIn(text, release, architecture))
    if (std::ranges::none_of(after,
                             [&](const KnownBadHit& a) { return a.row == hit.row && a.function == hit.function; }))
      avoided.hits.push_back(std::move(hit));
  return avoided;
}

}  // namespace ptxopt::ptxas
