// Judging a text that is optimized with a profile: by the input, and by what is made of it without the profile.
//
// What:    kernels that the profile changes are made both ways, each guarded by the input (guard.h). A kernel has what comes of the
//          profile where that is better than what comes of it without (ptxas/compare.h: compareProfiled), otherwise the latter.
// Cost:    ptxas once more, for the kernels that the profile changes, and twice for their times by the profile's iterations; passes twice more.
//          Where it changes no kernel, one more run of the passes.
// Safety:  the result is put together by options for each function (FunctionOptions::usesProfile). A kernel that is not the text
//          that was judged has what is made without the profile; if any other function is not, all have.
#pragma once

#include <string_view>

#include "guard/guard.h"

namespace ptxopt::guard {

// A guarded result, and the options by which optimize() makes it.
struct Guarded {
  GuardedResult done;
  Options options;
};

// Guards `first`, which is optimize(text, options) with Options::outcomes.
Guarded judged(std::string_view text, const Options& options, const GuardOptions& guard, Result first);

// optimizeGuarded() of a text that needs no other form.
GuardedResult judgedWithProfile(std::string_view text, const Options& options, const GuardOptions& guard);

}  // namespace ptxopt::guard
