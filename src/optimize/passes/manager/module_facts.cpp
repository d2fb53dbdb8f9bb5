#include "passes/manager/module_facts.h"

#include "analysis/addresses/address_facts.h"
#include "analysis/machine/kernel_needs.h"
#include "passes/inline/call_bodies.h"

namespace ptxopt {

void makeModuleFacts(const Module& module, const Knobs& knobs, ModuleFactSet facts, ModuleAnalyses& analyses) {
  if (facts.has(ModuleFact::CallBodies) && analyses.find<CallBodies>() == nullptr)
    analyses.put(makeCallBodies(module, knobs));
  if (facts.has(ModuleFact::CalledNeeds) && analyses.find<ModuleCalledNeeds>() == nullptr)
    analyses.put(makeCalledNeeds(module));
  if (facts.has(ModuleFact::AddressFacts) && analyses.find<ModuleAddressFacts>() == nullptr)
    analyses.put(makeAddressFacts(module, knobs[Knob::AssumeParamGlobal] != 0));
}

}  // namespace ptxopt
