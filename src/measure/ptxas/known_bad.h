// Releases of ptxas that are known to be at fault, and the texts that the fault reaches.
//
// The rows are data: known_bad.def, and known_bad_patterns.def for what a text has to have. A pattern is a predicate on
// the representation (bad_patterns.h). Rows without a pattern have no consequence for a text: they are listed, and no
// choice rests on them. Rows of a pattern that is a trigger, all that the fault needs, are warned of where a text has
// it, and the choice among several ptxas (choose.h) avoids them. Those of a part of what it needs are for `ptxopt
// check`.
// Cost: a text is parsed only where a row concerns the release and the architecture, and one of the words of its
// pattern stands in the text.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/module.h"

namespace ptxopt::ptxas {

struct PtxVersion;  // abilities.h

// "12.3.103" of ptxas: numbers that count from the left; what is not said is 0.
struct Release {
  std::array<unsigned, 3> numbers{};
  auto operator<=>(const Release&) const = default;
  bool isKnown() const { return numbers[0] != 0; }
};
// The version in "V12.3.103", "12.3.103", "12.3"; not known where the text is anything else.
Release releaseOf(std::string_view text);
std::string toText(const Release& release);  // "12.3.103"

enum class BadPattern : uint8_t {
#define PTXOPT_BAD_PATTERN(id, name, kind, words, summary) id,
#include "ptxas/known_bad_patterns.def"
#undef PTXOPT_BAD_PATTERN
};
enum class PatternKind : uint8_t { Trigger, Part, Any };
struct PatternRow {
  std::string_view name;
  PatternKind kind;
  std::string_view words, summary;
};
const PatternRow& rowOf(BadPattern pattern);

enum class BadEffect : uint8_t { WrongCode, Refuses, Crashes, Hangs };
std::string_view name(BadEffect effect);  // "wrong code"
enum class Evidence : uint8_t { Tried, Reported };
std::string_view name(Evidence evidence);  // "tried"

struct KnownBad {
  std::string_view name;
  std::string_view firstBad, firstGood;  // empty: the first there is; none is known
  std::string_view architectures;        // "90-", "100,103"; empty: all
  BadPattern pattern;
  BadEffect effect;
  Evidence evidence;
  std::string_view summary, seen, source;
};
std::span<const KnownBad> knownBadRows();

bool concerns(const KnownBad& row, const Release& release);
// `architecture`: "sm_90a"; empty or virtual: any.
bool concerns(const KnownBad& row, const Release& release, std::string_view architecture);
std::vector<const KnownBad*> knownBadOf(const Release& release);

// A function that has the pattern of a row.
struct KnownBadHit {
  const KnownBad* row = nullptr;
  std::string function;  // empty: the module has it outside of functions
  std::size_t line = 0;  // the first that has it; 0: of no one line
};
// By row, then in the order of the text: the functions that a row concerns for the release and the architecture. Rows without a pattern
// are not among them.
std::vector<KnownBadHit> knownBadIn(const Module& module, const Release& release, std::string_view architecture);
// Whether a word of the pattern stands in the text.
bool mayHave(std::string_view text, BadPattern pattern);
// Whether the text has a word of a trigger that some ptxas which takes `version` may hit for the architecture. Otherwise no ptxas has to be
// asked for its release. `version` is the text's own; not known: any ptxas.
bool mayHaveTrigger(std::string_view text, const PtxVersion& version, std::string_view architecture);
// The rows of triggers that concern a text; none of what is not PTX.
std::vector<KnownBadHit> triggersIn(std::string_view text, const Release& release, std::string_view architecture);

// The hits of triggers in which some ptxas that takes the module's .version is at fault.
std::vector<KnownBadHit> triggersOfAnyRelease(const Module& module);

// "ptxas 12.9.86 makes wrong code of kernel 'k', line 12: the constant ... (add-16x2-immediate; ptxas 13.1 does not): ADDRESS"
std::string warningOf(const KnownBadHit& hit, const Release& release);
// "ptxas 12.0 to before 13.1 makes wrong code of ...": of all releases.
std::string warningOf(const KnownBadHit& hit);

}  // namespace ptxopt::ptxas
