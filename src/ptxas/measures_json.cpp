#include "ptxas/measures_json.h"

#include <algorithm>

namespace ptxopt {
namespace {

using Json = nlohmann::ordered_json;

std::optional<uint64_t> optionalAt(const Json& json, const char* key) {
  const Json& value = json.at(key);
  return value.is_null() ? std::nullopt : std::optional(value.get<uint64_t>());
}

Json orNull(const std::optional<uint64_t>& value) { return value ? Json(*value) : Json(nullptr); }

}  // namespace

Json toJson(const FunctionMeasures& f) {
  return {{"name", f.name},
          {"kind", f.isKernel ? "entry" : "func"},
          {"registers", f.registers},
          {"spill-stores", orNull(f.spillStores)},
          {"spill-loads", orNull(f.spillLoads)},
          {"stack", f.stack},
          {"shared", f.shared},
          {"constant", f.constant},
          {"barriers", f.barriers},
          {"threads", f.threads},
          {"instructions", f.instructions},
          {"inner", f.inner},
          {"inner-loops", f.innerLoops},
          {"warps", f.warps},
          {"code", f.code}};
}

Json toJson(const Measures& m) {
  Json functions = Json::array();
  for (const FunctionMeasures& f : m.functions) functions.push_back(toJson(f));
  return {{"architecture", m.architecture}, {"functions", std::move(functions)}};
}

FunctionMeasures functionMeasuresFrom(const Json& json) {
  FunctionMeasures f;
  json.at("name").get_to(f.name);
  f.isKernel = json.at("kind").get<std::string>() == "entry";
  json.at("registers").get_to(f.registers);
  f.spillStores = optionalAt(json, "spill-stores");
  f.spillLoads = optionalAt(json, "spill-loads");
  json.at("stack").get_to(f.stack);
  json.at("shared").get_to(f.shared);
  json.at("constant").get_to(f.constant);
  json.at("barriers").get_to(f.barriers);
  json.at("threads").get_to(f.threads);
  json.at("instructions").get_to(f.instructions);
  json.at("inner").get_to(f.inner);
  json.at("inner-loops").get_to(f.innerLoops);
  json.at("warps").get_to(f.warps);
  json.at("code").get_to(f.code);
  return f;
}

Measures measuresFrom(const Json& json) {
  Measures m;
  json.at("architecture").get_to(m.architecture);
  for (const Json& f : json.at("functions")) m.functions.push_back(functionMeasuresFrom(f));
  std::sort(m.functions.begin(), m.functions.end(),
            [](const FunctionMeasures& a, const FunctionMeasures& b) { return a.name < b.name; });
  return m;
}

}  // namespace ptxopt
