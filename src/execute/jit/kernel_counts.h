// What became of the launches of a kernel.
#pragma once

#include <map>
#include <string>

namespace ptxopt::jit {

struct KernelCounts {
  std::string name, module;  // the module by its digest
  unsigned long launches = 0, equal = 0, different = 0, varying = 0;
  std::map<std::string, unsigned long> notCompared;  // by the reason, of those that were to be
};

}  // namespace ptxopt::jit
