// A table has a row for each dump, with its name and the function that appends it, in the order of `enum class Dump`.
// Functions follow the order of the module, and each function's dumps the order asked for.
#include "dump/dump.h"

#include <fmt/format.h>

#include <algorithm>

#include "dump/dumps.h"

namespace ptxopt::dump {
namespace {

struct Row {
  std::string_view name;
  Dump dump;
  void (*append)(std::string&, FunctionView&);
};

constexpr Row kRows[] = {
    {"cfg", Dump::Cfg, appendCfg},
    {"dom", Dump::Dominators, appendDominators},
    {"loops", Dump::Loops, appendLoops},
    {"slots", Dump::Slots, appendSlots},
    {"liveness", Dump::Liveness, appendLiveness},
    {"intervals", Dump::Intervals, appendIntervals},
    {"ranges", Dump::Ranges, appendRanges},
    {"scev", Dump::Evolution, appendEvolution},
    {"footprints", Dump::Footprints, appendFootprints},
    {"pressure", Dump::Pressure, appendPressure},
    {"occupancy", Dump::Occupancy, appendOccupancy},
};

}  // namespace

std::string dumpNames() {
  std::string out;
  for (const Row& row : kRows) out += fmt::format("{}{}", out.empty() ? "" : ",", row.name);
  return out;
}

std::vector<Dump> findDumps(std::span<const std::string> names, std::string& error) {
  std::vector<Dump> found;
  for (const std::string& name : names) {
    const auto row = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) { return r.name == name; });
    if (row == std::end(kRows))
      error = fmt::format("there is no dump '{}'; there are {}", name, dumpNames());
    else
      found.push_back(row->dump);
  }
  return found;
}

std::string dump(const Module& module, std::span<const Dump> dumps, std::string_view architecture,
                 Liveness::Limits limits) {
  std::string out;
  const ModuleView view(module, architecture);
  for (const Function& f : module.functions) {
    if (!f.hasBody) continue;
    FunctionView function(view, f, limits);
    for (const Dump d : dumps) {
      const Row& row = kRows[static_cast<std::size_t>(d)];
      if (d == Dump::Cfg || function.usable())
        row.append(out, function);
      else
        out += fmt::format("{}: {}: its graph has too many edges\n", function.name(), row.name);
    }
  }
  return out;
}

}  // namespace ptxopt::dump
