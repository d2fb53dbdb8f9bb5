// Each part of a guarded result becomes a member of one JSON object. Names come from the text, which may hold any
// bytes, so the dump replaces what is not UTF-8.
#include "c_api/details_json.h"

#include "ptxas/measures_json.h"
#include "support/json.h"

namespace ptxopt::c_api {
namespace {

Json remarksOf(const Result& result) {
  Json all = Json::array();
  for (const Remark& r : result.remarks)
    all.push_back(
        {{"name", r.name}, {"place", r.place}, {"message", r.message}, {"pass", r.pass}, {"missed", r.missed}});
  return all;
}

Json guardOf(const guard::GuardReport& guard) {
  Json kept = Json::array();
  for (const guard::KeptFunction& f : guard.kept)
    kept.push_back({{"name", f.name}, {"reason", f.reason}, {"detail", f.detail}});
  Json retried = Json::array();
  for (const guard::RetriedFunction& f : guard.retried)
    retried.push_back({{"name", f.name},
                       {"without", f.with.skip},
                       {"declined", f.with.decline},
                       {"knobs", f.with.knobs},
                       {"reason", f.reason},
                       {"detail", f.detail},
                       {"refused", f.refused}});
  Json all = {
      {"mode", name(guard.mode)}, {"asked", guard.asked},    {"ptxas", guard.ptxas},         {"why", guard.why},
      {"trouble", guard.trouble}, {"kept", std::move(kept)}, {"retried", std::move(retried)}};
  if (!guard.withoutProfile.empty()) all["without_profile"] = Json::array();
  for (const guard::WithoutProfile& f : guard.withoutProfile)
    all["without_profile"].push_back({{"name", f.name}, {"reason", f.reason}, {"detail", f.detail}});
  if (!guard.before.functions.empty()) {
    all["before"] = toJson(guard.before)["functions"];
    all["after"] = toJson(guard.after)["functions"];
  }
  return all;
}

}  // namespace

std::string detailsJson(const guard::GuardedResult& done, std::string_view notOptimized) {
  const Result& result = done.result;
  Json all = {{"architecture", result.architecture},
              {"functions", result.functions},
              {"functions_changed", result.functionsChanged},
              {"instructions", result.instructions},
              {"instructions_after", result.instructionsAfter},
              {"not_optimized", notOptimized},
              {"remarks", remarksOf(result)},
              {"guard", guardOf(done.guard)}};
  // Names come from the text, which may hold any bytes.
  std::string text = dumpJson(all);
  if (!result.reportJson.empty()) {
    text.pop_back();
    text += ",\"report\":" + result.reportJson + "}";
  }
  return text;
}

}  // namespace ptxopt::c_api
