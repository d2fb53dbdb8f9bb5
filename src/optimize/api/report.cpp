// Counters are added up over functions into one summary for each step. The JSON leaves out functions without news and
// knobs at their defaults.
#include "api/report.h"

#include <algorithm>

#include "support/json.h"

namespace ptxopt {
namespace {

Json loopJson(const LoopReport& loop) {
  Json json = {{"header", loop.header}, {"depth", loop.depth}, {"backedges", loop.tripCount}};
  if (loop.line.line != 0) json["line"] = {{"file", loop.line.file}, {"line", loop.line.line}};
  if (!loop.declined.empty()) json["declined"] = loop.declined;
  if (loop.instructions)
    json["integer-instructions"] = {{"before", loop.instructions->before}, {"after", loop.instructions->after}};
  json["groups"] = Json::array();
  for (const LoopReport::Group& group : loop.groups) {
    Json forms = Json::array();
    for (const LoopReport::Form& form : group.forms) {
      Json f = {{"form", form.name},
                {"per-iteration", form.perIteration},
                {"setup", form.setup},
                {"registers", form.registers},
                {"chosen", form.chosen}};
      if (form.saved != 0) f["saved"] = form.saved;
      if (!form.rejected.empty()) f["rejected"] = form.rejected;
      forms.push_back(std::move(f));
    }
    Json g = {
        {"space", group.space}, {"uses", group.uses}, {"address", group.address}, {"forms", std::move(forms)}};
    if (!group.declined.empty()) g["declined"] = group.declined;
    json["groups"].push_back(std::move(g));
  }
  return json;
}

// Those that do not have their defaults.
Json knobsJson(const Options& options) {
  Knobs values;
  for (const auto& [name, value] : options.knobs) values.set(name, value);
  auto json = Json::object();
  for (const KnobInfo& knob : knobTable()) {
    const int64_t value = values[static_cast<Knob>(&knob - knobTable().data())];
    if (value == knob.defaultValue) continue;
    if (knob.values.empty())
      json[std::string(knob.name)] = value;
    else
      json[std::string(knob.name)] = knobValueName(knob, value);
  }
  return json;
}

}  // namespace

bool isQuiet(const FunctionReport& report) {
  return std::ranges::none_of(report.passes, [](const PassReport& pass) {
    const bool counts = std::ranges::any_of(pass.counters, [](const auto& counter) { return counter.second != 0; });
    return pass.changed || counts || !pass.declines.empty() || !pass.notes.empty() || !pass.loops.empty();
  });
}

void addUp(const std::vector<PassReport>& passes, std::vector<PassSummary>& sums) {
  if (sums.size() < passes.size()) sums.resize(passes.size());
  for (std::size_t p = 0; p < passes.size(); ++p) {
    const PassReport& pass = passes[p];
    PassSummary& sum = sums[p];
    sum.name = pass.pass;
    sum.changedFunctions += pass.changed;
    sum.skippedFunctions += pass.skipped;
    sum.seconds += pass.seconds;
    for (const auto& [counter, n] : pass.counters) sum.counters[std::string(counter)] += n;
  }
}

void summarize(const Module& module, const Options&, std::vector<FunctionReport>& reports, Result& result) {
  for (std::size_t i = 0; i < reports.size(); ++i) {
    FunctionReport& report = reports[i];
    if (!module.functions[i].hasBody) continue;
    ++result.functions;
    result.functionsChanged += module.functions[i].changed;
    result.instructions += report.instructions;
    result.instructionsAfter += report.instructionsAfter;
    result.dumps += report.dumps;
    result.analysisSeconds += report.analysisSeconds;
    report.dumps.clear();
    if (report.uninitialisedUnknown)
      result.remarks.push_back({"too-large", std::string(module.text(module.functions[i].name)),
                                "registers that are read before they are written were not looked for: that needs "
                                "more memory than liveness-memory-mb allows"});
    addUp(report.passes, result.passes);
    for (const PassReport& pass : report.passes) {
      for (const Decline& decline : pass.declines)
        result.remarks.push_back({std::string(decline.reason), std::string(module.text(module.functions[i].name)),
                                  std::string(pass.pass) + ": " + decline.detail});
      for (const Note& note : pass.notes)
        result.remarks.push_back({std::string(note.name), std::string(module.text(module.functions[i].name)),
                                  std::string(pass.pass) + ": " + note.text});
    }
  }
}

std::string reportJson(const Module& module, const Options& options, const std::vector<FunctionReport>& reports,
                       const Result& result) {
  Json json;
  json["ptxopt"] = version();
  json["input"] = options.fileName;
  json["ptx-version"] = std::to_string(module.versionMajor) + "." + std::to_string(module.versionMinor);
  json["architecture"] = result.architecture;
  json["instructions"] = {{"before", result.instructions}, {"after", result.instructionsAfter}};

  json["knobs"] = knobsJson(options);

  Json passes = Json::array();
  for (const PassSummary& pass : result.passes) {
    Json entry = {{"name", pass.name},
                  {"changed-functions", pass.changedFunctions},
                  {"skipped-functions", pass.skippedFunctions}};
    for (const auto& [counter, n] : pass.counters) entry["counters"][counter] = n;
    passes.push_back(std::move(entry));
  }
  json["passes"] = std::move(passes);

  Json remarks = Json::array();
  for (const Remark& remark : result.remarks)
    remarks.push_back({{"name", remark.name}, {"place", remark.place}, {"message", remark.message}});
  json["remarks"] = std::move(remarks);

  Json functions = Json::array();
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const Function& f = module.functions[i];
    if (!f.hasBody) continue;
    Json entry = {{"name", module.text(f.name)},
                  {"kind", f.isEntry ? "entry" : "func"},
                  {"changed", f.changed},
                  {"instructions", {{"before", reports[i].instructions}, {"after", reports[i].instructionsAfter}}},
                  {"names", {{"before", reports[i].names}, {"after", reports[i].namesAfter}}},
                  {"bytes", {{"before", reports[i].bytes}, {"after", reports[i].bytesAfter}}}};
    for (const PassReport& pass : reports[i].passes) {
      Json p = {{"name", pass.pass}, {"changed", pass.changed}, {"skipped", pass.skipped}};
      for (const auto& [counter, n] : pass.counters) p["counters"][std::string(counter)] = n;
      for (const Decline& decline : pass.declines)
        p["declined"].push_back({{"reason", decline.reason}, {"detail", decline.detail}});
      for (const LoopReport& loop : pass.loops) p["loops"].push_back(loopJson(loop));
      for (const Note& note : pass.notes) p["notes"].push_back({{"name", note.name}, {"text", note.text}});
      entry["passes"].push_back(std::move(p));
    }
    functions.push_back(std::move(entry));
  }
  json["functions"] = std::move(functions);
  return dumpJson(json, 2) + "\n";
}

}  // namespace ptxopt
