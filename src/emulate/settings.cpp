#include "emulate/settings.h"

#include <nlohmann/json.hpp>

namespace ptxopt::emulate {

using nlohmann::json;

std::string toJson(const Settings& s) {
  json j = {{"tool", s.tool},
            {"compare", s.compare},
            {"architecture", s.architecture},
            {"jobs", s.jobs},
            {"step-limit", s.stepLimit},
            {"memory", s.memory},
            {"heap", s.heap},
            {"keep", s.keep},
            {"totals", s.totals},
            {"verbose", s.verbose},
            {"record-folder", s.recordFolder},
            {"record-kernel", s.recordKernel},
            {"record-most", s.recordMost},
            {"parent", s.parent}};
  if (s.optimize) j["optimize"] = *s.optimize;
  return j.dump();
}

Settings readSettings(const std::string& text) {
  Settings s;
  const json j = json::parse(text);
  s.tool = j.value("tool", s.tool);
  if (j.contains("optimize")) s.optimize = j.at("optimize").get<std::string>();
  s.compare = j.value("compare", s.compare);
  s.architecture = j.value("architecture", s.architecture);
  s.jobs = j.value("jobs", s.jobs);
  s.stepLimit = j.value("step-limit", s.stepLimit);
  s.memory = j.value("memory", s.memory);
  s.heap = j.value("heap", s.heap);
  s.keep = j.value("keep", s.keep);
  s.totals = j.value("totals", s.totals);
  s.verbose = j.value("verbose", s.verbose);
  s.recordFolder = j.value("record-folder", s.recordFolder);
  s.recordKernel = j.value("record-kernel", s.recordKernel);
  s.recordMost = j.value("record-most", s.recordMost);
  s.parent = j.value("parent", s.parent);
  return s;
}

}  // namespace ptxopt::emulate
