// What may have been meant by a word that is not known.
#pragma once

#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ptxopt {

// How many characters are to be put in, left out, replaced, or exchanged with the next to make one the other.
inline std::size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> beforeLast, last(b.size() + 1), now(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = std::min(now[j], beforeLast[j - 2] + 1);
    }
    beforeLast = std::exchange(last, now);
  }
  return last.back();
}

// The first of those with the fewest edits, if these are at most a third of its characters or it begins with the whole
// word. Empty where none is near.
template <typename Words>
std::string nearest(std::string_view word, const Words& words) {
  constexpr std::size_t kFewest = 4;     // characters of a begin to guess from
  constexpr std::size_t kLongest = 100;  // of a word that somebody typed
  std::string best;
  std::size_t least = std::string_view::npos;
  if (word.size() > kLongest) return best;
  for (const std::string_view of : words) {
    const std::size_t distance = editDistance(word, of);
    const bool isBegin = word.size() >= kFewest && of.starts_with(word);
    if ((distance * 3 <= of.size() || isBegin) && distance < least) {
      least = distance;
      best = of;
    }
  }
  return best;
}

// "; is --guard meant?", or nothing.
template <typename Words>
std::string orNearest(std::string_view word, const Words& words) {
  const std::string found = nearest(word, words);
  return found.empty() ? found : "; is " + found + " meant?";
}

}  // namespace ptxopt
