// The JSON member is inserted before the last brace of the report, which may be too large to be parsed again. Lines for
// people are made from the same lists, in the order avoided, retried, without the profile, kept.
#include "guard/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ptxas/measures_json.h"
#include "support/json.h"

namespace ptxopt::guard {
namespace {

// "without lsr and slsr", "with do-lsr-64-bit=0", "without lsr in the loop at $L__BB0_2"
std::string wordsOf(const FunctionOptions& options) {
  std::vector<std::string> words;
  if (!options.skip.empty()) words.push_back(fmt::format("without {}", fmt::join(options.skip, " and ")));
  for (const std::string& decline : options.decline) {
    const std::size_t at = decline.find('@');
    words.push_back(fmt::format("without {} in the loop at {}", decline.substr(0, at), decline.substr(at + 1)));
  }
  for (const auto& [name, value] : options.knobs)
    words.push_back(fmt::format("with {}={}", name, knobValueText(name, value)));
  return fmt::format("{}", fmt::join(words, " and "));
}

}  // namespace

void addGuardReport(std::string& reportJson, const GuardReport& guard) {
  Json json = {{"mode", name(guard.mode)}, {"asked", guard.asked}};
  if (guard.asked) json["architecture"] = guard.architecture;
  if (!guard.trouble.empty()) json["trouble"] = guard.trouble;
  if (!guard.knownBad.empty()) json["known_bad"] = guard.knownBad;
  if (!guard.avoided.empty()) json["avoided"] = guard.avoided;
  json["kept"] = Json::array();
  for (const KeptFunction& f : guard.kept) {
    Json kept = {{"name", f.name}, {"reason", f.reason}};
    if (!f.detail.empty()) kept["detail"] = f.detail;
    json["kept"].push_back(std::move(kept));
  }
  if (!guard.retried.empty()) json["retried"] = Json::array();
  for (const RetriedFunction& f : guard.retried)
    json["retried"].push_back({{"name", f.name},
                               {"without", f.with.skip},
                               {"declined", f.with.decline},
                               {"knobs", f.with.knobs},
                               {"reason", f.reason},
                               {"detail", f.detail},
                               {"refused", f.refused}});
  if (!guard.withoutProfile.empty()) json["without_profile"] = Json::array();
  for (const WithoutProfile& f : guard.withoutProfile)
    json["without_profile"].push_back({{"name", f.name}, {"reason", f.reason}, {"detail", f.detail}});
  if (!guard.before.functions.empty()) {
    json["before"] = toJson(guard.before)["functions"];
    json["after"] = toJson(guard.after)["functions"];
  }
  // The report may be very large: it is not read again for one more member.
  const std::size_t end = reportJson.rfind("\n}");
  if (end == std::string::npos) return;
  std::string text = dumpJson(json, 2);
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 3) text.insert(at + 1, "  ");
  reportJson.replace(end, std::string::npos, fmt::format(",\n  \"guard\": {}\n}}\n", text));
}

std::string unjudgedFunctions(const GuardReport& guard) {
  std::string_view first;
  std::size_t count = 0;
  for (const KeptFunction& f : guard.kept)
    if (f.reason == kNotJudged && count++ == 0) first = f.name;
  if (count == 0) return {};
  if (count == 1) return fmt::format("ptxas has no figures of {}, which is kept as it was", first);
  return fmt::format("ptxas has no figures of {} and {} more, which are kept as they were", first, count - 1);
}

std::string guardWarnings(const GuardReport& guard, std::string_view fileName) {
  std::string out;
  for (const std::string& known : guard.knownBad) out += fmt::format("{}: warning: {} [guard]\n", fileName, known);
  if (guard.refused)
    return out +
           fmt::format(
               "{}: warning: ptxas refuses the optimized text; the input is kept. Please report this: {} [guard]\n",
               fileName, guard.trouble);
  if (guard.inputRefused)
    return out + fmt::format("{}: warning: ptxas refuses the input, which is kept as it was: {} [guard]\n",
                             fileName, guard.trouble.substr(0, guard.trouble.find('\n')));
  if (!guard.trouble.empty())
    return out + fmt::format(
                     "{}: warning: the input is kept, since it could not be compared with the result: {} [guard]\n",
                     fileName, guard.trouble);
  const std::string unjudged = unjudgedFunctions(guard);
  return unjudged.empty() ? out : out + fmt::format("{}: warning: {} [guard]\n", fileName, unjudged);
}

std::string ptxasAsked(const GuardReport& guard, std::string_view fileName) {
  if (guard.ptxas.empty()) return {};
  return fmt::format("ptxopt: {}: ptxas: {} ({}) [guard]\n", fileName, guard.ptxas, guard.why);
}

std::string keptFunctions(const GuardReport& guard, std::string_view fileName) {
  std::string out;
  for (const std::string& fault : guard.avoided)
    out += fmt::format("{}: written in another form: {} [guard]\n", fileName, fault);
  for (const RetriedFunction& f : guard.retried)
    out += fmt::format("{}: {}: kept {}: {} {} [guard]\n", fileName, f.name, wordsOf(f.with), f.reason, f.detail);
  for (const WithoutProfile& f : guard.withoutProfile)
    out += fmt::format("{}: {}: kept without the profile: {}{}{} [guard]\n", fileName, f.name, f.reason,
                       f.detail.empty() ? "" : " ", f.detail);
  for (const KeptFunction& f : guard.kept) {
    if (f.reason == "called-by")
      out += fmt::format("{}: {}: kept as it was, since {} calls it [guard]\n", fileName, f.name, f.detail);
    else if (f.detail.empty())
      out += fmt::format("{}: {}: kept as it was: {} [guard]\n", fileName, f.name, f.reason);
    else
      out += fmt::format("{}: {}: kept as it was: {} {} [guard]\n", fileName, f.name, f.reason, f.detail);
  }
  return out;
}

}  // namespace ptxopt::guard
