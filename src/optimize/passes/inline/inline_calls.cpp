// inline-calls: calls of functions of the module become what these do.
//
// What:       ptxas leaves calls as they are: one costs moves into the registers that its convention names, the
//             registers that it does not save, and hides what it does with pointers. Compilers that do not
//             optimize leave a call for each accessor of an index; here such a body is put in its place, with
//             its parameters in local variables that sroa makes registers of.
// Algorithm:  from the leaves of the call graph up, on copies of the functions as they were
//             (inline/call_bodies.h); one call by the other (inline/call_inliner.h).
// Keeps:      the functions themselves: other modules, and calls that stay, may want them.
// Cost:       linear in what is put in.
// Declines:   the reasons of those two files, with the callee.
#include <map>

#include "passes/inline/call_bodies.h"
#include "passes/manager/pass.h"

namespace ptxopt {

void inlineCalls(Module& module, ModulePassContext& context) {
  const CallBodies& bodies = context.moduleAnalyses.get<CallBodies>();
  context.forEachFunction([&](Function& f, PassReport& report) {
    std::map<std::pair<std::string_view, std::string_view>, uint64_t> declined;
    const uint64_t replaced =
        replaceCalls(f, module, bodies, context.knobs, [&](std::string_view why, NameId callee) {
          ++declined[{why, callee.valid() ? module.text(callee) : std::string_view()}];
        });
    for (const auto& [what, times] : declined) report.declines.push_back({what.first, std::string(what.second)});
    if (replaced != 0) report.counters["calls"] += replaced;
    return replaced != 0;
  });
}

bool mayInlineCalls(const Module&, const ModuleAnalyses& analyses) {
  return !analyses.get<CallBodies>().functions.empty();
}

}  // namespace ptxopt
