// Greedy: each turn takes the class of launches whose facts gain most, after facts were dropped one at a time while
// that raised the gain. The gain is the share of the time times what the facts are worth, less the cost of the test;
// classes that the new body covers leave the search.
#include "passes/versions/launch_choice.h"

#include <algorithm>
#include <bit>
#include <optional>

namespace ptxopt {
namespace {

constexpr std::size_t kMostClasses = 8;         // that bodies are made from
constexpr double kPartCost = 2, kTestCost = 3;  // machine instructions: of a number, and of the branch
constexpr double kAlignmentWorth = 4;           // of an address whose accesses may become vectors
constexpr uint64_t kMostMultiple = 16;          // bytes of a vector

uint64_t lowBits(int64_t value, uint32_t bytes) {
  return bytes >= 8 ? static_cast<uint64_t>(value)
                    : static_cast<uint64_t>(value) & ((uint64_t{1} << bytes * 8) - 1);
}

bool isUnit(uint64_t bits, uint32_t bytes) {
  constexpr uint64_t kOne = 0x3F800000, kOne64 = 0x3FF0000000000000;
  return bits == 0 || bits == (bytes == 8 ? kOne64 : kOne);
}

class Chooser {
 public:
  Chooser(const Module& module, const Function& f, const LaunchProfile& profile, const KernelFacts& base,
          std::span<const LaunchSource> sources, bool usesAlignment)
      : module_(module),
        f_(f),
        profile_(profile),
        base_(base),
        sources_(sources),
        usesAlignment_(usesAlignment),
        isCovered_(profile.classes.size()) {
    for (const LaunchClass& c : profile.classes) total_ += c.time;
    total_ = std::max(total_, profile.time);
  }

  std::vector<ChosenLaunches> run(const Knobs& knobs, std::string_view& whyNot) {
    std::vector<ChosenLaunches> chosen;
    const auto most = static_cast<std::size_t>(knobs[Knob::VersionBodies]);
    const double leastShare = static_cast<double>(knobs[Knob::VersionShare]) / 100,
                 leastGain = static_cast<double>(knobs[Knob::VersionGain]);
    whyNot = "no-use";
    while (chosen.size() < most) {
      std::optional<Facts> best;
      double bestGain = 0;
      for (std::size_t c = 0; c < std::min(kMostClasses, profile_.classes.size()); ++c) {
        if (isCovered_[c]) continue;
        Facts facts = factsOf(profile_.classes[c]);
        if (facts.empty()) continue;
        if (whyNot == "no-use") whyNot = "gain";
        reduce(facts);
        const bool isFrequent = shareOf(facts) >= leastShare;
        if (!isFrequent && gainOf(facts) >= leastGain) whyNot = "share";
        if (isFrequent && gainOf(facts) >= std::max(leastGain, bestGain)) {
          bestGain = gainOf(facts);
          best = std::move(facts);
        }
      }
      if (!best) break;
      chosen.push_back(made(*best));
      for (std::size_t c = 0; c < profile_.classes.size(); ++c)
        if (holds(*best, profile_.classes[c])) isCovered_[c] = true;
    }
    return chosen;
  }

 private:
  struct Fact {
    std::size_t source;
    NumberFact number;
    double worth;
  };
  using Facts = std::vector<Fact>;

  const ParameterPart* partOf(const LaunchClass& c, const LaunchSource& s) const {
    const auto at = std::ranges::find_if(c.parts, [&](const ParameterPart& p) {
      return p.parameter == s.part.parameter && p.offset == s.part.offset && p.bytes == s.part.bytes;
    });
    return at == c.parts.end() ? nullptr : &*at;
  }

  // For an integer that is a parameter as a whole.
  const NumberFact* wholeOf(const LaunchSource& s) const {
    if (s.part.parameter >= base_.parameters.size() || s.part.offset != 0) return nullptr;
    const Variable& v = f_.variables[f_.parameters[s.part.parameter].value];
    const DeclarationForm& form = module_.declarationForms[v.form];
    const bool isWhole = v.declarator.dimensions.empty() && form.lanes == 1 && isInteger(form.type) &&
                         info(form.type).bits == s.part.bytes * 8;
    return isWhole ? &base_.parameters[s.part.parameter] : nullptr;
  }

  NumberFact numberOf(const LaunchClass& c, const LaunchSource& s) const {
    if (s.isBlock) return {c.block[s.component], c.block[s.component]};
    const ParameterPart* const part = partOf(c, s);
    return part == nullptr ? NumberFact() : part->number;
  }

  Facts factsOf(const LaunchClass& c) const {
    Facts facts;
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      const LaunchSource& s = sources_[i];
      const NumberFact number = numberOf(c, s);
      const NumberFact* const known = s.isBlock ? &base_.block[s.component] : wholeOf(s);
      if (known != nullptr && known->exact()) continue;
      const ParameterPart* const part = s.isBlock ? nullptr : partOf(c, s);
      const bool isAddress = part != nullptr && part->isAddress;
      if (const auto exact = number.exact(); exact && !isAddress) {
        if (known != nullptr && !known->holds(*exact)) return {};  // of another kernel
        const bool isOne = !s.isBlock && isUnit(lowBits(*exact, s.part.bytes), s.part.bytes);
        const auto worth = static_cast<double>(s.worth + (isOne ? s.worthIfUnit : 0));
        if (worth > 0) facts.push_back({i, {*exact, *exact}, worth});
      } else if (usesAlignment_ && known != nullptr && !s.isBlock) {
        const uint64_t multiple =
            std::min(kMostMultiple, uint64_t{1} << std::min(std::countr_zero(number.multiple), 4));
        if (multiple > known->multiple && multiple >= (isAddress ? 8u : 2u))
          facts.push_back({i, {.multiple = multiple}, isAddress ? kAlignmentWorth : kPartCost});
      }
    }
    return facts;
  }

  bool holds(const Facts& facts, const LaunchClass& c) const {
    return std::ranges::all_of(facts, [&](const Fact& fact) {
      const NumberFact number = numberOf(c, sources_[fact.source]);
      if (const auto exact = fact.number.exact()) return number.exact() == exact;
      return number.exact() ? fact.number.holds(*number.exact()) : number.multiple % fact.number.multiple == 0;
    });
  }

  double shareOf(const Facts& facts) const {
    double time = 0;
    for (std::size_t c = 0; c < profile_.classes.size(); ++c)
      if (!isCovered_[c] && holds(facts, profile_.classes[c])) time += profile_.classes[c].time;
    return total_ > 0 ? time / total_ : 0;
  }

  double gainOf(const Facts& facts) const {
    double worth = 0;
    for (const Fact& fact : facts) worth += fact.worth;
    return shareOf(facts) * worth - kTestCost - kPartCost * static_cast<double>(facts.size());
  }

  void reduce(Facts& facts) const {
    for (bool isLess = true; isLess && facts.size() > 1;) {
      isLess = false;
      std::size_t drop = 0;
      double best = gainOf(facts);
      for (std::size_t k = 0; k < facts.size(); ++k) {
        Facts fewer = facts;
        fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(k));
        if (const double gain = gainOf(fewer); gain > best) {
          best = gain;
          drop = k;
          isLess = true;
        }
      }
      if (isLess) facts.erase(facts.begin() + static_cast<std::ptrdiff_t>(drop));
    }
  }

  ChosenLaunches made(const Facts& facts) const {
    ChosenLaunches chosen{.test = {}, .facts = base_, .share = shareOf(facts)};
    for (const Fact& fact : facts) {
      const LaunchSource& s = sources_[fact.source];
      if (s.isBlock) {
        chosen.test.block[s.component] = chosen.facts.block[s.component] = fact.number;
        continue;
      }
      const auto parameter = static_cast<uint32_t>(s.part.parameter);
      chosen.test.parts.push_back({.parameter = parameter,
                                   .offset = s.part.offset,
                                   .bytes = s.part.bytes,
                                   .isAddress = false,
                                   .number = fact.number});
      if (wholeOf(s) == nullptr)
        chosen.facts.parts.push_back(
            {parameter, s.part.offset, s.part.bytes, lowBits(*fact.number.exact(), s.part.bytes)});
      else if (fact.number.exact())
        chosen.facts.parameters[parameter] = fact.number;
      else
        chosen.facts.parameters[parameter].multiple = fact.number.multiple;
    }
    const LaunchClass* most = nullptr;
    for (std::size_t c = 0; c < profile_.classes.size(); ++c)
      if (!isCovered_[c] && holds(facts, profile_.classes[c]) &&
          (most == nullptr || profile_.classes[c].time > most->time))
        most = &profile_.classes[c];
    chosen.launches = most;
    return chosen;
  }

  const Module& module_;
  const Function& f_;
  const LaunchProfile& profile_;
  const KernelFacts& base_;
  const std::span<const LaunchSource> sources_;
  const bool usesAlignment_;
  std::vector<bool> isCovered_;  // by class: has a body
  double total_ = 0;
};

}  // namespace

std::vector<ChosenLaunches> chooseLaunches(const Module& module, const Function& f, const LaunchProfile& profile,
                                           const KernelFacts& base, std::span<const LaunchSource> sources,
                                           const Knobs& knobs, bool usesAlignment, std::string_view& whyNot) {
  return Chooser(module, f, profile, base, sources, usesAlignment).run(knobs, whyNot);
}

}  // namespace ptxopt
