#include "tool/environment.h"

namespace ptxopt::tool {
namespace {

constexpr Variable kVariables[] = {
#define PTXOPT_VARIABLE(name, summary) {#name, summary},
#include "tool/environment.def"
#undef PTXOPT_VARIABLE
};

// What every program reads needs no word in --help.
bool isCommon(std::string_view name) {
  return name == "PATH" || name == "HOME" || name == "TERM" || name == "TMPDIR" || name == "XDG_CACHE_HOME";
}

}  // namespace

std::span<const Variable> environmentTable() { return kVariables; }

std::string environmentHelp() {
  std::string out;
  for (const Variable& v : kVariables)
    if (!isCommon(v.name)) out += (out.empty() ? "Environment, see ptxopt(1): " : ", ") + std::string(v.name);
  return out + ".\n";
}

}  // namespace ptxopt::tool
