// What makes the text of one function: passes, knobs and directives, in the words of the command line.
#pragma once

#include <string>

#include "ptxopt/ptxopt.h"
#include "support/json.h"

namespace ptxopt::tune {

struct Recipe {
  int level = 0;                                   // 0 and no passes: the text as it is
  std::optional<std::vector<std::string>> passes;  // instead of those of the level
  std::vector<std::string> skip;
  std::map<std::string, int64_t> knobs;
  uint32_t limit = 0;  // `.maxnreg`; 0: none is put in

  friend bool operator==(const Recipe&, const Recipe&) = default;
  friend auto operator<=>(const Recipe&, const Recipe&) = default;
  bool isAsItIs() const { return *this == Recipe{}; }
  // Without the directives: the options of optimize().
  Recipe passesOnly() const;
  void applyTo(Options& options) const;
  // "-O2 --lsr-selection=cheapest, .maxnreg 40"; "as it is".
  std::string spelled() const;
};

Json toJson(const Recipe& recipe);
// Throws Json::exception or std::invalid_argument where it is not one.
Recipe recipeFrom(const Json& json);

}  // namespace ptxopt::tune
