// What a pass says of its change of a function where ptxas makes the same machine code with it and without it.
//
// Such a change is for who reads the text. Where nobody does (the knob `tidy` is 0) and no other step changed the function, its
// text stays as it was (api/pipeline_run.cpp): then nobody has to ask ptxas about it either.
#pragma once

#include <algorithm>

#include "passes/manager/pass.h"

namespace ptxopt {

inline constexpr std::string_view kSameCode = "same-code";

inline void noteSameCode(PassContext& context, std::string why) { context.note(kSameCode, std::move(why)); }
inline bool hasSameCode(const PassReport& report) {
  return std::ranges::any_of(report.notes, [](const Note& n) { return n.name == kSameCode; });
}

}  // namespace ptxopt
