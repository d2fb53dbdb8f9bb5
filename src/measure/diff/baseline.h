// Figures of a side as a file to commit.
//
// JSON, with a line for each function, in order of files, architectures and names, so that changes to a kernel are
// changes of a line: no dates, and no paths but relative ones. The digests of code are of instructions alone. schemas/baseline.schema.json describes it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "diff/measurements.h"

namespace ptxopt::diff {

std::string writeBaseline(const Side& side);
// A line of a history: the baseline without line breaks, and what it is called.
std::string writeHistoryLine(const Side& side, const std::string& label);
// Fills in all of `side` but its name. False, with the reason, where the text is not such a file or of a version
// that is not known.
// For a history it is the last.
bool readBaseline(std::string_view text, Side& side, std::string& error);
// All of a history, or the one of a baseline, with their labels as names; without one a side keeps `name`.
bool readHistory(std::string_view text, const std::string& name, std::vector<Side>& sides, std::string& error);
// Whether a baseline stands in one line: a history may have more.
bool isHistory(std::string_view text);

}  // namespace ptxopt::diff
