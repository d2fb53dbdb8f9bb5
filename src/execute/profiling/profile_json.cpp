#include "profiling/profile_json.h"

#include "support/json.h"

namespace ptxopt::profiling {

std::string toJson(const exec::Profile& profile) {
  const auto counts = [](const exec::Profile::Count& c) {
    return Json{{"warps", c.warps}, {"threads", c.threads}};
  };
  Json out;
  out["instructions"] = counts(profile.total());
  out["guardedOff"] = profile.skipped();
  out["branches"] = profile.branches();
  out["divergentBranches"] = profile.divergentBranches();
  out["opcodes"] = Json::object();
  for (const auto& [name, count] : profile.opcodes()) out["opcodes"][name] = counts(count);
  out["blocks"] = Json::array();
  for (const exec::Profile::BlockCount& b : profile.blocks())
    out["blocks"].push_back(Json{{"function", b.function},
                                 {"label", b.label},
                                 {"line", b.line},
                                 {"entered", counts(b.count)},
                                 {"instructions", counts(b.instructions)}});
  out["memory"] = Json::object();
  for (const auto& [name, t] : profile.traffic()) {
    if (t.count.warps == 0) continue;
    Json entry = counts(t.count);
    entry["bytes"] = t.bytes;
    out["memory"][name] = entry;
  }
  return dumpJson(out, 2) + "\n";
}

}  // namespace ptxopt::profiling
