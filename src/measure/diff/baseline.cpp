#include "diff/baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "ptxas/measures_json.h"

namespace ptxopt::diff {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFormat = "ptxopt-baseline";
constexpr int kVersion = 1;

// Names may hold any bytes; what is not UTF-8 is replaced.
std::string dumped(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Unit unitFrom(const Json& json) {
  Unit unit;
  json.at("file").get_to(unit.file);
  Json measures = json;
  for (Json& f : measures.at("functions")) {
    for (const auto& [key, value] : f.items())
      if (value.is_number() && !value.is_number_unsigned())
        throw Json::other_error::create(501, "'" + key + "' is not a count", &f);
    if (!f.contains("code")) f["code"] = "";  // in baselines of older versions
  }
  unit.measures = ptxas::measuresFrom(measures);
  return unit;
}

}  // namespace

void Side::sortUnits() {
  std::sort(units.begin(), units.end(), [](const Unit& a, const Unit& b) {
    return std::tie(a.file, a.measures.architecture) < std::tie(b.file, b.measures.architecture);
  });
}

std::string writeBaseline(const Side& side) {
  std::string out = fmt::format(
      "{{\n  \"format\": {},\n  \"version\": {},\n  \"ptxas\": {},\n  \"ptxas-options\": {},\n  \"units\": [",
      dumped(kFormat), kVersion, dumped(side.ptxas.empty() ? Json(nullptr) : Json(side.ptxas)),
      dumped(side.ptxasOptions));
  const char* between = "\n";
  for (const Unit& unit : side.units) {
    out += fmt::format("{}    {{\n      \"file\": {},\n      \"architecture\": {},\n      \"functions\": [",
                       between, dumped(unit.file), dumped(unit.measures.architecture));
    between = ",\n";
    const char* betweenFunctions = "\n";
    for (const ptxas::FunctionMeasures& f : unit.measures.functions) {
      out += betweenFunctions + ("        " + dumped(toJson(f)));
      betweenFunctions = ",\n";
    }
    out += unit.measures.functions.empty() ? "]\n    }" : "\n      ]\n    }";
  }
  out += side.units.empty() ? "]\n}\n" : "\n  ]\n}\n";
  return out;
}

bool readBaseline(std::string_view text, Side& side, std::string& error) {
  try {
    const Json json = Json::parse(text);
    if (json.value("format", "") != kFormat) {
      error = fmt::format("it has no \"format\": \"{}\"", kFormat);
      return false;
    }
    if (const int version = json.at("version").get<int>(); version != kVersion) {
      error = fmt::format("its version is {}; this program reads {}", version, kVersion);
      return false;
    }
    if (!json.at("ptxas").is_null()) json.at("ptxas").get_to(side.ptxas);
    json.at("ptxas-options").get_to(side.ptxasOptions);
    for (const Json& unit : json.at("units")) side.units.push_back(unitFrom(unit));
  } catch (const Json::exception& e) {
    error = e.what();
    return false;
  }
  side.isOneFile = false;
  side.sortUnits();
  const auto same = [](const Unit& a, const Unit& b) {
    return a.file == b.file && a.measures.architecture == b.measures.architecture;
  };
  const auto twice = std::adjacent_find(side.units.begin(), side.units.end(), same);
  if (twice == side.units.end()) return true;
  error = fmt::format("it has '{}' for {} twice", twice->file, twice->measures.architecture);
  return false;
}

}  // namespace ptxopt::diff
