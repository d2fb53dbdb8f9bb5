// Choosing, for each kernel, the passes that ptxas makes most of.
//
// Each variant (variants.def) is one run of optimize() over the module. The texts that come out and
// differ are assembled, together in one text for each variant: kernels whose text was seen before are left out of
// it. What is best for a unit (units.h) is chosen by the objective's order of measures, among what is not worse
// than the input by the guard's. Then the limits on registers are tried on what was chosen, kernel by kernel. What
// comes out is assembled once more as a whole; a unit that is worse there than in the input gets its original text
// back. With the same ptxas and no budget the result depends on the text and the options alone, however many jobs.
// Cost: a run of ptxas for each variant, of kernels that it changed; and two of the whole text.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptxas/assemble.h"
#include "ptxas/compare.h"
#include "ptxopt/ptxopt.h"
#include "tune/device.h"
#include "tune/recipe.h"

namespace ptxopt::tune {

struct TuneOptions {
  ptxas::PtxasSettings ptxas;
  std::string architecture;  // empty: the text's
  ptxas::Objective objective = ptxas::Objective::Time;
  std::string profile, profileName;  // as of Options: each variant has it; empty: none
  // Chooses for one kernel by what a device says of all that ptxas made of it, and not by the objective: what leaves other
  // bytes than the input, or is not faster, is not chosen.
  std::optional<DeviceOptions> device;
  unsigned jobs = 1;
  std::optional<double> budgetSeconds;  // none is begun after it; none: all are tried
  std::string fileName = "<input>";     // for messages
  // Called by several threads, one at a time: some of all runs are done.
  std::function<void(std::size_t done, std::size_t total)> progress;
};

// What a variant gave for one function.
struct Trial {
  std::string variant;
  Recipe recipe;
  enum class State {
    Measured,
    Same,       // its text is that of an earlier variant: `detail`
    NoLimit,    // no limit on its registers makes sense: `detail` says why
    NotTried,   // the time was up
    Failed,     // `detail`: what ptxas or a pass said
    NotInCode,  // ptxas made no code of its own of the function
  } state = State::NotTried;
  std::string detail;
  ptxas::FunctionMeasures measures;  // if Measured
  // Why it was not chosen: "worse" than the input by the guard's order, "not-better" than what was, "together": its
  // unit as a whole; empty for what was chosen. By a device: as DeviceTime, or "not-faster" than the input, "not-better", or
  // "same-code" as the input or a trial before.
  std::string rejected;
  std::optional<DeviceTime> device;
  std::string by;  // of "worse": which measure, and its figures
};

struct TunedFunction {
  std::string name;
  bool isKernel = false;
  uint32_t unit = 0;    // functions of one unit are chosen for together
  bool inCode = false;  // whether ptxas made code of its own of it
  ptxas::FunctionMeasures before, after;
  std::string variant;  // chosen
  Recipe recipe;
  std::string note;  // "worse-together": worse in the whole text than alone, so it is as it was
  std::vector<Trial> trials;
};

struct TuneResult {
  Status status = Status::Ok;
  std::string error;
  std::string output;
  std::string architecture;
  bool isDebug = false;    // compiled for debugging: it is left as it is
  bool hasFigures = true;  // false: ptxas does not take the input, and `trouble` says why
  std::string trouble;     // what went wrong with ptxas, so that everything is as it was
  std::vector<TunedFunction> functions;
  std::size_t runs = 0,
              notTried = 0;  // of ptxas besides those of the whole text; and runs that the time was up for
};

TuneResult tune(std::string_view text, const TuneOptions& options);

// The text with these recipes for its functions, by name; what is not named stays. Nothing is assembled.
struct AppliedRecipe {
  std::string function;
  Recipe recipe;
};
struct Applied {
  Status status = Status::Ok;
  std::string error;
  std::string output;
  std::vector<std::string> missing;  // functions that the text does not have, or whose limit is not possible
};
struct ApplyOptions {
  std::string architecture, fileName;
  std::string profile, profileName;  // as of TuneOptions
  unsigned jobs = 1;
};
Applied applyRecipes(std::string_view text, const std::vector<AppliedRecipe>& recipes, const ApplyOptions& how);

}  // namespace ptxopt::tune
