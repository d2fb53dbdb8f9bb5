// Second chances of functions that got worse: without which passes they are tried again, and what of that is taken.
//
// What is tried together is a function that got worse, with all that it reaches and that was changed. None of that may be part
// of other code, so that what is taken changes no other figures. Which pass did the harm is not known: those that changed it
// are left out in the order in which they did harm to kernels of the corpus (docs/guard.md), alone and by twos, or kept from the loop that
// lost most, or get other knobs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cut/closure.h"
#include "guard/guard.h"

namespace ptxopt::guard {

using KnobValues = std::map<std::string, int64_t>;

// What is known of the machine code of a function that got worse.
struct Clues {
  uint32_t registers = 0;  // of the input; 0: not known
  std::string loop;        // the label of the innermost loop that lost most; empty: not known, or there is only one
};

// Which of the innermost loops, as many before as after, lost most cycles, wherever data lies. Nothing: there are
// not at least two, or their times are not known.
std::optional<std::size_t> worstLoop(const ptxas::FunctionMeasures& before, const ptxas::FunctionMeasures& after);

// What to try of a function that these passes changed, likeliest first. Knobs that the user gives remain.
std::vector<FunctionOptions> attemptsOf(const std::vector<std::string>& passes, const KnobValues& given,
                                        const Clues& clues);

struct Retry {
  uint32_t root = 0;                // that got worse, by its place in the outcomes
  std::vector<uint32_t> functions;  // that were changed, of what it reaches
  std::vector<FunctionOptions> attempts;
  std::vector<std::string> seen;  // digests of the texts of the functions that were assembled
  std::size_t next = 0;           // of the attempts
  std::size_t tried = 0;          // of these: what made a text that was not assembled yet
};

// Those that may be tried again, of the input `text`. Linear in all mentions, for each function that calls others or is called, and in the
// text where a function has several loops.
std::vector<Retry> retriesOf(std::string_view text, const std::vector<WorseFunction>& worse,
                             const std::vector<FunctionOutcome>& outcomes, const cut::CallGraph& graph,
                             const KnobValues& given, const ptxas::Measures& before, const ptxas::Measures& after);

// Whether the functions have a text in `text`, whose graph this is, that was not assembled yet. It is seen then.
bool isNew(Retry& retry, const std::vector<FunctionOutcome>& outcomes, std::string_view text,
           const cut::CallGraph& places);

// By what the result of a retry is better than the input. Nothing: it is not, or something of it is worse or has no figures.
std::optional<ptxas::Comparison> gainOf(const std::vector<uint32_t>& closure, uint32_t root,
                                        const std::vector<FunctionOutcome>& outcomes, const ptxas::Measures& before,
                                        const ptxas::Measures& after, ptxas::GuardRule rule);

// Whether `now` is to be taken instead of `best`, which are both better than `input`: it takes fewer cycles for the work of that
// in L1, then in L2, then in DRAM, or fewer instructions.
bool isPreferred(const ptxas::FunctionMeasures& input, const ptxas::FunctionMeasures& best,
                 const ptxas::FunctionMeasures& now);

}  // namespace ptxopt::guard
