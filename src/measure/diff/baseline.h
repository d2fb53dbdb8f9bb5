// Figures of a side as a file to commit.
//
// JSON, with a line for each function, in order of files, architectures and names, so that changes to a kernel are
// changes of a line: no dates, and no paths but relative ones. The digests of code are of instructions alone. schemas/baseline.schema.json describes it.
#pragma once

#include <string>
#include <string_view>

#include "diff/measurements.h"

namespace ptxopt::diff {

std::string writeBaseline(const Side& side);
// Fills in all of `side` but its name. False, with the reason, where the text is not such a file or of a version
// that is not known.
bool readBaseline(std::string_view text, Side& side, std::string& error);

}  // namespace ptxopt::diff
