#include "guard/estimate.h"

#include <algorithm>

#include "analysis/machine/kernel_needs.h"
#include "analysis/manager/analyses.h"
#include "text/parse.h"

namespace ptxopt {

Measures estimateMeasures(std::string_view text, std::string_view architecture) {
  Measures measures;
  measures.architecture = architecture;
  const auto parsed = parse(text, {});
  if (std::holds_alternative<ParseError>(parsed)) return measures;
  const Module& module = *std::get<0>(parsed);
  const ModuleCalledNeeds called = makeCalledNeeds(module);
  for (const Function& f : module.functions) {
    if (!f.hasBody || !f.isEntry) continue;
    Analyses analyses(module, f);
    if (!analyses.cfg().complete()) continue;
    const KernelNeeds needs = kernelNeeds(module, f, &called);
    FunctionMeasures& m = measures.functions.emplace_back();
    m.name = module.text(f.name);
    m.isKernel = true;
    m.registers = analyses.plainRegisters();
    m.shared = needs.sharedBytes;
    m.barriers = needs.barriers;
    m.threads = needs.threads.value_or(0);
    setWarps(m, architecture);
  }
  std::sort(measures.functions.begin(), measures.functions.end(),
            [](const FunctionMeasures& a, const FunctionMeasures& b) { return a.name < b.name; });
  return measures;
}

}  // namespace ptxopt
