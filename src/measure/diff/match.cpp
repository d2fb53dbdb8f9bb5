// Matching goes from sure to unsure keys, and a key that several units or functions of one side have decides nothing.
// What is matched is marked, so that later steps see the rest only.
#include "diff/match.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>

#include "diff/measure.h"
#include "support/demangle.h"

namespace ptxopt::diff {
namespace {

constexpr std::size_t kNone = SIZE_MAX;
using ArchitectureKey = std::pair<std::string, std::string>;  // architecture and something

// A side's units and which of them, and of their functions, are matched.
struct Half {
  const Side& side;
  std::vector<std::size_t> partner;      // of each unit
  std::vector<std::vector<bool>> taken;  // of each function of each unit
  explicit Half(const Side& s) : side(s), partner(s.units.size(), kNone) {
    for (const Unit& unit : s.units) taken.emplace_back(unit.measures.functions.size(), false);
  }
  const Unit& unit(std::size_t i) const { return side.units[i]; }
  const ptxas::FunctionMeasures& function(std::size_t u, std::size_t f) const {
    return unit(u).measures.functions[f];
  }
};

std::string nameOf(const ptxas::FunctionMeasures& f) {
  std::string name = demangled(f.name);
  return name.empty() ? f.name : name;
}

class Matcher {
 public:
  Matcher(const Side& before, const Side& after, const MatchOptions& options)
      : a_(before), b_(after), options_(options), isIdle_(options.pairs.size(), true) {}

  Matching run() {
    if (a_.side.isOneFile && b_.side.isOneFile) {
      singleFiles();
    } else {
      byFileKey([](const Unit& unit) { return std::optional(unit.file); });
      byFileKey([](const Unit& unit) { return std::optional(std::string(stemOf(unit.file))); });
      byFileKey(kernelList);
    }
    for (std::size_t i = 0; i < a_.partner.size(); ++i)
      if (a_.partner[i] != kNone) functions(i, a_.partner[i]);
    unreadable(a_, b_);
    unreadable(b_, a_);
    forEachArchitecture([&](const Places& before, const Places& after) { givenPairs(before, after); });
    movedKernels();
    if (options_.bySimilarity) {
      for (std::size_t i = 0; i < a_.partner.size(); ++i)
        if (const std::size_t j = a_.partner[i]; j != kNone) similar(places(a_, i), places(b_, j));
      forEachArchitecture([&](const Places& before, const Places& after) { similar(before, after); });
    }
    rest();
    for (std::size_t n = 0; n < isIdle_.size(); ++n)
      if (isIdle_[n]) out_.idle.push_back(options_.pairs[n].text());
    std::stable_sort(out_.matches.begin(), out_.matches.end(),
                     [](const Match& x, const Match& y) { return order(x) < order(y); });
    return std::move(out_);
  }

 private:
  static std::tuple<const std::string&, const std::string&, const std::string&> order(const Match& m) {
    const Unit& unit = m.afterUnit != nullptr ? *m.afterUnit : *m.beforeUnit;
    const ptxas::FunctionMeasures& f = m.after != nullptr ? *m.after : *m.before;
    return {unit.file, unit.measures.architecture, f.name};
  }

  // None: this unit is not to be matched in this way.
  static std::optional<std::string> kernelList(const Unit& unit) {
    std::string list;
    for (const ptxas::FunctionMeasures& f : unit.measures.functions)
      if (f.isKernel) list += f.name + '\n';
    return list.empty() ? std::nullopt : std::optional(list);
  }

  void pair(std::size_t i, std::size_t j) {
    a_.partner[i] = j;
    b_.partner[j] = i;
    const std::string &from = a_.unit(i).file, &to = b_.unit(j).file;
    if (from != to && !(a_.side.isOneFile && b_.side.isOneFile))
      out_.notes.push_back(fmt::format("'{}' is compared with '{}'", from, to));
  }

  void singleFiles() {
    for (std::size_t i = 0; i < a_.partner.size(); ++i)
      for (std::size_t j = 0; j < b_.partner.size(); ++j)
        if (a_.unit(i).measures.architecture == b_.unit(j).measures.architecture) pair(i, j);
    if (a_.partner.size() != 1 || b_.partner.size() != 1 || a_.partner[0] != kNone) return;
    pair(0, 0);
    const std::string &from = a_.unit(0).measures.architecture, &to = b_.unit(0).measures.architecture;
    if (!from.empty() && !to.empty())
      out_.notes.push_back(fmt::format("code for {} is compared with code for {}", from, to));
  }

  // There is nothing to say either about counterparts of files that could not be read, so that their architectures are
  // not known.
  void unreadable(const Half& broken, Half& other) {
    for (const Unit& unit : broken.side.units) {
      if (unit.error.empty() || !unit.measures.architecture.empty()) continue;
      for (std::size_t i = 0; i < other.taken.size(); ++i)
        if ((broken.side.isOneFile && other.side.isOneFile) || stemOf(other.unit(i).file) == stemOf(unit.file))
          std::fill(other.taken[i].begin(), other.taken[i].end(), true);
    }
  }

  // Pairs units that no other unit has the key of, for one architecture.
  template <class KeyOf>
  void byFileKey(const KeyOf& keyOf) {
    const auto index = [&](const Half& half) {
      std::map<ArchitectureKey, std::vector<std::size_t>> units;
      for (std::size_t i = 0; i < half.partner.size(); ++i)
        if (half.partner[i] == kNone)
          if (auto key = keyOf(half.unit(i)))
            units[{half.unit(i).measures.architecture, std::move(*key)}].push_back(i);
      return units;
    };
    const auto before = index(a_), after = index(b_);
    for (const auto& [key, units] : before) {
      const auto it = after.find(key);
      if (it != after.end() && units.size() == 1 && it->second.size() == 1) pair(units[0], it->second[0]);
    }
  }

  void take(std::size_t i, std::size_t f, std::size_t j, std::size_t g, PairedBy by = PairedBy::Name) {
    a_.taken[i][f] = b_.taken[j][g] = true;
    out_.matches.push_back({&a_.unit(i), &a_.function(i, f), &b_.unit(j), &b_.function(j, g), by});
  }

  // Kernels that have no counterpart yet, by unit and function.
  using Places = std::vector<std::pair<std::size_t, std::size_t>>;
  static Places places(const Half& half, std::size_t u) {
    Places found;
    for (std::size_t f = 0; f < half.taken[u].size(); ++f)
      if (!half.taken[u][f] && half.function(u, f).isKernel) found.emplace_back(u, f);
    return found;
  }

  template <class Pair>
  void forEachArchitecture(const Pair& pair) {
    std::map<std::string, std::pair<Places, Places>> found;
    for (std::size_t u = 0; u < a_.taken.size(); ++u)
      std::ranges::copy(places(a_, u), std::back_inserter(found[a_.unit(u).measures.architecture].first));
    for (std::size_t u = 0; u < b_.taken.size(); ++u)
      std::ranges::copy(places(b_, u), std::back_inserter(found[b_.unit(u).measures.architecture].second));
    for (const auto& [architecture, both] : found) pair(both.first, both.second);
  }

  static std::array<std::string, 3> namesOf(const ptxas::FunctionMeasures& f) {
    const std::string name = nameOf(f);
    return {f.name, name, withoutParameters(name)};
  }

  void givenPairs(const Places& before, const Places& after) {
    if (options_.pairs.empty()) return;
    std::map<std::string, Places> called;
    for (const auto& [j, g] : after)
      for (const std::string& name : namesOf(b_.function(j, g))) {
        Places& of = called[name];
        if (of.empty() || of.back() != std::pair(j, g)) of.emplace_back(j, g);
      }
    for (const auto& [i, f] : before)
      for (std::size_t n = 0; n < options_.pairs.size() && !a_.taken[i][f]; ++n)
        for (const std::string& name : namesOf(a_.function(i, f))) {
          const auto wanted = counterpartOf(options_.pairs[n], name);
          const auto it = wanted ? called.find(*wanted) : called.end();
          if (it == called.end()) continue;
          const auto free =
              std::ranges::find_if(it->second, [&](const auto& p) { return !b_.taken[p.first][p.second]; });
          if (free == it->second.end()) continue;
          take(i, f, free->first, free->second, PairedBy::Given);
          isIdle_[n] = false;
          break;
        }
  }

  // Without overloads, which only the parameters distinguish.
  Places named(const Half& half, const Places& places, std::vector<Unpaired>& all) const {
    std::map<std::size_t, std::map<std::string, std::size_t>> uses;
    for (const auto& [u, f] : places)
      if (auto& names = uses[u]; names.empty())
        for (const ptxas::FunctionMeasures& other : half.unit(u).measures.functions)
          ++names[withoutParameters(nameOf(other))];
    Places kept;
    for (const auto& [u, f] : places) {
      const ptxas::FunctionMeasures& function = half.function(u, f);
      std::string name = withoutParameters(nameOf(function));
      if (uses[u][name] != 1) continue;
      kept.emplace_back(u, f);
      all.push_back({std::move(name), function.code});
    }
    return kept;
  }

  void similar(const Places& before, const Places& after) {
    if (before.empty() || after.empty()) return;
    std::vector<Unpaired> names, namesAfter;
    const Places from = named(a_, before, names), to = named(b_, after, namesAfter);
    for (const SimilarPair& p : similarPairs(names, namesAfter))
      take(from[p.before].first, from[p.before].second, to[p.after].first, to[p.after].second,
           PairedBy::Similarity);
  }

  // Matches functions of two units by a key; one that several of either unit have says nothing.
  template <class KeyOf>
  void byFunctionKey(std::size_t i, std::size_t j, bool onlyLeftOvers, const KeyOf& keyOf) {
    const auto index = [&](const Half& half, std::size_t u) {
      std::map<std::string, std::vector<std::size_t>> found;
      for (std::size_t f = 0; f < half.taken[u].size(); ++f)
        if (!onlyLeftOvers || !half.taken[u][f]) found[keyOf(half.function(u, f))].push_back(f);
      return found;
    };
    const auto before = index(a_, i), after = index(b_, j);
    for (const auto& [key, f] : before) {
      const auto it = after.find(key);
      if (it == after.end() || f.size() != 1 || it->second.size() != 1) continue;
      const std::size_t g = it->second[0];
      if (!a_.taken[i][f[0]] && !b_.taken[j][g] && a_.function(i, f[0]).isKernel == b_.function(j, g).isKernel)
        take(i, f[0], j, g);
    }
  }

  // By name. If there are several, which modules of a built file may have, first those of the same code, then in their
  // order.
  void sameNames(std::size_t i, std::size_t j) {
    std::map<std::string_view, std::vector<std::size_t>> after;
    for (std::size_t g = 0; g < b_.taken[j].size(); ++g)
      if (!b_.taken[j][g]) after[b_.function(j, g).name].push_back(g);
    for (const bool sameCode : {true, false})
      for (std::size_t f = 0; f < a_.taken[i].size(); ++f) {
        const auto& from = a_.function(i, f);
        const auto found = after.find(from.name);
        if (a_.taken[i][f] || found == after.end()) continue;
        for (const std::size_t g : found->second) {
          const auto& to = b_.function(j, g);
          if (b_.taken[j][g] || from.isKernel != to.isKernel || (sameCode && from.code != to.code)) continue;
          take(i, f, j, g);
          break;
        }
      }
  }

  void functions(std::size_t i, std::size_t j) {
    if (!a_.unit(i).error.empty() || !b_.unit(j).error.empty()) {
      // Nothing to say of either.
      std::fill(a_.taken[i].begin(), a_.taken[i].end(), true);
      std::fill(b_.taken[j].begin(), b_.taken[j].end(), true);
      return;
    }
    givenPairs(places(a_, i), places(b_, j));
    sameNames(i, j);
    if (!hasLeftOvers(a_, i) || !hasLeftOvers(b_, j)) return;
    byFunctionKey(i, j, true, nameOf);
    byFunctionKey(i, j, false, [](const ptxas::FunctionMeasures& f) { return withoutParameters(nameOf(f)); });
  }

  static bool hasLeftOvers(const Half& half, std::size_t u) {
    return std::find(half.taken[u].begin(), half.taken[u].end(), false) != half.taken[u].end();
  }

  void movedKernels() {
    struct Place {
      std::size_t unit, function, count = 0;
    };
    const auto index = [](const Half& half) {
      std::map<ArchitectureKey, Place> places;
      for (std::size_t u = 0; u < half.taken.size(); ++u)
        for (std::size_t f = 0; f < half.taken[u].size(); ++f) {
          if (!half.function(u, f).isKernel) continue;
          Place& place = places[{half.unit(u).measures.architecture, half.function(u, f).name}];
          place = {u, f, place.count + 1};
        }
      return places;
    };
    const auto before = index(a_), after = index(b_);
    for (const auto& [key, from] : before) {
      const auto it = after.find(key);
      if (it == after.end() || from.count != 1 || it->second.count != 1) continue;
      const Place& to = it->second;
      if (!a_.taken[from.unit][from.function] && !b_.taken[to.unit][to.function])
        take(from.unit, from.function, to.unit, to.function);
    }
  }

  void rest() {
    for (std::size_t u = 0; u < a_.taken.size(); ++u)
      for (std::size_t f = 0; f < a_.taken[u].size(); ++f)
        if (!a_.taken[u][f]) out_.matches.push_back({&a_.unit(u), &a_.function(u, f), nullptr, nullptr});
    for (std::size_t u = 0; u < b_.taken.size(); ++u)
      for (std::size_t f = 0; f < b_.taken[u].size(); ++f)
        if (!b_.taken[u][f]) out_.matches.push_back({nullptr, nullptr, &b_.unit(u), &b_.function(u, f)});
  }

  Half a_, b_;
  const MatchOptions& options_;
  std::vector<bool> isIdle_;  // of each pair that was given
  Matching out_;
};

}  // namespace

std::string_view name(PairedBy by) {
  constexpr std::string_view kNames[] = {"name", "given", "similarity"};
  return kNames[static_cast<std::size_t>(by)];
}

std::string withoutParameters(const std::string& name) {
  std::string out = name;
  // The parameters are the last group of parentheses that is not within others; "const" and clones may follow.
  const std::size_t end = out.rfind(')');
  if (end != std::string::npos) {
    int depth = 0;
    std::size_t at = end + 1;
    while (at > 0) {
      --at;
      if (out[at] == ')') ++depth;
      if (out[at] == '(' && --depth == 0) break;
    }
    if (depth == 0 && at > 0) out.erase(at);
  }
  // A return type, of templates: up to the last blank that is not within brackets.
  int depth = 0;
  for (std::size_t i = out.size(); i-- > 0;) {
    const char c = out[i];
    if (c == '>' || c == ')') ++depth;
    if (c == '<' || c == '(') --depth;
    if (c == ' ' && depth == 0) return out.substr(i + 1);
  }
  return out;
}

Matching match(const Side& before, const Side& after, const MatchOptions& options) {
  return Matcher(before, after, options).run();
}

}  // namespace ptxopt::diff
