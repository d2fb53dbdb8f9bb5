#include "ptxas/find.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace ptxopt {
namespace {

// Empty: it can be called.
std::string whyNotCallable(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return "there is no such file";
  if (S_ISDIR(status.st_mode)) return "it is a folder";
  if (!S_ISREG(status.st_mode)) return "it is not a regular file";
  return ::access(path.c_str(), X_OK) == 0 ? "" : "it is not executable";
}

bool isUsable(const std::string& path) { return whyNotCallable(path).empty() && !isThisProgram(path); }

// The first usable one of this name. Empty: there is none.
std::string findInPath(std::string_view name) {
  const char* const path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
    if (std::string file = fmt::format("{}/{}", folder.empty() ? "." : folder, name); isUsable(file)) return file;
  }
  return {};
}

std::string programOf(const std::string& value) {
  if (isUsable(value)) return value;
  return value.find('/') == std::string::npos ? findInPath(value) : std::string();
}

const char* valueOf(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr || *value == '\0' ? nullptr : value;
}

// From the variables; notes what is wrong with those that are passed over.
std::string findByVariables(std::vector<std::string>& wrong, bool& isNone) {
  const auto note = [&](std::string why) {
    if (!why.empty()) wrong.push_back(std::move(why));
  };
  for (const char* variable : {"PTXOPT_PTXAS", "PTXAS"}) {
    const char* const value = valueOf(variable);
    if (value == nullptr) continue;
    isNone = std::string_view(value) == "none";
    if (isNone) return {};
    if (std::string program = programOf(value); !program.empty()) return program;
    note(whyNoProgram(variable, value));
  }
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const char* const home = valueOf(variable);
    if (home == nullptr) continue;
    if (std::string file = std::string(home) + "/bin/ptxas"; isUsable(file)) return file;
    note(whyNoToolkit(variable, home, "ptxas"));
  }
  return {};
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

std::string whyNoProgram(const char* variable, const std::string& value) {
  std::string why = whyNotCallable(value);
  if (why.empty() || !programOf(value).empty()) return {};
  if (value.find('/') == std::string::npos) why += " here or in PATH";
  return fmt::format("{} is '{}': {}", variable, value, why);
}

std::string whyNoToolkit(const char* variable, const std::string& folder, const char* name) {
  std::error_code error;
  const std::string inside = fmt::format("bin/{}", name);
  std::string why;
  if (!std::filesystem::exists(folder, error))
    why = "there is no such folder";
  else if (!std::filesystem::is_directory(folder, error))
    why = "it is not a folder";
  else if (!std::filesystem::exists(folder + "/" + inside, error))
    why = fmt::format("there is no {} in it", inside);
  else if (why = whyNotCallable(folder + "/" + inside); !why.empty())
    why = fmt::format("of its {}: {}", inside, why);
  return why.empty() ? why : fmt::format("{} is '{}': {}", variable, folder, why);
}

std::string findPtxas(const std::string& given, std::vector<std::string>* passedOver) {
  if (!given.empty()) return given;
  std::vector<std::string> wrong;
  bool isNone = false;
  std::string found = findByVariables(wrong, isNone);
  if (found.empty() && !isNone) found = findInPath("ptxas");
  if (const std::string file = "/usr/local/cuda/bin/ptxas"; found.empty() && !isNone && isUsable(file))
    found = file;
  if (passedOver != nullptr)
    for (const std::string& why : wrong)
      passedOver->push_back(found.empty() ? why + "; there is no other ptxas"
                                          : fmt::format("{}; '{}' is taken instead", why, found));
  return found;
}

}  // namespace ptxopt
