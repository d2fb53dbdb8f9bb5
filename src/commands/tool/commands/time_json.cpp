// Each region of a function has its cycles in the three memory scenarios, the cycles of each unit, and its lines; with
// --code also its instructions with their waits. Numbers have two digits after the point.
#include <fmt/format.h>

#include <cmath>

#include "diff/names.h"
#include "support/json.h"
#include "tool/commands/time_report.h"

namespace ptxopt::tool {
namespace {

using namespace timing;

constexpr const char* kScenarioKeys[kScenarios] = {"l1", "l2", "dram"};

// Two digits after the point: more would say more than the model knows.
double rounded(double x) { return std::round(x * 100) / 100; }

Json unitsJson(const RegionTime& r) {
  Json units = Json::object();
  for (std::size_t u = 0; u < kUnits; ++u)
    if (r.units[u] > 0) units[std::string(nameOf(static_cast<Unit>(u)))] = rounded(r.units[u]);
  return units;
}

Json lineJson(const TimeReport& report, uint32_t line) {
  if (line == 0) return nullptr;
  Json json{{"line", line}};
  if (const SourceLine* source = report.sourceOf(line))
    json["source"] = Json{{"file", source->file}, {"line", source->line}};
  return json;
}

void addCycles(Json& to, const FunctionTime& time) {
  to["cycles"] = Json::object();
  to["cycles-alone"] = Json::object();
  for (std::size_t s = 0; s < kScenarios; ++s) {
    to["cycles"][kScenarioKeys[s]] = rounded(time.whole.scenarios[s].cycles);
    to["cycles-alone"][kScenarioKeys[s]] = rounded(time.whole.alone[s].cycles);
  }
}

Json bodyJson(const ptxas::TimedBody& body) {
  Json json{{"first-line", body.of.firstLine},
            {"last-line", body.of.lastLine},
            {"share", body.of.share},
            {"share-from", nameOf(body.of.isSeen ? IterationsFrom::Profiled : IterationsFrom::Assumed)}};
  addCycles(json, body.time);
  return json;
}

Json codeJson(const TimeReport& report, const ptxas::TimedFunction& f, const RegionTime& r) {
  Json code = Json::array();
  std::array<Trace, kScenarios> traces;
  const target::Machine& machine = f.code.target.machine();
  for (std::size_t s = 0; s < kScenarios; ++s)
    traces[s] = traceOf(f.code, r.region, machine, static_cast<Scenario>(s));
  for (std::size_t n = 0; n < traces[0].issues.size(); ++n) {
    const uint32_t i = traces[0].issues[n].instruction;
    const sass::Instruction& instruction = f.code.instructions[i];
    Json waits = Json::object();
    for (std::size_t s = 0; s < kScenarios; ++s) {
      const Issue& issue = traces[s].issues[n];
      if (issue.wait <= 0 || issue.waitedFor == Issue::kNone) continue;
      waits[kScenarioKeys[s]] =
          Json{{"cycles", rounded(issue.wait)},
               {"for", traces[s].issues[issue.waitedFor].instruction * sass::kInstructionBytes},
               {"iteration-before", issue.isFromIterationBefore}};
    }
    Json units = Json::object();
    for (const Use& u : machine.uses(f.code.operations[i].kind)) units[std::string(nameOf(u.unit))] = u.cycles;
    code.push_back(Json{{"at", i * sass::kInstructionBytes},
                        {"opcode", sass::mnemonicOf(instruction.opcode)},
                        {"kind", nameOf(f.code.operations[i].kind)},
                        {"frequency", rounded(traces[0].issues[n].frequency)},
                        {"stall", instruction.control.stall},
                        {"units", std::move(units)},
                        {"waits", std::move(waits)},
                        {"ptx", lineJson(report, f.lineOf(i))}});
  }
  return code;
}

Json regionJson(const TimeReport& report, const ptxas::TimedFunction& f, const RegionTime& r, bool code) {
  Json json;
  const bool isLoop = r.region.loop != Region::kNone;
  if (isLoop) {
    const sass::Loop& loop = f.code.flow.loops()[r.region.loop];
    json["loop"] = Json{{"header", f.code.flow.blocks()[loop.header].first * sass::kInstructionBytes},
                        {"depth", loop.depth},
                        {"innermost", loop.isInnermost}};
  } else {
    json["loop"] = nullptr;
  }
  json["iterations"] = rounded(r.region.iterations);
  json["iterations-from"] = isLoop ? Json(nameOf(r.region.from)) : Json(nullptr);
  json["instructions"] = rounded(r.work.instructions);
  json["bytes"] = rounded(r.bytes);
  json["units"] = unitsJson(r);
  json["scenarios"] = Json::object();
  for (std::size_t s = 0; s < kScenarios; ++s) {
    const ScenarioTime& t = r.scenarios[s];
    json["scenarios"][kScenarioKeys[s]] = Json{{"cycles", rounded(t.cycles)},
                                               {"bottleneck", nameOf(t.bottleneck, static_cast<Scenario>(s))},
                                               {"latency", rounded(t.latency)},
                                               {"bandwidth", rounded(t.bandwidth)}};
  }
  if (code) json["code"] = codeJson(report, f, r);
  return json;
}

}  // namespace

std::string timeJson(const TimeReport& report, bool code) {
  Json json{{"file", report.file},
            {"architecture", report.architecture},
            {"figures-of", fmt::format("sm_{}", report.figuresOf)},
            {"ptxas", report.ptxas.empty() ? Json(nullptr) : Json(report.ptxas)},
            {"iterations-assumed", report.iterations},
            {"profile", report.profile.empty() ? Json(nullptr) : Json(report.profile)},
            {"functions", Json::array()}};
  for (const ptxas::TimedFunction& f : report.functions) {
    Json function{{"name", f.name},
                  {"demangled", diff::fullName(f.name, {})},
                  {"kind", f.isKernel ? "entry" : "func"},
                  {"registers", f.registers},
                  {"threads", f.threads},
                  {"warps", f.time.warps}};
    addCycles(function, f.time);
    if (!f.bodies.empty()) function["bodies"] = Json::array();
    for (const ptxas::TimedBody& body : f.bodies) function["bodies"].push_back(bodyJson(body));
    function["regions"] = Json::array();
    for (const RegionTime& r : f.time.regions) function["regions"].push_back(regionJson(report, f, r, code));
    json["functions"].push_back(std::move(function));
  }
  return dumpJson(json, 2) + "\n";
}

}  // namespace ptxopt::tool
