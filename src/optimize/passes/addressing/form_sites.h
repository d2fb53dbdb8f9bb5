// What the forms of a loop (forms.def) ask of the function: the instructions that may take one, and the estimate of what an
// iteration takes of each unit.
//
// Sites are found once, in the order of the text, and made anew where a form changed the function. Cost: linear in the
// function; of the estimate, which is made when first asked for, once more.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "analysis/machine/loop_units.h"
#include "passes/util/function_pass.h"
#include "passes/util/missed_remarks.h"

namespace ptxopt {

enum class LoopForm : uint8_t {
#define PTXOPT_LOOP_FORM(id, name, knob, function, wanted, least, text) id,
#include "passes/addressing/forms.def"
};

class FormSites : FunctionPass {
 public:
  FormSites(Function& f, PassContext& context);

  struct Loop {
    LoopId id;
    std::vector<InstrId> sites;
  };
  // Sums and differences of 64 bits, and mad.wide of 32-bit numbers.
  std::span<const InstrId> sums() const { return sums_; }
  // mul.wide and mad.wide of 32-bit numbers.
  std::span<const InstrId> products() const { return products_; }
  // Those in loops, by the innermost loop that they are in.
  std::vector<Loop> byLoop(std::span<const InstrId> sites) const;
  std::vector<Loop> byInnermostLoop(std::span<const InstrId> sites) const;

  LoopUnits& units();
  // Adds that many machine instructions to what an iteration takes; less than none takes them away.
  void add(UnitCycles& to, target::Kind kind, double times) const;
  // How many of the first `count` changes make the longest unit of an iteration shortest, below `limit`; none where nothing does.
  // `apply(k, u)` makes change k. What ptxas may compute on either of two units is on the ALU.
  template <typename Apply>
  static std::size_t mostThatShorten(std::size_t count, UnitCycles now, double limit, Apply apply) {
    std::size_t most = 0;
    for (std::size_t k = 0; k < count; ++k) {
      apply(k, now);
      const double length = now.longest(now.either);
      if (length >= limit) continue;
      limit = length;
      most = k + 1;
    }
    return most;
  }

  // Why sites and loops are left as they are.
  MissedRemarks missedLoops, missedSites;

 private:
  const Loops& loops_;
  const target::Machine& machine_;
  std::vector<InstrId> sums_, products_;
  std::optional<LoopUnits> units_;
};

// What a form gets: the sites, whether it is written whatever it gains, and what it must gain.
struct FormRules {
  FormSites& sites;
  bool isForced = false;
  double leastGain = 0;
};

// Whether anything changed.
#define PTXOPT_LOOP_FORM(id, name, knob, function, wanted, least, text) \
  bool function(Function& f, PassContext& context, const FormRules& rules);
#include "passes/addressing/forms.def"

}  // namespace ptxopt
