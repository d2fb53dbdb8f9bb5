// The frame is written by hand, with each function's JSON on a line; reading accepts one object or a history of one a
// line and takes the last. Older versions may lack members.
#include "diff/baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "ptxas/measures_json.h"
#include "support/json.h"

namespace ptxopt::diff {
namespace {

constexpr std::string_view kFormat = "ptxopt-baseline";
constexpr int kVersion = 1;

// What becomes JSON, as text.
std::string dumped(const Json& json) { return dumpJson(json); }

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

namespace {

bool readSide(const Json& json, Side& side, std::string& error) {
  try {
    if (json.value("format", "") != kFormat) {
      error = fmt::format("it has no \"format\": \"{}\"", kFormat);
      return false;
    }
    if (const int version = json.at("version").get<int>(); version != kVersion) {
      error = fmt::format("its version is {}; this program reads {}", version, kVersion);
      return false;
    }
    if (json.contains("label")) json.at("label").get_to(side.name);
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

// A text of several lines, each of them JSON, is a history.
bool parse(std::string_view text, std::vector<Json>& all, std::string& error) {
  if (Json json = parseJsonOrDiscard(text); !json.is_discarded()) {
    all.push_back(std::move(json));
    return true;
  }
  for (std::size_t at = 0, line = 1; at < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view one = text.substr(at, end - at);
    at = end + 1;
    if (one.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    Json json = parseJsonOrDiscard(one);
    if (json.is_discarded()) {
      // The parser knows more about a baseline that is broken.
      if (line == 1) break;
      error = fmt::format("line {} is not JSON", line);
      return false;
    }
    all.push_back(std::move(json));
  }
  if (!all.empty()) return true;
  try {
    all.push_back(parseJson(text));
  } catch (const Json::exception& e) {
    error = e.what();
  }
  return false;
}

}  // namespace

std::string writeHistoryLine(const Side& side, const std::string& label) {
  Json json = parseJson(writeBaseline(side));
  json["label"] = label;
  return dumped(json) + "\n";
}

bool readHistory(std::string_view text, const std::string& name, std::vector<Side>& sides, std::string& error) {
  std::vector<Json> all;
  if (!parse(text, all, error)) return false;
  for (const Json& json : all) {
    Side& side = sides.emplace_back();
    side.name = name;
    if (!readSide(json, side, error)) return false;
  }
  return true;
}

bool isHistory(std::string_view text) {
  const std::size_t end = text.find('\n');
  return Json::accept(text.substr(0, end)) &&
         (end == std::string_view::npos || end + 1 == text.size() || text[end + 1] == '{');
}

bool readBaseline(std::string_view text, Side& side, std::string& error) {
  std::vector<Side> sides;
  if (!readHistory(text, side.name, sides, error)) return false;
  const std::string name = std::move(side.name);
  side = std::move(sides.back());
  side.name = name;
  return true;
}

}  // namespace ptxopt::diff
