// The analyses of a function, as names and as sets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace ptxopt {

enum class AnalysisId : uint8_t {
#define PTXOPT_ANALYSIS(id, type, name, uses) id,
#include "analysis/manager/analyses.def"
#undef PTXOPT_ANALYSIS
};

inline constexpr std::size_t kAnalyses = 0
#define PTXOPT_ANALYSIS(id, type, name, uses) +1
#include "analysis/manager/analyses.def"
#undef PTXOPT_ANALYSIS
    ;

class AnalysisSet {
 public:
  constexpr AnalysisSet() = default;
  constexpr AnalysisSet(std::initializer_list<AnalysisId> ids) {
    for (const AnalysisId id : ids) insert(id);
  }

  constexpr void insert(AnalysisId id) { bits_ |= bit(id); }
  constexpr bool has(AnalysisId id) const { return (bits_ & bit(id)) != 0; }
  // Whether all of `other` is in it.
  constexpr bool includes(AnalysisSet other) const { return (other.bits_ & ~bits_) == 0; }
  constexpr bool empty() const { return bits_ == 0; }
  friend constexpr AnalysisSet operator|(AnalysisSet a, AnalysisSet b) {
    a.bits_ |= b.bits_;
    return a;
  }
  friend constexpr bool operator==(AnalysisSet, AnalysisSet) = default;

 private:
  static constexpr uint32_t bit(AnalysisId id) { return 1u << static_cast<unsigned>(id); }
  uint32_t bits_ = 0;
};

// "live intervals"
std::string_view name(AnalysisId id);
// "loops, live intervals"; "nothing"
std::string names(AnalysisSet set);
// The fewest ids that an `asks(...)` of passes.def lacks for a pass that asked for `asked`: "LoopNest, Spaces".
std::string idsToAdd(AnalysisSet asked, AnalysisSet declared);
// With all that the analyses of the set are made of.
AnalysisSet withUses(AnalysisSet set);

// What a pass may say that it preserves: the blocks, their edges, and where each begins and ends.
inline constexpr AnalysisSet kNoAnalyses;
inline constexpr AnalysisSet kControlFlow{AnalysisId::ControlFlow, AnalysisId::Dominators,
                                          AnalysisId::PostDominators, AnalysisId::LoopNest};
// Where also the order of instructions and what registers they mention stay: other opcodes only.
inline constexpr AnalysisSet kMentions = kControlFlow | AnalysisSet{AnalysisId::Slots, AnalysisId::Intervals};

}  // namespace ptxopt
