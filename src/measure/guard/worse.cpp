// Which functions got worse: those whose code is another one, by the rule of the guard, and kernels that are gone.
#include "guard/guard.h"

namespace ptxopt::guard {

std::vector<WorseFunction> worseFunctions(const ptxas::Measures& before, const ptxas::Measures& after,
                                          ptxas::GuardRule rule) {
  std::vector<WorseFunction> worse;
  for (const ptxas::FunctionMeasures& f : before.functions) {
    const ptxas::FunctionMeasures* const now = after.find(f.name);
    if (now == nullptr) {
      // ptxas leaves out functions that no kernel calls any longer.
      if (f.isKernel) worse.push_back({f.name, {}, true});
    } else if (f.code.empty() || f.code != now->code) {
      if (const ptxas::Comparison by = compare(f, *now, rule); by.sign > 0) worse.push_back({f.name, by, false});
    }
  }
  return worse;
}

}  // namespace ptxopt::guard
