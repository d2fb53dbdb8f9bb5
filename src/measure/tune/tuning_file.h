// What was chosen, as a file: enough to make the same output again without looking for it and without ptxas.
//
// The recipes stand there as passes, knobs and directives, not as names of variants, so that the file holds when
// variants.def changes. The digests tell whether the input is the one that was tuned, and whether what comes out is
// what ptxas was asked about.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/json.h"
#include "tune/tune.h"

namespace ptxopt::tune {

struct Choice {
  std::string version;       // of ptxopt
  std::string ptxas;         // its version, or empty
  std::string architecture;  // that ptxas compiled for
  std::string objective;
  std::string input, output;             // digests
  std::string profile;                   // likewise; empty: without
  std::vector<AppliedRecipe> functions;  // those that do not stay as they are
};

Choice choiceOf(std::string_view input, const TuneResult& result, ptxas::Objective objective,
                std::string ptxasVersion);
Json toJson(const Choice& choice);
// Throws Json::exception or std::invalid_argument where the text is not such a file.
Choice choiceFrom(std::string_view text);

std::string digestOf(std::string_view text);

// The report: all candidates of each function with their figures and why they were not chosen. No times, no paths:
// the same for the same input, wherever it is made. `fileName`: without folders.
Json tuneReport(std::string_view input, const TuneResult& result, const Choice& choice, std::string_view fileName);

}  // namespace ptxopt::tune
