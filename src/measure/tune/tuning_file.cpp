// The file is one JSON object with a kind and a format, and reading refuses others. The report for people holds the
// same recipes with the figures of all trials.
#include "tune/tuning_file.h"

#include <fmt/format.h>

#include <stdexcept>

#include "ptxas/cache.h"
#include "ptxas/measures_json.h"
#include "support/demangle.h"

namespace ptxopt::tune {
namespace {

constexpr std::string_view kKind = "ptxopt-tuned";
constexpr int kFormat = 1;

std::string_view name(Trial::State state) {
  switch (state) {
    case Trial::State::Measured: return "measured";
    case Trial::State::Same: return "same-text";
    case Trial::State::NoLimit: return "no-limit";
    case Trial::State::NotTried: return "not-tried";
    case Trial::State::Failed: return "failed";
    case Trial::State::NotInCode: return "not-in-code";
  }
  return "";
}

// What distinguishes one function's figures from another's; name and kind stand above.
Json figures(const ptxas::FunctionMeasures& f) {
  Json json = toJson(f);
  json.erase("name");
  json.erase("kind");
  return json;
}

Json trialJson(const Trial& t) {
  Json json{{"variant", t.variant}, {"result", name(t.state)}};
  if (t.state != Trial::State::NoLimit) json["options"] = toJson(t.recipe);
  if (!t.detail.empty()) json["detail"] = t.detail;
  if (t.state == Trial::State::Measured) json["measures"] = figures(t.measures);
  if (t.device) {
    Json& device = json["device"] = Json::object();
    if (!t.device->verdict.empty())
      device = {{"ratio", t.device->ratio},
                {"low", t.device->low},
                {"high", t.device->high},
                {"verdict", t.device->verdict}};
    if (!t.device->detail.empty()) device["detail"] = t.device->detail;
  }
  if (!t.rejected.empty()) json["rejected"] = t.rejected;
  if (!t.by.empty()) json["by"] = t.by;
  return json;
}

}  // namespace

std::string digestOf(std::string_view text) { return ptxas::Cache::key(text); }

Choice choiceOf(std::string_view input, const TuneResult& result, ptxas::Objective objective,
                std::string ptxasVersion) {
  Choice choice;
  choice.version = version();
  choice.ptxas = std::move(ptxasVersion);
  choice.architecture = result.architecture;
  choice.objective = name(objective);
  choice.input = digestOf(input);
  choice.output = digestOf(result.output);
  for (const TunedFunction& f : result.functions)
    if (!f.recipe.isAsItIs()) choice.functions.push_back({f.name, f.recipe});
  return choice;
}

Json toJson(const Choice& choice) {
  Json functions = Json::array();
  for (const AppliedRecipe& f : choice.functions)
    functions.push_back({{"name", f.function}, {"options", toJson(f.recipe)}});
  Json json{{"kind", kKind},
            {"format", kFormat},
            {"ptxopt", choice.version},
            {"ptxas", choice.ptxas},
            {"architecture", choice.architecture},
            {"objective", choice.objective},
            {"input", choice.input},
            {"output", choice.output}};
  if (!choice.profile.empty()) json["profile"] = choice.profile;
  json["functions"] = std::move(functions);
  return json;
}

Choice choiceFrom(std::string_view text) {
  const Json json = parseJson(text);
  if (!json.is_object() || json.value("kind", "") != kKind)
    throw std::invalid_argument("not a file that ptxopt tune --save wrote");
  if (const int format = json.at("format").get<int>(); format != kFormat)
    throw std::invalid_argument(fmt::format("of format {}, which this ptxopt does not know", format));
  Choice choice;
  choice.version = json.at("ptxopt").get<std::string>();
  choice.ptxas = json.at("ptxas").get<std::string>();
  choice.architecture = json.at("architecture").get<std::string>();
  choice.objective = json.at("objective").get<std::string>();
  choice.input = json.at("input").get<std::string>();
  choice.output = json.at("output").get<std::string>();
  choice.profile = json.value("profile", "");
  for (const Json& f : json.at("functions"))
    choice.functions.push_back({f.at("name").get<std::string>(), recipeFrom(f.at("options"))});
  return choice;
}

Json tuneReport(std::string_view input, const TuneResult& result, const Choice& choice, std::string_view fileName) {
  Json functions = Json::array();
  for (const TunedFunction& f : result.functions) {
    Json trials = Json::array();
    for (const Trial& t : f.trials) trials.push_back(trialJson(t));
    Json& json = functions.emplace_back(Json{{"name", f.name},
                                             {"demangled", demangled(f.name)},
                                             {"kind", f.isKernel ? "entry" : "func"},
                                             {"unit", f.unit}});
    if (f.inCode) {
      json["before"] = figures(f.before);
      json["after"] = figures(f.after);
    }
    json["variant"] = f.variant;
    json["options"] = toJson(f.recipe);
    if (!f.note.empty()) json["note"] = f.note;
    json["candidates"] = std::move(trials);
  }
  Json json{{"kind", "ptxopt-tune-report"},  {"format", kFormat},     {"file", fileName},
            {"bytes", input.size()},         {"input", choice.input}, {"output", choice.output},
            {"ptxopt", choice.version},      {"ptxas", choice.ptxas}, {"architecture", choice.architecture},
            {"objective", choice.objective}, {"runs", result.runs},   {"not-tried", result.notTried}};
  if (!choice.profile.empty()) json["profile"] = choice.profile;
  if (!result.trouble.empty()) json["trouble"] = result.trouble;
  json["functions"] = std::move(functions);
  return json;
}

}  // namespace ptxopt::tune
