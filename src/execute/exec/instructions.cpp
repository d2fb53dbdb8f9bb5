#include <unordered_map>

#include "exec/binder.h"

namespace ptxopt::exec {

#define PTX_EXEC(base, binder) void binder(Binder&);
#include "exec/instructions.def"

BindFunction findBinder(std::string_view base) {
  static const std::unordered_map<std::string_view, BindFunction> kBinders = {
#define PTX_EXEC(base, binder) {base, binder},
#include "exec/instructions.def"
  };
  const auto found = kBinders.find(base);
  return found == kBinders.end() ? nullptr : found->second;
}

}  // namespace ptxopt::exec
