// Which kernels belong together where their names say otherwise: as the user pairs them, and by similarity.
//
// --pair OLD=NEW names both as the PTX has them, as the source has them, or without parameters. `*` is any text, and stands in
// NEW for what it stood for in OLD, in order.
// Names are similar by the words that they share in order, of a source's name without parameters: 2 * shared / (words of
// one + words of the other). A template that got an argument keeps most of its words. Two kernels of the same machine code
// are paired where their names are less alike. Declines: less than kLeastSimilar, and kernels between which nothing decides.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptxopt::diff {

struct PairRule {
  std::string before, after;
  std::string text() const { return before + "=" + after; }
};
// None, with the reason in `error`, for what is not such a rule.
std::optional<PairRule> parsePair(std::string_view text, std::string& error);
// What the rule makes of the name; none: it is not about it.
std::optional<std::string> counterpartOf(const PairRule& rule, std::string_view name);

struct MatchOptions {
  std::vector<PairRule> pairs;  // before all else, the first that fits
  bool bySimilarity = false;
};

// A function that is not paired yet.
struct Unpaired {
  std::string name;  // as the source has it, without parameters
  std::string_view code;
};
struct SimilarPair {
  std::size_t before = 0, after = 0;
};
// Cost: the product of both numbers and of the words of their names. Nothing beyond kMostPairs of them.
std::vector<SimilarPair> similarPairs(const std::vector<Unpaired>& before, const std::vector<Unpaired>& after);

}  // namespace ptxopt::diff
