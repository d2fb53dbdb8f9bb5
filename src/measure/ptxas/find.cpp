// Candidates are collected in order, each file once by its canonical path, and never this program. A variable that
// names something that cannot be called is noted for a warning, and the search goes on.
#include "ptxas/find.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include "ptxas/find_python.h"
#include "support/environment.h"

namespace ptxopt::ptxas {
namespace {

constexpr const char* kPlain = "ptxas";

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
  for (std::string& file : filesInPath(name))
    if (isUsable(file)) return std::move(file);
  return {};
}

bool hasFolder(std::string_view value) { return value.find('/') != std::string_view::npos; }

// The file that is run, as a shell would; empty: there is none.
std::string programOf(const std::string& value) {
  if (!hasFolder(value)) return findInPath(value);
  return isUsable(value) ? value : std::string();
}

// Collects candidates: usable, each file once.
class Collector {
 public:
  explicit Collector(PtxasCandidates& to) : to_(to) {
    std::error_code error;
    for (const PtxasCandidate& there : to.all) files_.push_back(std::filesystem::canonical(there.path, error));
  }

  bool add(const std::string& path, std::string origin) {
    if (path.empty() || !isUsable(path)) return false;
    std::error_code error;
    const std::filesystem::path file = std::filesystem::canonical(path, error);
    if (std::ranges::find(files_, file) != files_.end()) return false;
    files_.push_back(file);
    to_.all.push_back({path, std::move(origin)});
    return true;
  }

 private:
  PtxasCandidates& to_;
  std::vector<std::filesystem::path> files_;
};

// What the user says explicitly. True when that is all there is to say.
bool takeVariables(PtxasCandidates& to, Collector& collector) {
  for (const char* variable : {"PTXOPT_PTXAS", "PTXAS"}) {
    const std::string value = environmentValue(variable);
    if (value.empty()) continue;
    to.isExplicit = true;
    if (value == "none") return true;
    if (collector.add(programOf(value), variable)) return true;
    to.isExplicit = false;
    if (std::string why = whyNoProgram(variable, value); !why.empty()) to.wrong.push_back(std::move(why));
  }
  return false;
}

void addOfToolkits(const std::string& name, PtxasCandidates& to, Collector& collector) {
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const std::string home = environmentValue(variable);
    if (home.empty() || collector.add(fmt::format("{}/bin/{}", home, name), variable)) continue;
    // Where another is there already, this one is not missed.
    if (name != kPlain || !to.all.empty()) continue;
    if (std::string why = whyNoToolkit(variable, home, "ptxas"); !why.empty()) to.wrong.push_back(std::move(why));
  }
  for (const std::string& file : filesInPath(name)) collector.add(file, "PATH");
  collector.add("/usr/local/cuda/bin/" + name, "/usr/local/cuda");
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
  return !error && (name == "ptxopt" || name.starts_with("ptxopt-ptxas"));
}

std::string whyNoProgram(const char* variable, const std::string& value) {
  std::string why = whyNotCallable(value);
  if (!hasFolder(value)) {
    if (!findInPath(value).empty()) return {};
    why = "there is no such program in PATH" + (why.empty() ? fmt::format("; the file here is './{}'", value) : "");
  }
  return why.empty() ? why : fmt::format("{} is '{}': {}", variable, value, why);
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

PtxasCandidates ptxasCandidates(const PtxasSearch& search) {
  PtxasCandidates found;
  if (!search.given.empty()) {
    found.isExplicit = true;
    found.all.push_back({search.given, search.givenBy});
    return found;
  }
  Collector collector(found);
  if (takeVariables(found, collector) && !search.all) return found;
  if (search.all) found.isExplicit = false;
  for (const PtxasCandidate& own : search.own) collector.add(own.path, own.origin);
  if (search.name != kPlain) addOfToolkits(search.name, found, collector);
  addOfToolkits(kPlain, found, collector);
  if (found.all.empty()) addPython(found);
  return found;
}

void addPython(PtxasCandidates& to) {
  if (to.isExplicit || std::exchange(to.hasPython, true)) return;
  Collector collector(to);
  for (const PtxasCandidate& wheel : ptxasOfPython()) collector.add(wheel.path, wheel.origin);
}

std::string insteadOf(const std::string& why, const std::string& taken) {
  return taken.empty() ? why + "; there is no other ptxas" : fmt::format("{}; '{}' is taken instead", why, taken);
}

}  // namespace ptxopt::ptxas
