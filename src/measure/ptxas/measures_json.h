// Measures as JSON and back: what `diff`, `tune`, baselines and the cache of ptxas runs write.
#pragma once

#include <optional>
#include <string_view>

#include "ptxas/measures.h"
#include "support/json.h"

namespace ptxopt::ptxas {

Json toJson(const FunctionMeasures& f);
Json toJson(const Measures& m);
// Throws Json::exception where something is missing or of another type. Leaves out modelled times of another model.
Measures measuresFrom(const Json& json);
// From an entry of the cache. Nothing where it is not JSON of that kind, whatever else it is.
std::optional<Measures> measuresOfEntry(std::string_view entry);

}  // namespace ptxopt::ptxas
