// The module is viewed once, and each function with a body adds its data. The data is then put into the page's template
// as JSON.
#include "report/report.h"

#include <algorithm>

#include "report/kernel_data.h"
#include "report/page.h"
#include "target/occupancy.h"

namespace ptxopt::report {
namespace {

Json architectureData(const target::Limits& a) {
  return {{"name", "sm_" + std::to_string(a.number)},
          {"warps", a.mostWarps},
          {"blocks", a.mostBlocks},
          {"shared", a.sharedBytes},
          {"reserved", a.reservedSharedBytes},
          {"sharedUnit", a.sharedUnit},
          {"barriers", a.barriers},
          {"barriersLimit", a.barriersLimit},
          {"registers", target::Limits::kRegisters},
          {"registerUnit", target::Limits::kRegisterUnit},
          {"parts", target::Limits::kParts},
          {"mostRegisters", target::Limits::kMostRegistersPerThread}};
}

Json reportData(const Module& module, const ReportOptions& options) {
  const dump::ModuleView view(module, options.architecture);
  Sources sources(module);
  const ModuleCalledNeeds called = makeCalledNeeds(module);
  std::vector<Json> kernels;
  for (const Function& f : module.functions) {
    if (!f.hasBody) continue;
    dump::FunctionView function(view, f);
    kernels.push_back(kernelData(function, called, sources, options.ptxas.find(function.name()),
                                 options.time.find(function.name())));
  }
  std::stable_sort(kernels.begin(), kernels.end(), [](const Json& a, const Json& b) {
    return a["maximum"].get<uint32_t>() > b["maximum"].get<uint32_t>();
  });
  Json all = Json::array();
  for (const target::Limits& a : target::targets()) all.push_back(architectureData(a));
  const target::Limits* const own = target::Target(view.architecture).limits();
  Json lines = sources.lines(options.sources);
  std::vector<std::string> notes = options.notes;
  if (options.sources != nullptr)
    for (std::string& note : options.sources->notes()) notes.push_back(std::move(note));
  return {{"file", module.fileName},
          {"version", options.version},
          {"target", view.architecture},
          {"architecture", own != nullptr ? Json("sm_" + std::to_string(own->number)) : Json("")},
          {"architectures", std::move(all)},
          {"ptxas", options.ptxasVersion},
          {"notes", notes},
          {"files", sources.files()},
          {"sources", std::move(lines)},
          {"kernels", std::move(kernels)}};
}

}  // namespace

std::string makeReport(const Module& module, const ReportOptions& options) {
  return pageWith(reportPage(), reportData(module, options));
}

}  // namespace ptxopt::report
