// Two writers show one diagnosis: lines for people, and one JSON object for programs.
#include <fmt/format.h>

#include "doctor/diagnosis.h"
#include "support/json.h"
#include "support/printable.h"

namespace ptxopt::doctor {
namespace {

constexpr const char* kCalls[] = {"yes", "no", "per-call"};
constexpr const char* kCallsInWords[] = {"calls ptxopt", "does not call ptxopt",
                                         "calls ptxopt where its command line says so"};

std::string architecturesOf(const ProgramInfo& program) {
  const std::vector<std::string>& all = program.abilities.architectures;
  return all.empty() ? "architectures not known" : fmt::format("{}", fmt::join(all, " "));
}

// The names of the rows of one kind, on a line; nothing where there are none.
std::string faultsText(const ProgramInfo& program, ptxas::Evidence evidence) {
  std::vector<std::string_view> names;
  for (const ptxas::KnownBad* row : program.knownBad)
    if (row->evidence == evidence) names.push_back(row->name);
  return names.empty() ? std::string()
                       : fmt::format("    known faults, {}: {}\n", ptxas::name(evidence), fmt::join(names, ", "));
}

std::string programText(const ProgramInfo& program) {
  std::string out = fmt::format("  {}{}\n    {}", program.path,
                                program.origin.empty() ? "" : fmt::format(" ({})", program.origin),
                                program.version.empty() ? "version not known" : program.version);
  if (program.abilities.isKnown())
    out += fmt::format(", PTX up to {}", ptxas::versionText(program.abilities.newest));
  out += fmt::format("\n    {}\n", architecturesOf(program));
  return out + faultsText(program, ptxas::Evidence::Tried) + faultsText(program, ptxas::Evidence::Reported);
}

std::string clientText(const ClientInfo& client, bool isLogged) {
  std::string out = fmt::format("  {}{}{}: {}\n", client.title, client.version.empty() ? "" : " ", client.version,
                                client.found.empty() ? "not found" : client.found);
  if (client.found.empty()) return out;
  out += fmt::format("    {}\n", kCallsInWords[static_cast<std::size_t>(client.callsUs)]);
  if (client.lastCall)
    out += fmt::format("    last call: {}, {} of {} inputs changed, by {}\n", client.lastCall->time,
                       client.lastCall->changed, client.lastCall->inputs, client.lastCall->ptxas);
  else if (isLogged)
    out += "    no call is in the log\n";
  if (client.callsUs != CallsUs::Yes || !client.problems.empty()) out += fmt::format("    set: {}\n", client.toSet);
  return out;
}

Json programJson(const ProgramInfo& program) {
  Json json = {{"path", program.path}};
  if (!program.origin.empty()) json["origin"] = program.origin;
  json["version"] = program.version;
  if (program.abilities.isKnown()) json["newest_ptx"] = ptxas::versionText(program.abilities.newest);
  json["architectures"] = program.abilities.architectures;
  for (const ptxas::KnownBad* row : program.knownBad)
    json["known_faults"].push_back({{"name", row->name},
                                    {"first_good", row->firstGood},
                                    {"architectures", row->architectures},
                                    {"pattern", ptxas::rowOf(row->pattern).name},
                                    {"effect", ptxas::name(row->effect)},
                                    {"evidence", ptxas::name(row->evidence)},
                                    {"summary", row->summary},
                                    {"source", row->source}});
  return json;
}

Json clientJson(const ClientInfo& client) {
  Json json = {{"name", client.name},       {"found", client.found},
               {"version", client.version}, {"calls_ptxopt", kCalls[static_cast<std::size_t>(client.callsUs)]},
               {"set", client.toSet},       {"problems", client.problems}};
  if (client.lastCall)
    json["last_call"] = {{"time", client.lastCall->time},     {"ptxas", client.lastCall->ptxas},
                         {"why", client.lastCall->why},       {"architecture", client.lastCall->architecture},
                         {"inputs", client.lastCall->inputs}, {"changed", client.lastCall->changed}};
  return json;
}

}  // namespace

std::string toText(const Diagnosis& diagnosis) {
  std::string out = "ptxas, in the order in which they are tried:\n";
  for (const ProgramInfo& program : diagnosis.ptxas) out += programText(program);
  if (diagnosis.ptxas.empty()) out += "  none\n";
  out += "nvcc:\n";
  for (const ProgramInfo& program : diagnosis.nvcc) out += programText(program);
  if (diagnosis.nvcc.empty()) out += "  none\n";
  out += fmt::format("configuration file: {}\n", diagnosis.config.empty() ? "none" : diagnosis.config);
  out +=
      fmt::format("log of calls: {}\n", diagnosis.log.empty() ? "none; PTXOPT_LOG=FILE keeps one" : diagnosis.log);
  out += fmt::format("key for CCACHE_NAMESPACE and SCCACHE_C_CUSTOM_CACHE_BUSTER: {}\n", diagnosis.cacheKey);
  out += "variables that are set:\n";
  for (const auto& [name, value] : diagnosis.variables) out += fmt::format("  {}={}\n", name, printable(value));
  if (diagnosis.variables.empty()) out += "  none\n";
  out += "clients:\n";
  for (const ClientInfo& client : diagnosis.clients) out += clientText(client, !diagnosis.log.empty());
  if (diagnosis.problems.empty()) return out + "nothing is wrong\n";
  out += "what is wrong:\n";
  for (const std::string& problem : diagnosis.problems) out += fmt::format("  {}\n", problem);
  return out;
}

std::string toJson(const Diagnosis& diagnosis) {
  Json json = {{"ptxas", Json::array()},      {"nvcc", Json::array()},           {"config", diagnosis.config},
               {"log", diagnosis.log},        {"cache_key", diagnosis.cacheKey}, {"clients", Json::array()},
               {"variables", Json::object()}, {"problems", diagnosis.problems}};
  for (const auto& [name, value] : diagnosis.variables) json["variables"][name] = value;
  for (const ProgramInfo& program : diagnosis.ptxas) json["ptxas"].push_back(programJson(program));
  for (const ProgramInfo& program : diagnosis.nvcc) json["nvcc"].push_back(programJson(program));
  for (const ClientInfo& client : diagnosis.clients) json["clients"].push_back(clientJson(client));
  return dumpJson(json, 2) + '\n';
}

}  // namespace ptxopt::doctor
