#include "wrapper/called_programs.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "support/environment.h"

namespace ptxopt::wrapper {

std::string CalledPrograms::value() const { return environmentValue(variable_); }

void CalledPrograms::set(const std::string& value) const {
  if (value.empty())
    ::unsetenv(variable_);
  else
    ::setenv(variable_, value.c_str(), 1);
}

void CalledPrograms::note(const std::string& program) const {
  const std::string before = value();
  set(before.empty() ? program : before + ':' + program);
}

bool CalledPrograms::has(const std::string& program) const {
  std::error_code gone;
  return std::ranges::any_of(partsOf(value(), ':'), [&](const std::string& called) {
    return std::filesystem::equivalent(called, program, gone);
  });
}

}  // namespace ptxopt::wrapper
