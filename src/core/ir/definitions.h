// The function with a body of each name. A symbol has the latest declaration, which may be a prototype after the definition.
// Cost: linear in the names and functions of the module.
#pragma once

#include "ir/module.h"

namespace ptxopt {

class Definitions {
 public:
  explicit Definitions(const Module& module) : definition_(module.names.size()) {
    for (const Function& f : module.functions)
      if (f.hasBody) definition_[f.name.value] = &f;
  }

  // The definition by the function's name; null where it has no body here.
  const Function* of(const Function& f) const { return definition_[f.name.value]; }

 private:
  std::vector<const Function*> definition_;  // by name
};

}  // namespace ptxopt
