#include "emulate/settings.h"

#include "support/json.h"

namespace ptxopt::emulate {

// nlohmann's macro that describes a type is for its other type of JSON. These are the parts of that macro, which need these names
// of parameters.
#define PTXOPT_SETTINGS                                                                                   \
  tool, optimizes, optimize, compare, architecture, jobs, stepLimit, memory, heap, keep, totals, verbose, \
      checksRaces, isLenient, recordFolder, recordKernel, recordMost, parent, countsTime, noise, devices, \
      profiles, profileFolder

static void to_json(Json& nlohmann_json_j, const Settings& nlohmann_json_t) {
  NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(NLOHMANN_JSON_TO, PTXOPT_SETTINGS))
}

static void from_json(const Json& nlohmann_json_j, Settings& nlohmann_json_t) {
  const Settings nlohmann_json_default_obj;
  NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(NLOHMANN_JSON_FROM_WITH_DEFAULT, PTXOPT_SETTINGS))
}

std::string toJson(const Settings& settings) { return dumpJson(Json(settings)); }

Settings readSettings(const std::string& json) { return parseJson(json).get<Settings>(); }

}  // namespace ptxopt::emulate
