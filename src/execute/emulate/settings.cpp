#include "emulate/settings.h"

#include "support/json.h"

namespace ptxopt::emulate {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Settings, tool, optimizes, optimize, compare, architecture, jobs,
                                                stepLimit, memory, heap, keep, totals, verbose, checksRaces,
                                                isLenient, recordFolder, recordKernel, recordMost, parent,
                                                countsTime, noise, devices, profiles, profileFolder)

std::string toJson(const Settings& settings) { return dumpJson(SortedJson(settings)); }

Settings readSettings(const std::string& json) { return parseSortedJson(json).get<Settings>(); }

}  // namespace ptxopt::emulate
