// Measures as JSON and back: what `diff`, `tune`, baselines and the cache of ptxas runs write.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "ptxas/measures.h"

namespace ptxopt::ptxas {

nlohmann::ordered_json toJson(const FunctionMeasures& f);
nlohmann::ordered_json toJson(const Measures& m);
// Throws nlohmann::json::exception where something is missing or of another type. Modelled times of another model are left
// out.
Measures measuresFrom(const nlohmann::ordered_json& json);
// From an entry of the cache. Nothing where it is not JSON of that kind, whatever else it is.
std::optional<Measures> measuresOfEntry(std::string_view entry);

}  // namespace ptxopt::ptxas
