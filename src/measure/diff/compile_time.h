// Compile time by kernel: the CPU time that ptxas takes for each kernel of a text, cut out of its module with what it reaches
// (cut/cut.h), less that for the module with an empty kernel alone.
//
// Each text is assembled twice and the least counts, but for those that take longer than kLong, whose noise is small. Texts
// that are equal, on one side or on both, are measured once: a kernel that did not change has the same figure. Nothing comes from
// the cache, nor goes there. A module of one kernel is measured as it is where nothing can be cut; then all of its variables are
// part of the figure.
// Declines, with a note: other modules that cannot be cut, and kernels that ptxas refuses alone. Cost: up to two runs of ptxas for
// each kernel and each module.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ptxas/assemble.h"

namespace ptxopt::diff {

struct TimedText {
  std::string file, text, architecture;
  ptxas::PtxasSettings settings;
  ptxas::Measures* measures = nullptr;  // to fill in
};

// As ptxas::assemble.
using Assembler = std::function<ptxas::Assembly(std::string_view text, std::string_view architecture,
                                                const ptxas::PtxasSettings& settings)>;

// Notes: the kernels whose time is not known, and why.
std::vector<std::string> addCompileTimes(std::span<TimedText> texts, unsigned jobs,
                                         const Assembler& assembler = ptxas::assemble);

}  // namespace ptxopt::diff
