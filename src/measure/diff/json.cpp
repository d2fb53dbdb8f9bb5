// Each part of a result has its function; a figure that is not known is null, and a row has the figures of both sides
// with the reasons for its verdict.
#include <fmt/format.h>

#include "diff/names.h"
#include "diff/output.h"
#include "ptxas/measures_json.h"
#include "support/json.h"

namespace ptxopt::diff {
namespace {

Json orNull(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }
template <class T>
Json orNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json toJson(const Limit& limit) {
  return {{"measure", name(limit.measure)},
          {"tolerance", limit.tolerance},
          {"unit", limit.isPercent ? "percent" : "absolute"}};
}

Json toJson(const Bound& bound) {
  return {{"kernel", orNull(bound.kernel)},
          {"figure", bound.figure},
          {"most", bound.isLeast ? Json(nullptr) : Json(bound.value)},
          {"least", bound.isLeast ? Json(bound.value) : Json(nullptr)}};
}

Json sideOf(const std::string& name, const std::string& ptxas) {
  return {{"name", name}, {"ptxas", orNull(ptxas)}};
}

// The measures without the name, which is the row's.
Json measuresOf(const std::optional<ptxas::FunctionMeasures>& f) {
  if (!f) return nullptr;
  Json json = ptxas::toJson(*f);
  json.erase("name");
  json.erase("kind");
  return json;
}

Json toJson(const Row& row) {
  Json regressions = Json::array();
  for (const Regression& r : row.regressions) {
    Json json = toJson(r.limit);
    json["before"] = r.before;
    json["after"] = r.after;
    regressions.push_back(std::move(json));
  }
  Json breaches = Json::array();
  for (const Breach& b : row.breaches) {
    Json json = toJson(b.bound);
    json["value"] = b.value;
    breaches.push_back(std::move(json));
  }
  Json notes = Json::array(), parts = nullptr, by = nullptr;
  if (row.by.sign != 0) by = {{"measure", name(row.by.by)}, {"detail", row.by.text()}};
  if (row.isCompared() && row.before->codeParts && row.after->codeParts) {
    parts = Json::array();
    for (const ptxas::CodePart part : ptxas::differingParts(*row.before->codeParts, *row.after->codeParts))
      parts.push_back(name(part));
  }
  for (const ptxas::Note& note : row.newNotes) notes.push_back({{"id", note.id}, {"text", note.text}});
  return {{"name", row.name},
          {"demangled", orNull(fullName(row.name, {}))},
          {"kind", row.isKernel ? "entry" : "func"},
          {"file", row.file},
          {"architecture", row.architecture},
          {"old-name", orNull(row.oldName)},
          {"old-file", orNull(row.oldFile)},
          {"old-architecture", orNull(row.oldArchitecture)},
          {"paired-by", row.isCompared() ? Json(name(row.pairedBy)) : Json(nullptr)},
          {"change", name(row.change)},
          {"same-code", orNull(row.hasSameCode())},
          {"decided-by", std::move(by)},
          {"code-differs-in", std::move(parts)},
          {"regressions", std::move(regressions)},
          {"breaches", std::move(breaches)},
          {"new-notes", std::move(notes)},
          {"before", measuresOf(row.before)},
          {"after", measuresOf(row.after)}};
}

Json toJson(const Summary& s) {
  Json kernels = {{"compared", s.compared}, {"same-code", s.sameCode}};
  for (std::size_t i = 0; i < kChanges; ++i) kernels[std::string(name(static_cast<Change>(i)))] = s.kernels[i];
  return {{"architecture", orNull(s.architecture)},
          {"kernels", std::move(kernels)},
          {"device-functions", s.functions},
          {"geometric-means",
           {{"registers", orNull(s.registers)},
            {"instructions", orNull(s.instructions)},
            {"cycles", orNull(s.cycles)},
            {"inner", orNull(s.inner)},
            {"warps", orNull(s.warps)}}},
          {"spills", {{"before", orNull(s.spillsBefore)}, {"after", orNull(s.spillsAfter)}}},
          {"compile-time", {{"before", orNull(s.compileTimeBefore)}, {"after", orNull(s.compileTimeAfter)}}}};
}

}  // namespace

std::string writeJson(const Result& result) {
  Json limits = Json::array();
  for (const Bound& bound : result.bounds) limits.push_back(toJson(bound));
  Json failOn = Json::array(), functions = Json::array(), problems = Json::array(), architectures = Json::array();
  for (const Limit& limit : result.failOn.limits) failOn.push_back(toJson(limit));
  for (const Row& row : result.rows) functions.push_back(toJson(row));
  for (const Problem& p : result.problems)
    problems.push_back({{"side", p.side == Problem::Of::Before  ? Json("before")
                                 : p.side == Problem::Of::After ? Json("after")
                                                                : Json(nullptr)},
                        {"file", orNull(p.file)},
                        {"architecture", orNull(p.architecture)},
                        {"message", p.message}});
  for (const Summary& s : result.architectures) architectures.push_back(toJson(s));
  const Json json = {{"format", "ptxopt-diff"},
                     {"version", 1},
                     {"verdict", name(result.verdict())},
                     {"before", sideOf(result.before, result.ptxasBefore)},
                     {"after", sideOf(result.after, result.ptxasAfter)},
                     {"fail-on", std::move(failOn)},
                     {"fail-on-missing", result.failOn.missing},
                     {"limits", std::move(limits)},
                     {"one-side", result.isOneSide},
                     {"summary", toJson(result.all)},
                     {"architectures", std::move(architectures)},
                     {"functions", std::move(functions)},
                     {"problems", std::move(problems)},
                     {"notes", result.notes}};
  return dumpJson(json, 1) + "\n";
}

}  // namespace ptxopt::diff
