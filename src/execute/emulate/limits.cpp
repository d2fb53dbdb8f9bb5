#include "emulate/limits.h"

namespace ptxopt::emulate {

Limits limitsOf(const Module& module, const Function& kernel) {
  Limits limits;
  for (const FunctionDirective& d : kernel.directives) {
    exec::Dim3 s;
    if (d.valueCount > 0) s.x = d.values[0];
    if (d.valueCount > 1) s.y = d.values[1];
    if (d.valueCount > 2) s.z = d.values[2];
    const std::string_view name = module.text(d.name);
    if (name == ".reqnctapercluster") limits.cluster = s;
    if (name == ".reqntid") limits.exactly = s;
    if (name == ".maxntid") limits.mostThreads = s.count();
  }
  return limits;
}

}  // namespace ptxopt::emulate
