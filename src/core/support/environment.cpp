#include "support/environment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace ptxopt {

std::string environmentValue(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

std::vector<std::string> partsOf(std::string_view list, char separator) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    parts.emplace_back(list.substr(0, list.find(separator)));
    list.remove_prefix(std::min(list.size(), parts.back().size() + 1));
  }
  return parts;
}

std::vector<std::string> filesInPath(std::string_view name) {
  std::vector<std::string> files;
  for (const std::string& folder : partsOf(environmentValue("PATH"), ':'))
    files.push_back(fmt::format("{}/{}", folder.empty() ? "." : folder, name));
  return files;
}

}  // namespace ptxopt
