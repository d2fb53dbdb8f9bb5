// Members that older baselines lack are optional, and modelled times are taken only if they come from the present
// model, by its digest. An entry of the cache that cannot be read counts as none.
#include "ptxas/measures_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "support/json.h"
#include "target/target.h"
#include "timing/kernel_time.h"

namespace ptxopt::ptxas {
namespace {

std::optional<uint64_t> optionalAt(const Json& json, const char* key) {
  const Json& value = json.at(key);
  return value.is_null() ? std::nullopt : std::optional(value.get<uint64_t>());
}

Json orNull(const std::optional<uint64_t>& value) { return value ? Json(*value) : Json(nullptr); }

Json workToJson(const timing::Work& work) {
  return {{"written", work.written},           {"read", work.read},
          {"computed", work.computed},         {"exchanged", work.exchanged},
          {"instructions", work.instructions}, {"steps", work.steps}};
}

timing::Work workFrom(const Json& json) {
  timing::Work work;
  json.at("written").get_to(work.written);
  json.at("read").get_to(work.read);
  json.at("computed").get_to(work.computed);
  json.at("exchanged").get_to(work.exchanged);
  json.at("instructions").get_to(work.instructions);
  json.at("steps").get_to(work.steps);
  return work;
}

Json timeToJson(const ModelledTime& time) {
  Json inner = Json::array();
  for (const ModelledTime::Loop& loop : time.inner)
    inner.push_back({{"iterations", loop.iterations}, {"cycles", loop.cycles}, {"work", workToJson(loop.work)}});
  Json json = {{"model", time.model},           {"whole", time.whole},
               {"alone", time.alone},           {"loops-alone", time.loopsAlone},
               {"work", workToJson(time.work)}, {"inner", std::move(inner)}};
  for (const ModelledTime& version : time.versions) json["versions"].push_back(timeToJson(version));
  return json;
}

// Figures of another model than `model` may have other fields.
std::optional<ModelledTime> timeFrom(const Json& json, const std::string& model) {
  ModelledTime time;
  json.at("model").get_to(time.model);
  if (time.model != model) return std::nullopt;
  json.at("whole").get_to(time.whole);
  json.at("alone").get_to(time.alone);
  json.at("loops-alone").get_to(time.loopsAlone);
  time.work = workFrom(json.at("work"));
  for (const Json& loop : json.at("inner"))
    time.inner.push_back({loop.at("iterations").get<double>(), loop.at("cycles").get<ModelledTime::Cycles>(),
                          workFrom(loop.at("work"))});
  if (const auto versions = json.find("versions"); versions != json.end())
    for (const Json& version : *versions)
      if (auto found = timeFrom(version, model)) time.versions.push_back(std::move(*found));
  return time;
}

Json partsToJson(const std::optional<CodeParts>& parts) {
  if (!parts) return nullptr;
  Json json = Json::object();
  for (std::size_t p = 0; p < kCodeParts; ++p)
    json[std::string(name(static_cast<CodePart>(p)))] = fmt::format("{:08x}", (*parts)[p]);
  return json;
}

std::optional<CodeParts> partsFrom(const Json& json) {
  const auto found = json.find("code-parts");  // not in baselines of older versions
  if (found == json.end() || found->is_null()) return std::nullopt;
  CodeParts parts{};
  for (std::size_t p = 0; p < kCodeParts; ++p) {
    const auto digest = found->at(std::string(name(static_cast<CodePart>(p)))).get<std::string>();
    std::from_chars(digest.data(), digest.data() + digest.size(), parts[p], 16);
  }
  return parts;
}

Json notesToJson(const std::optional<std::vector<Note>>& notes) {
  if (!notes) return nullptr;
  Json json = Json::array();
  for (const Note& note : *notes) json.push_back({{"id", note.id}, {"text", note.text}, {"times", note.times}});
  return json;
}

std::optional<std::vector<Note>> notesFrom(const Json& json) {
  const auto found = json.find("notes");  // not in baselines of older versions
  if (found == json.end() || found->is_null()) return std::nullopt;
  std::vector<Note> notes;
  for (const Json& note : *found)
    notes.push_back(
        {note.at("id").get<std::string>(), note.at("text").get<std::string>(), note.at("times").get<uint32_t>()});
  return notes;
}

FunctionMeasures functionMeasuresFrom(const Json& json, const std::string& model) {
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
  // Not in baselines of older versions.
  if (const auto time = json.find("cycles"); time != json.end() && !time->is_null())
    f.time = timeFrom(*time, model);
  f.notes = notesFrom(json);
  if (const auto found = json.find("compile-time"); found != json.end()) f.compileTime = found->get<uint64_t>();
  json.at("code").get_to(f.code);
  f.codeParts = partsFrom(json);
  return f;
}

}  // namespace

Json toJson(const FunctionMeasures& f) {
  Json json = {{"name", f.name},
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
               {"cycles", f.time ? timeToJson(*f.time) : Json(nullptr)},
               {"notes", notesToJson(f.notes)},
               {"code", f.code},
               {"code-parts", partsToJson(f.codeParts)}};
  if (f.compileTime) json["compile-time"] = *f.compileTime;
  return json;
}

Json toJson(const Measures& m) {
  Json functions = Json::array();
  for (const FunctionMeasures& f : m.functions) functions.push_back(toJson(f));
  return {{"architecture", m.architecture}, {"functions", std::move(functions)}};
}

Measures measuresFrom(const Json& json) {
  Measures m;
  json.at("architecture").get_to(m.architecture);
  const auto number = target::numberOf(m.architecture);
  const std::string model = number ? timing::digestOf(target::Target(*number).machine()) : std::string();
  for (const Json& f : json.at("functions")) m.functions.push_back(functionMeasuresFrom(f, model));
  std::sort(m.functions.begin(), m.functions.end(),
            [](const FunctionMeasures& a, const FunctionMeasures& b) { return a.name < b.name; });
  return m;
}

std::optional<Measures> measuresOfEntry(std::string_view entry) try {
  constexpr int kDepth = 16;  // twice what is written
  return measuresFrom(parseBounded(entry, kDepth));
} catch (const std::exception&) {
  return std::nullopt;
}

}  // namespace ptxopt::ptxas
