// The analyses of a module as text, for people and for tests.
//
// One function of this folder makes one dump of one function, and all of them are pure: the same module gives the
// same text, whatever was asked for besides. Each dump but that of the graph begins with a line `FUNCTION: WHAT`
// and indents what follows; blocks are called B0, B1, ... in the order of the text, loops L0, L1, ..., registers as
// in the source (view.h), and `line N` is a line of the module's text. The graph is Graphviz.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/dataflow/liveness.h"
#include "ir/module.h"

namespace ptxopt::dump {

enum class Dump : uint8_t {
  Cfg,
  Dominators,
  Loops,
  Slots,
  Liveness,
  Intervals,
  Ranges,
  Evolution,
  Footprints,
  Pressure,
  Occupancy
};

// "cfg,dom,loops,slots,liveness,intervals,ranges,scev,footprints,pressure,occupancy"
std::string dumpNames();
// The dumps of these names; an error in words comes back in `error`.
std::vector<Dump> findDumps(std::span<const std::string> names, std::string& error);

// For each function with a body, in the order of the module, the dumps in the order given. `architecture` takes the place
// of the module's own where it is not empty; `limits` is what liveness may take.
std::string dump(const Module& module, std::span<const Dump> dumps, std::string_view architecture = {},
                 Liveness::Limits limits = {});

}  // namespace ptxopt::dump
