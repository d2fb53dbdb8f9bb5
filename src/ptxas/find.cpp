#include "ptxas/find.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace ptxopt {
namespace {

bool isUsable(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && ::access(path.c_str(), X_OK) == 0 &&
         !isThisProgram(path);
}

}  // namespace

bool isThisProgram(const std::string& path) {
  struct stat self {
  }, other{};
  if (::stat("/proc/self/exe", &self) == 0 && ::stat(path.c_str(), &other) == 0 && self.st_dev == other.st_dev &&
      self.st_ino == other.st_ino)
    return true;
  // The drop-in is a program of its own: what a link called ptxas leads to.
  std::error_code error;
  const std::string name = std::filesystem::canonical(path, error).filename().string();
  return !error && (name == "ptxopt" || name == "ptxopt-ptxas");
}

std::string findPtxas(const std::string& given) {
  if (!given.empty()) return given;
  for (const char* variable : {"PTXOPT_PTXAS", "PTXAS"}) {
    const char* const value = std::getenv(variable);
    if (value == nullptr || *value == '\0') continue;
    if (std::string_view(value) == "none") return {};
    if (isUsable(value)) return value;
  }
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* home = std::getenv(variable))
      if (const std::string file = std::string(home) + "/bin/ptxas"; isUsable(file)) return file;
  if (const char* path = std::getenv("PATH")) {
    std::string_view rest = path;
    while (!rest.empty()) {
      const std::string_view folder = rest.substr(0, rest.find(':'));
      rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
      if (const std::string file = std::string(folder.empty() ? "." : folder) + "/ptxas"; isUsable(file))
        return file;
    }
  }
  if (const std::string file = "/usr/local/cuda/bin/ptxas"; isUsable(file)) return file;
  return {};
}

}  // namespace ptxopt
