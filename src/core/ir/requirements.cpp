// Rows of requirements.def are indexed by base opcode, and the needs of all rows whose words an opcode has are
// combined: the greatest version, the intersection of the targets. A set of targets is a mask over the table of known
// ones.
#include "ir/requirements.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ptxopt {
namespace {

struct KnownTarget {
  std::string_view name;  // "90a"
  uint32_t since;
};
constexpr KnownTarget kTargets[] = {
#define PTX_TARGET(name, version) {name, version},
#include "ir/requirements.def"
};
static_assert(std::size(kTargets) < 64);

struct Row {
  std::string_view key;
  uint32_t version;
  std::string_view targets;
};
constexpr Row kOpcodes[] = {
#define PTX_REQUIRES(key, version, targets) {key, version, targets},
#include "ir/requirements.def"
};
constexpr Row kSpecials[] = {
#define PTX_REQUIRES_SPECIAL(name, version, targets) {name, version, targets},
#include "ir/requirements.def"
};
constexpr Row kDirectives[] = {
#define PTX_REQUIRES_DIRECTIVE(name, version, targets) {name, version, targets},
#include "ir/requirements.def"
};

struct Ended {
  std::string_view key, without;
  uint32_t version;
  std::string_view targets;
};
constexpr Ended kEnded[] = {
#define PTX_ENDED(key, without, version, targets) {key, without, version, targets},
#include "ir/requirements.def"
};

unsigned numberIn(std::string_view name) {
  unsigned n = 0;
  std::from_chars(name.data(), name.data() + name.size(), n);
  return n;
}

std::optional<std::size_t> placeOf(std::string_view target) {
  if (!target.starts_with("sm_")) return std::nullopt;
  const auto* at = std::ranges::find(kTargets, target.substr(3), &KnownTarget::name);
  if (at == std::end(kTargets)) return std::nullopt;
  return static_cast<std::size_t>(at - kTargets);
}

Requirement requirementOf(const Row& row) { return {std::max(row.version, 20u), TargetSet::of(row.targets)}; }

struct OpcodeRequirement {
  std::vector<std::string_view> words;
  Requirement needs;
};

const std::unordered_map<std::string_view, std::vector<OpcodeRequirement>>& opcodesByBase() {
  static const auto map = [] {
    std::unordered_map<std::string_view, std::vector<OpcodeRequirement>> made;
    for (const Row& row : kOpcodes) {
      auto words = opcodeParts(row.key);
      const std::string_view base = words.front();
      words.erase(words.begin());
      made[base].push_back({std::move(words), requirementOf(row)});
    }
    return made;
  }();
  return map;
}

}  // namespace

TargetSet TargetSet::all() { return TargetSet((uint64_t{1} << std::size(kTargets)) - 1); }

TargetSet TargetSet::of(std::string_view text) {
  if (text.empty()) return all();
  uint64_t bits = 0;
  for (std::size_t i = 0; i < std::size(kTargets); ++i) {
    const std::string_view name = kTargets[i].name;
    bool isIn = text.ends_with('+') && numberIn(name) >= numberIn(text);
    for (std::string_view rest = text; !rest.empty() && !isIn;) {
      const std::size_t blank = std::min(rest.find(' '), rest.size());
      isIn = rest.substr(0, blank) == name;
      rest.remove_prefix(std::min(blank + 1, rest.size()));
    }
    bits |= uint64_t{isIn} << i;
  }
  return TargetSet(bits);
}

bool TargetSet::has(std::string_view target) const {
  const auto place = placeOf(target);
  return !place || (bits_ >> *place & 1) != 0;
}

std::string TargetSet::least() const {
  const KnownTarget* best = nullptr;
  const auto order = [](const KnownTarget& t) { return std::pair(numberIn(t.name), t.since); };
  for (std::size_t i = 0; i < std::size(kTargets); ++i)
    if ((bits_ >> i & 1) != 0 && (best == nullptr || order(kTargets[i]) < order(*best))) best = &kTargets[i];
  return best == nullptr ? std::string() : "sm_" + std::string(best->name);
}

std::string TargetSet::text() const {
  constexpr std::size_t kMost = 4;
  const std::string first = least();
  if (first.empty()) return "none";
  if (*this == of(first.substr(3) + "+")) return first;
  std::string text;
  std::size_t count = 0;
  for (std::size_t i = 0; i < std::size(kTargets); ++i) {
    if ((bits_ >> i & 1) == 0) continue;
    if (++count > kMost) return text + ", ...";
    text += (text.empty() ? "sm_" : ", sm_") + std::string(kTargets[i].name);
  }
  return text;
}

void Requirement::add(const Requirement& other) {
  version = std::max(version, other.version);
  targets = targets & other.targets;
}

static std::vector<std::string_view> partsOf(const Module& module, const OpcodeForm& form) {
  std::string_view text = module.names[form.spelling];
  if (text.starts_with('\\')) text.remove_prefix(1);
  return opcodeParts(text);
}

std::optional<uint32_t> endOf(const Module& module, const OpcodeForm& form, std::string_view target) {
  const auto parts = partsOf(module, form);
  const auto isIn = [&](std::string_view word) { return std::ranges::find(parts, word) != parts.end(); };
  for (const Ended& row : kEnded)
    if (std::ranges::all_of(opcodeParts(row.key), isIn) && !isIn(row.without) &&
        TargetSet::of(row.targets).has(target))
      return row.version;
  return std::nullopt;
}

Requirement requirementOf(const Module& module, const OpcodeForm& form) {
  Requirement needs;
  const auto parts = partsOf(module, form);
  const auto rows = opcodesByBase().find(parts.front());
  if (rows == opcodesByBase().end()) return needs;
  for (const OpcodeRequirement& row : rows->second)
    if (std::ranges::all_of(row.words,
                            [&](std::string_view w) { return std::ranges::find(parts, w) != parts.end(); }))
      needs.add(row.needs);
  return needs;
}

Requirement requirementOfSpecial(std::string_view name) {
  if (name.starts_with('%')) name.remove_prefix(1);
  name = name.substr(0, name.find('.'));
  const auto* row = std::ranges::find(kSpecials, name, &Row::key);
  return row == std::end(kSpecials) ? Requirement() : requirementOf(*row);
}

std::optional<Requirement> requirementOfDirective(std::string_view word) {
  const auto* row = std::ranges::find(kDirectives, word, &Row::key);
  if (row == std::end(kDirectives)) return std::nullopt;
  return requirementOf(*row);
}

std::optional<uint32_t> versionOfTarget(std::string_view target) {
  const auto place = placeOf(target);
  if (!place) return std::nullopt;
  return kTargets[*place].since;
}

std::string versionText(uint32_t version) {
  return std::to_string(version / 10) + "." + std::to_string(version % 10);
}

}  // namespace ptxopt
