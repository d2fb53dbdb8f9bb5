// Which functions got worse: those whose code is another one, by the rule of the guard, and kernels that are gone.
#include "guard/guard.h"

namespace ptxopt {

std::vector<WorseFunction> worseFunctions(const Measures& before, const Measures& after, GuardRule rule) {
  std::vector<WorseFunction> worse;
  for (const FunctionMeasures& f : before.functions) {
    const FunctionMeasures* const now = after.find(f.name);
    if (now == nullptr) {
      // ptxas leaves out functions that no kernel calls any longer.
      if (f.isKernel) worse.push_back({f.name, {}, true});
    } else if (f.code.empty() || f.code != now->code) {
      if (const Comparison by = compare(f, *now, rule); by.sign > 0) worse.push_back({f.name, by, false});
    }
  }
  return worse;
}

}  // namespace ptxopt
