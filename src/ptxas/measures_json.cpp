#include "ptxas/measures_json.h"

#include <algorithm>

#include "analysis/machine/target_number.h"
#include "timing/kernel_time.h"

namespace ptxopt {
namespace {

using Json = nlohmann::ordered_json;

std::optional<uint64_t> optionalAt(const Json& json, const char* key) {
  const Json& value = json.at(key);
  return value.is_null() ? std::nullopt : std::optional(value.get<uint64_t>());
}

Json orNull(const std::optional<uint64_t>& value) { return value ? Json(*value) : Json(nullptr); }

Json timeToJson(const std::optional<ModelledTime>& time) {
  if (!time) return nullptr;
  return {{"model", time->model}, {"whole", time->whole}, {"inner", time->inner}, {"issued", time->issued}};
}

std::optional<ModelledTime> timeFrom(const Json& json) {
  const auto found = json.find("cycles");  // not in baselines of older versions
  if (found == json.end() || found->is_null()) return std::nullopt;
  ModelledTime time;
  found->at("model").get_to(time.model);
  found->at("whole").get_to(time.whole);
  found->at("inner").get_to(time.inner);
  found->at("issued").get_to(time.issued);
  return time;
}

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
          {"cycles", timeToJson(f.time)},
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
  f.time = timeFrom(json);
  json.at("code").get_to(f.code);
  return f;
}

Measures measuresFrom(const Json& json) {
  Measures m;
  json.at("architecture").get_to(m.architecture);
  const auto number = targetNumber(m.architecture);
  const std::string model = number ? timing::digestOf(timing::Machine(*number)) : std::string();
  for (const Json& f : json.at("functions")) {
    m.functions.push_back(functionMeasuresFrom(f));
    auto& time = m.functions.back().time;
    if (time && time->model != model) time.reset();
  }
  std::sort(m.functions.begin(), m.functions.end(),
            [](const FunctionMeasures& a, const FunctionMeasures& b) { return a.name < b.name; });
  return m;
}

}  // namespace ptxopt
