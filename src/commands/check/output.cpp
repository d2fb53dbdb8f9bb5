// The three writers, for text, JSON and SARIF, turn ascending offsets into lines and columns in one pass over the file.
// What is not UTF-8 is replaced in the JSON.
#include "check/output.h"

#include <fmt/format.h>

#include <algorithm>

#include "support/json.h"
#include "support/printable.h"
#include "text/parse.h"

namespace ptxopt::check {
namespace {

std::string_view name(Severity s) { return s == Severity::Error ? "error" : "warning"; }

// Lines and columns of ascending offsets, in one pass over the text.
class Positions {
 public:
  explicit Positions(std::string_view text) : text_(text) {}

  SourcePosition of(std::size_t offset) {
    for (offset = std::min(offset, text_.size()); at_ < offset; ++at_)
      if (text_[at_] == '\n') {
        ++line_;
        lineStart_ = at_ + 1;
      }
    return {line_, offset - lineStart_ + 1, text_.substr(lineStart_, text_.find('\n', lineStart_) - lineStart_)};
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0, line_ = 1, lineStart_ = 0;
};

Json needJson(std::string_view value, std::string_view reason, std::string_view text, std::size_t offset) {
  Json json{{"least", value}};
  if (reason.empty()) return json;
  json["reason"] = printable(reason);
  json["line"] = locate(text, offset).line;
  return json;
}

std::string dumped(const Json& json) { return dumpJson(json, 2) + "\n"; }

}  // namespace

std::size_t CheckedFile::count(Severity severity) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      checked.findings, [&](const Finding& f) { return info(f.check).severity == severity; }));
}

std::string writeText(const CheckedFile& file) {
  std::string out;
  Positions positions(file.text);
  for (const Finding& f : file.checked.findings) {
    const CheckInfo& check = info(f.check);
    out += text::render({f.offset, positions.of(f.offset), fmt::format("{} [{}]", f.message, check.name)},
                        file.name, name(check.severity));
  }
  if (!file.checked.isRead) return out;
  const Needs& needs = file.checked.needs;
  const auto reason = [&](std::string_view what, std::size_t offset) {
    return what.empty() ? std::string()
                        : fmt::format(" ({}, line {})", printable(what), locate(file.text, offset).line);
  };
  const std::string targets = needs.least.targets.text();
  return out + fmt::format("{}: needs .version {}{}, .target {}{}\n", printable(file.name),
                           versionText(needs.least.version), reason(needs.versionReason, needs.versionOffset),
                           targets == "sm_20" ? "any" : targets, reason(needs.targetReason, needs.targetOffset));
}

std::string writeJson(const std::vector<CheckedFile>& files) {
  Json all = Json::array();
  std::size_t errors = 0, warnings = 0;
  for (const CheckedFile& file : files) {
    Json findings = Json::array();
    Positions positions(file.text);
    for (const Finding& f : file.checked.findings) {
      const SourcePosition p = positions.of(f.offset);
      findings.push_back(Json{{"check", info(f.check).name},
                              {"severity", name(info(f.check).severity)},
                              {"line", p.line},
                              {"column", p.column},
                              {"message", f.message}});
    }
    Json json{{"file", file.name}, {"version", nullptr}, {"target", nullptr}, {"needs", nullptr}};
    if (!file.checked.version.empty()) {
      json["version"] = file.checked.version;
      json["target"] = file.checked.target;
    }
    const Needs& needs = file.checked.needs;
    if (file.checked.isRead)
      json["needs"] = Json{
          {"version",
           needJson(versionText(needs.least.version), needs.versionReason, file.text, needs.versionOffset)},
          {"target", needJson(needs.least.targets.least(), needs.targetReason, file.text, needs.targetOffset)}};
    json["findings"] = std::move(findings);
    all.push_back(std::move(json));
    errors += file.count(Severity::Error);
    warnings += file.count(Severity::Warning);
  }
  return dumped(Json{{"format", "ptxopt-check"},
                     {"version", 1},
                     {"errors", errors},
                     {"warnings", warnings},
                     {"files", std::move(all)}});
}

std::string writeSarif(const std::vector<CheckedFile>& files, std::string_view version) {
  Json rules = Json::array(), results = Json::array();
  for (const CheckInfo& check : checkTable())
    rules.push_back(Json{{"id", check.name},
                         {"shortDescription", {{"text", check.summary}}},
                         {"defaultConfiguration", {{"level", name(check.severity)}}}});
  for (const CheckedFile& file : files) {
    Positions positions(file.text);
    for (const Finding& f : file.checked.findings) {
      const SourcePosition p = positions.of(f.offset);
      Json location{{"artifactLocation", {{"uri", file.name}}},
                    {"region", {{"startLine", p.line}, {"startColumn", p.column}}}};
      results.push_back(Json{{"ruleId", info(f.check).name},
                             {"ruleIndex", static_cast<std::size_t>(f.check)},
                             {"level", name(info(f.check).severity)},
                             {"message", {{"text", f.message}}},
                             {"locations", Json::array({Json{{"physicalLocation", std::move(location)}}})}});
    }
  }
  Json driver{{"name", "ptxopt"}, {"version", version}, {"rules", std::move(rules)}};
  Json run{{"tool", {{"driver", std::move(driver)}}}, {"results", std::move(results)}};
  return dumped(Json{{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                     {"version", "2.1.0"},
                     {"runs", Json::array({std::move(run)})}});
}

}  // namespace ptxopt::check
