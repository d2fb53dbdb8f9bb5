#include <fmt/format.h>

#include "dump/dumps.h"

namespace ptxopt::dump {

void appendIntervals(std::string& out, FunctionView& view) {
  const LiveIntervals& intervals = view.analyses.liveIntervals();
  out += fmt::format("{}: live intervals, [start,end:value) by slot, and value@definition\n", view.name());
  for (uint32_t r = 0; r < intervals.size(); ++r)
    if (!intervals[RegId(r)].empty())
      out += fmt::format("  {} {}\n", view.registerName(RegId(r)), intervals[RegId(r)].toString());
}

}  // namespace ptxopt::dump
