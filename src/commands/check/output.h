// What was found in files, for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "check/check.h"

namespace ptxopt::check {

struct CheckedFile {
  std::string name;
  std::string_view text;
  Checked checked;

  std::size_t count(Severity severity) const;
};

// `FILE:LINE:COL: error: MESSAGE [check]`, the line, and a caret; then what the file needs, if it is known.
std::string writeText(const CheckedFile& file);
// schemas/check.schema.json
std::string writeJson(const std::vector<CheckedFile>& files);
// SARIF 2.1.0, which forges show in the files.
std::string writeSarif(const std::vector<CheckedFile>& files, std::string_view version);

}  // namespace ptxopt::check
