#include "jit/settings.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "jit/protocol.h"

namespace ptxopt::jit {
namespace {

std::string valueOf(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr ? value : "";
}

// Beside the library in a build, in bin where both are installed, also as a Python package.
std::string toolBesideUs() {
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(&Settings::get), &info) == 0 || info.dli_fname == nullptr) return {};
  const std::string library = info.dli_fname;
  const std::string folder = library.substr(0, library.rfind('/') + 1);
  for (const char* const place : {"ptxopt", "bin/ptxopt", "../../bin/ptxopt", "../../../bin/ptxopt"})
    if (const std::string tool = folder + place; access(tool.c_str(), X_OK) == 0) return tool;
  return {};
}

Settings read() {
  Settings s;
  s.tool = valueOf(kToolVariable);
  if (s.tool.empty()) s.tool = toolBesideUs();
  s.log = valueOf(kLogVariable);
  s.isVerbose = !valueOf(kVerboseVariable).empty();
  s.budget = kUsualBudget;
  if (const std::string budget = valueOf(kBudgetVariable); !budget.empty()) {
    char* end = nullptr;
    const double seconds = std::strtod(budget.c_str(), &end);
    if (*end == '\0' && seconds >= 0) s.budget = seconds;
  }
  Compare compare;
  constexpr int kParts = 3;
  if (std::sscanf(valueOf(kCompareVariable).c_str(), "%lu,%lu,%lf", &compare.launches, &compare.mib,
                  &compare.seconds) == kParts &&
      compare.seconds >= 0)
    s.compare = compare;
  return s;
}

}  // namespace

const Settings& Settings::get() {
  static const auto* const settings = new Settings(read());  // never ended: programs call in until the very end
  return *settings;
}

}  // namespace ptxopt::jit
