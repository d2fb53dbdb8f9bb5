// A test at the entry of a kernel that what it reads through some parameters is not written by the launch.
//
// What:       for each parameter p that the kernel reads through and does not write through, and each group of its
//             writes, a comparison: all that loads reach through p ends before the first address of the writes, or
//             begins after their last, over all threads and blocks (footprint.h). What the bounds assume is tested,
//             too. Where the test is true, p is `readonly` (PointerFact): nothing in the grid writes what is read
//             through it while the launch runs.
// Why:        docs/alias-test.md has the argument, and what is assumed of other launches.
// Uniform:    the test depends on parameters and sizes of the launch alone; all threads of the grid come to the same
//             result.
// Algorithm:  parameters whose loads stand in loops come first; one is taken if the test stays below `most`, and below
//             40 machine instructions where no load of it stands in a loop.
// Worth:      a load before which nothing can have been written gains nothing by the test; ptxas moves such loads as
//             they are. With `onlyAfterWrites` parameters that are read by such loads alone are left out.
// Hint:       pairs of parameters that a profile saw overlap are left out: their test would fail.
// Declines:   as footprint.h does for the whole kernel; unknown-write (a write without bounds), no-candidate (each
//             parameter that is read through is written through as well, escapes, or has a load without bounds),
//             too-long.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/manager/analyses.h"
#include "ir/kernel_facts.h"

namespace ptxopt {

struct AliasTest {
  // By the kernel's parameters in their order: what holds where the test is true. Others are empty.
  std::vector<PointerFact> pointers;
  // Puts code before `where`, at the entry of the kernel or of a copy of it, that computes a predicate: the test.
  std::function<RegId(const Module&, Function&, InstrId where)> emit;
};

// Pairs of parameters whose memory was seen to meet.
using Overlaps = std::vector<std::pair<uint32_t, uint32_t>>;

// A test of at most `most` instructions. None: `why` has the name of the reason. Module::makeSynthParts has been called.
std::optional<AliasTest> findAliasTest(const Module& module, const Function& kernel, Analyses& analyses,
                                       unsigned most, const Overlaps& overlapping, bool onlyAfterWrites,
                                       std::string_view& why);

}  // namespace ptxopt
