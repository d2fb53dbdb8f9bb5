// Which launches of a kernel get a body of their own, and what the test at entry shows of them.
//
// What:       facts are exact numbers: sizes of the block and parts of parameters that are one number in a class of launches.
//             Where vectors of accesses pay (widen-accesses), multiples of addresses and of integers, too. Classes that agree
//             in the chosen facts are one.
// Algorithm:  from the facts of each of the first kMostClasses classes, one fact after the other goes as long as what is left is
//             worth more: the share of the time of all launches that have the facts, times what they save (launch_sources.h),
//             less the test, which all launches pay. The best is a body; the next one is chosen among launches that have not
//             its facts.
// Declines:   no-use (the kernel reads nothing that a class has exactly), share, gain (by the knobs).
#pragma once

#include <string_view>
#include <vector>

#include "ir/kernel_version.h"
#include "ir/module.h"
#include "passes/manager/knobs.h"
#include "passes/versions/launch_sources.h"

namespace ptxopt {

struct ChosenLaunches {
  EntryTest test;
  KernelFacts facts;                      // of the kernel, and what the test shows
  double share = 0;                       // of the time of all launches
  const LaunchClass* launches = nullptr;  // that of them which took most time
};

// At most `version-bodies`. `base`: what is known of all launches. `whyNot` is set where there are none.
std::vector<ChosenLaunches> chooseLaunches(const Module& module, const Function& f, const LaunchProfile& profile,
                                           const KernelFacts& base, std::span<const LaunchSource> sources,
                                           const Knobs& knobs, bool usesAlignment, std::string_view& whyNot);

}  // namespace ptxopt
