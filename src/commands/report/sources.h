// The source lines that a module names by .file and .loc.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/module.h"
#include "report/source_files.h"
#include "support/json.h"

namespace ptxopt::report {

// The lines of a text, without what ends them.
std::vector<std::string_view> splitLines(std::string_view text);

class Sources {
 public:
  explicit Sources(const Module& module);

  // A number for a line of a file, counted from 0 in the order of the calls.
  int number(const Loc& loc);
  // {"1": "a.cu"}
  Json files() const;
  // [file, line] or [file, line, text] by number. Only files with such a line are read, and only if `files` is given.
  Json lines(SourceFiles* files) const;

 private:
  std::map<uint32_t, std::string> files_;
  std::map<std::pair<uint32_t, uint32_t>, int> numbers_;
  std::vector<std::pair<uint32_t, uint32_t>> places_;
};

}  // namespace ptxopt::report
