// A row concerns a text where the release, the architecture and one word of its pattern agree; only then is the text
// parsed and the predicate asked. Ranges of architectures and releases are read from the table's own spelling.
#include "ptxas/known_bad.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <variant>

#include "ptxas/abilities.h"
#include "ptxas/bad_patterns.h"
#include "text/parse.h"

namespace ptxopt::ptxas {
namespace {

constexpr PatternRow kPatterns[] = {
#define PTXOPT_BAD_PATTERN(id, name, kind, words, summary) {name, PatternKind::kind, words, summary},
#include "ptxas/known_bad_patterns.def"
#undef PTXOPT_BAD_PATTERN
};

constexpr KnownBad kKnownBad[] = {
#define PTXOPT_KNOWN_BAD(name, firstBad, firstGood, architectures, pattern, effect, evidence, summary, seen, \
                         source)                                                                             \
  {name,    firstBad, firstGood, architectures, BadPattern::pattern, BadEffect::effect, Evidence::evidence,  \
   summary, seen,     source},
#include "ptxas/known_bad.def"
#undef PTXOPT_KNOWN_BAD
};

// The number at the beginning of a text, which goes on after it; -1: there is none.
int takeNumber(std::string_view& text) {
  int number = -1;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
  if (end.ec != std::errc() || number < 0) return -1;
  text.remove_prefix(static_cast<std::size_t>(end.ptr - text.data()));
  return number;
}

// "90-", "-69", "100,103": whether the number is in one of the ranges.
bool isIn(int number, std::string_view ranges) {
  while (!ranges.empty()) {
    std::string_view range = ranges.substr(0, ranges.find(','));
    ranges.remove_prefix(std::min(ranges.size(), range.size() + 1));
    const int from = takeNumber(range);
    const bool isRange = range.starts_with('-');
    if (isRange) range.remove_prefix(1);
    const int to = isRange ? takeNumber(range) : from;
    if (number >= from && (to < 0 || number <= to)) return true;
  }
  return false;
}

template <typename Visit>
void forEachWord(std::string_view words, const Visit& visit) {
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find('|'));
    words.remove_prefix(std::min(words.size(), word.size() + 1));
    visit(word);
  }
}

void addHits(const KnownBad& row, const Module& module, std::vector<KnownBadHit>& to) {
  if (hasPattern(row.pattern, module)) to.push_back({&row, {}, 0});
  for (const Function& f : module.functions) {
    if (!f.hasBody) continue;
    const InstrId id = findPattern(row.pattern, module, f);
    if (id.valid())
      to.push_back({&row, std::string(module.text(f.name)), locate(module.source, f[id].sourceBegin).line});
  }
}

// The first ptxas that takes a .version: 8.N is that of 12.N, but that 12.6 has none of its own; 9.N that of 13.N.
Release firstReleaseWith(const PtxVersion& version) {
  constexpr unsigned kMajor12 = 8, kLastOfFirst = 5;
  if (version.major < kMajor12) return {{1, 0, 0}};
  return {
      {version.major + 4, version.minor + (version.major == kMajor12 && version.minor > kLastOfFirst ? 1 : 0), 0}};
}

// Whether it is a trigger that concerns the architecture in the release or a later one.
bool isTriggerFrom(const KnownBad& row, const Release& release, std::string_view architecture) {
  return rowOf(row.pattern).kind == PatternKind::Trigger &&
         concerns(row, std::max(release, releaseOf(row.firstBad)), architecture);
}

}  // namespace

Release releaseOf(std::string_view text) {
  Release release;
  if (text.starts_with('V')) text.remove_prefix(1);
  for (std::size_t part = 0; part < release.numbers.size(); ++part) {
    const int number = takeNumber(text);
    if (number < 0) return {};
    release.numbers[part] = static_cast<unsigned>(number);
    if (text.empty()) return release;
    if (!text.starts_with('.')) return {};
    text.remove_prefix(1);
  }
  return {};
}

std::string toText(const Release& release) {
  return fmt::format("{}.{}.{}", release.numbers[0], release.numbers[1], release.numbers[2]);
}

const PatternRow& rowOf(BadPattern pattern) { return kPatterns[static_cast<std::size_t>(pattern)]; }

std::string_view name(BadEffect effect) {
  constexpr std::string_view kNames[] = {"wrong code", "refuses", "crashes", "hangs"};
  return kNames[static_cast<std::size_t>(effect)];
}

std::string_view name(Evidence evidence) { return evidence == Evidence::Tried ? "tried" : "reported"; }

std::span<const KnownBad> knownBadRows() { return kKnownBad; }

bool concerns(const KnownBad& row, const Release& release) {
  return release.isKnown() && release >= releaseOf(row.firstBad) &&
         (row.firstGood.empty() || release < releaseOf(row.firstGood));
}

bool concerns(const KnownBad& row, const Release& release, std::string_view architecture) {
  if (!concerns(row, release)) return false;
  if (row.architectures.empty() || !architecture.starts_with("sm_")) return true;
  architecture.remove_prefix(3);
  return isIn(takeNumber(architecture), row.architectures);
}

std::vector<const KnownBad*> knownBadOf(const Release& release) {
  std::vector<const KnownBad*> rows;
  for (const KnownBad& row : kKnownBad)
    if (concerns(row, release)) rows.push_back(&row);
  return rows;
}

std::vector<KnownBadHit> knownBadIn(const Module& module, const Release& release, std::string_view architecture) {
  std::vector<KnownBadHit> hits;
  for (const KnownBad& row : kKnownBad) {
    if (concerns(row, release, architecture) && rowOf(row.pattern).kind != PatternKind::Any)
      addHits(row, module, hits);
  }
  return hits;
}

bool mayHave(std::string_view text, BadPattern pattern) {
  bool may = false;
  forEachWord(rowOf(pattern).words,
              [&](std::string_view w) { may = may || text.find(w) != std::string_view::npos; });
  return may;
}

bool mayHaveTrigger(std::string_view text, const PtxVersion& version, std::string_view architecture) {
  return std::ranges::any_of(kKnownBad, [&](const KnownBad& row) {
    return isTriggerFrom(row, firstReleaseWith(version), architecture) && mayHave(text, row.pattern);
  });
}

std::vector<KnownBadHit> triggersIn(std::string_view text, const Release& release, std::string_view architecture) {
  std::vector<const KnownBad*> rows;
  for (const KnownBad& row : kKnownBad)
    if (rowOf(row.pattern).kind == PatternKind::Trigger && concerns(row, release, architecture) &&
        mayHave(text, row.pattern))
      rows.push_back(&row);
  std::vector<KnownBadHit> hits;
  if (rows.empty()) return hits;
  const auto parsed = text::parse(text);
  const auto* module = std::get_if<std::unique_ptr<Module>>(&parsed);
  if (module == nullptr) return hits;
  for (const KnownBad* row : rows) addHits(*row, **module, hits);
  return hits;
}

std::vector<KnownBadHit> triggersOfAnyRelease(const Module& module) {
  const Release first = firstReleaseWith({module.versionMajor, module.versionMinor});
  std::vector<KnownBadHit> hits;
  for (const KnownBad& row : kKnownBad)
    if (isTriggerFrom(row, first, module.architecture())) addHits(row, module, hits);
  return hits;
}

namespace {

std::string warning(const KnownBadHit& hit, std::string_view releases, std::string_view good) {
  constexpr std::string_view kDoes[] = {"makes wrong code", "refuses what is right", "may crash", "may not end"};
  const KnownBad& row = *hit.row;
  std::string where = hit.function.empty() ? std::string("this text") : fmt::format("'{}'", hit.function);
  if (hit.line != 0) where += fmt::format(", line {}", hit.line);
  return fmt::format("ptxas {} {} of {}: {} ({}{}): {}", releases, kDoes[static_cast<std::size_t>(row.effect)],
                     where, row.summary, row.name, good, row.source);
}

}  // namespace

std::string warningOf(const KnownBadHit& hit, const Release& release) {
  const KnownBad& row = *hit.row;
  return warning(hit, toText(release), row.firstGood.empty() ? "" : fmt::format("; not from {} on", row.firstGood));
}

std::string warningOf(const KnownBadHit& hit) {
  const KnownBad& row = *hit.row;
  const std::string before = row.firstGood.empty() ? "" : fmt::format("before {}", row.firstGood);
  if (row.firstBad.empty()) return warning(hit, before, "");
  return warning(
      hit, before.empty() ? fmt::format("from {}", row.firstBad) : fmt::format("{} to {}", row.firstBad, before),
      "");
}

}  // namespace ptxopt::ptxas
