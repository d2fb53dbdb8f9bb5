// Similarity is the longest common subsequence of words, by dynamic programming. Candidates are taken from the best on,
// and kernels that tie are left unpaired.
#include "diff/pairing.h"

#include <fmt/format.h>

#include <algorithm>

namespace ptxopt::diff {
namespace {

constexpr double kLeastSimilar = 0.6;
constexpr double kLeastOfSameCode = 0.25;
constexpr double kSameCode = 1;  // counts more than any name
constexpr std::size_t kMostPairs = 250'000;
constexpr std::size_t kMostWords = 200;  // of a name that are looked at

// Words, numbers and signs; `_` parts words and is none.
std::vector<std::string_view> wordsOf(std::string_view name) {
  const auto isLetter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  std::vector<std::string_view> words;
  for (std::size_t i = 0; i < name.size() && words.size() < kMostWords;) {
    std::size_t end = i + 1;
    while (isLetter(name[i]) && end < name.size() && isLetter(name[end])) ++end;
    if (name[i] != '_' && name[i] != ' ') words.push_back(name.substr(i, end - i));
    i = end;
  }
  return words;
}

double similarity(const std::vector<std::string_view>& a, const std::vector<std::string_view>& b) {
  if (a.empty() || b.empty()) return 0;
  std::vector<std::size_t> last(b.size() + 1), now(b.size() + 1);
  for (const std::string_view word : a) {
    for (std::size_t j = 0; j < b.size(); ++j)
      now[j + 1] = word == b[j] ? last[j] + 1 : std::max(last[j + 1], now[j]);
    std::swap(last, now);
  }
  return 2.0 * static_cast<double>(last.back()) / static_cast<double>(a.size() + b.size());
}

// What each `*` of the pattern stands for, the shortest texts first.
bool matches(std::string_view pattern, std::string_view name, std::vector<std::string_view>& stars) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == name;
  if (!name.starts_with(pattern.substr(0, star))) return false;
  pattern.remove_prefix(star + 1);
  name.remove_prefix(star);
  const std::string_view next = pattern.substr(0, pattern.find('*'));
  for (std::size_t at = next.size() == pattern.size() ? name.size() - std::min(name.size(), next.size()) : 0;
       (at = name.find(next, at)) != std::string_view::npos; ++at) {
    stars.push_back(name.substr(0, at));
    if (matches(pattern, name.substr(at), stars)) return true;
    stars.pop_back();
  }
  return false;
}

}  // namespace

std::optional<PairRule> parsePair(std::string_view text, std::string& error) {
  const auto fail = [&](std::string_view why) -> std::optional<PairRule> {
    error = fmt::format("--pair '{}': {}", text, why);
    return std::nullopt;
  };
  const std::size_t at = text.find('=');
  if (at == std::string_view::npos) return fail("it is OLD=NEW");
  PairRule rule{std::string(text.substr(0, at)), std::string(text.substr(at + 1))};
  if (rule.before.empty() || rule.after.empty()) return fail("a name is empty");
  if (std::ranges::count(rule.after, '*') > std::ranges::count(rule.before, '*'))
    return fail("NEW has a * more than OLD");
  if (rule.before.find("**") != std::string::npos) return fail("** is one *");
  return rule;
}

std::optional<std::string> counterpartOf(const PairRule& rule, std::string_view name) {
  std::vector<std::string_view> stars;
  if (!matches(rule.before, name, stars)) return std::nullopt;
  std::string out;
  std::size_t next = 0;
  for (const char c : rule.after)
    if (c == '*')
      out += stars[next++];
    else
      out += c;
  return out;
}

std::vector<SimilarPair> similarPairs(const std::vector<Unpaired>& before, const std::vector<Unpaired>& after) {
  std::vector<SimilarPair> pairs;
  if (before.empty() || after.empty() || before.size() > kMostPairs / after.size()) return pairs;
  struct Candidate {
    double score;
    std::size_t before, after;
  };
  std::vector<std::vector<std::string_view>> wordsAfter;
  for (const Unpaired& f : after) wordsAfter.push_back(wordsOf(f.name));
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const auto words = wordsOf(before[i].name);
    for (std::size_t j = 0; j < after.size(); ++j) {
      const double names = similarity(words, wordsAfter[j]);
      const bool isSame = !before[i].code.empty() && before[i].code == after[j].code;
      if (names >= (isSame ? kLeastOfSameCode : kLeastSimilar))
        candidates.push_back({names + (isSame ? kSameCode : 0), i, j});
    }
  }
  std::ranges::stable_sort(candidates, std::ranges::greater(), &Candidate::score);
  // From the best on. Where several of one score share a kernel, nothing decides, and that kernel is done with.
  std::vector<bool> doneBefore(before.size()), doneAfter(after.size());
  for (std::size_t begin = 0, end = 0; begin < candidates.size(); begin = end) {
    std::vector<std::size_t> usesBefore(before.size()), usesAfter(after.size());
    for (end = begin; end < candidates.size() && candidates[end].score == candidates[begin].score; ++end) {
      const Candidate& c = candidates[end];
      if (doneBefore[c.before] || doneAfter[c.after]) continue;
      ++usesBefore[c.before];
      ++usesAfter[c.after];
    }
    for (std::size_t n = begin; n < end; ++n) {
      const Candidate& c = candidates[n];
      if (usesBefore[c.before] == 1 && usesAfter[c.after] == 1 && !doneBefore[c.before] && !doneAfter[c.after])
        pairs.push_back({c.before, c.after});
    }
    for (std::size_t i = 0; i < before.size(); ++i)
      if (usesBefore[i] != 0) doneBefore[i] = true;
    for (std::size_t j = 0; j < after.size(); ++j)
      if (usesAfter[j] != 0) doneAfter[j] = true;
  }
  return pairs;
}

}  // namespace ptxopt::diff
