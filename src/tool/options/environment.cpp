#include "tool/options/environment.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>

#include "ptxas/cache.h"
#include "ptxas/choose.h"
#include "ptxas/find.h"
#include "support/log.h"
#include "support/nearest.h"
#include "tool/terminal/messages.h"

extern char** environ;

namespace ptxopt::tool {
namespace {

constexpr Variable kVariables[] = {
#define PTXOPT_VARIABLE(name, summary) {#name, summary},
#include "tool/options/environment.def"
#undef PTXOPT_VARIABLE
};

// What every program reads needs no word in --help.
bool isCommon(std::string_view name) {
  for (const char* common : {"PATH", "HOME", "TERM", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "VIRTUAL_ENV",
                             "CONDA_PREFIX", "PYTHONPATH"})
    if (name == common) return true;
  return false;
}

constexpr std::string_view kOurs = "PTXOPT_";

// The variable that was meant; empty where none is near.
std::string nearestTo(std::string_view name) {
  std::vector<std::string_view> words;
  for (const Variable& v : kVariables)
    if (v.name.starts_with(kOurs)) words.push_back(v.name.substr(kOurs.size()));
  const std::string found = nearest(name.substr(kOurs.size()), words);
  return found.empty() ? found : std::string(kOurs) + found;
}

// How large the cache may be.
bool isSize(std::string_view text) {
  constexpr uint64_t kMost = UINT64_MAX >> 20;  // MiB
  uint64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc() && read.ptr == text.data() + text.size() && number <= kMost;
}

void warnOfCache(std::vector<std::string>& warnings) {
  constexpr const char *kSize = "PTXOPT_CACHE_SIZE", *kFolder = "PTXOPT_CACHE_DIR";
  if (const char* const size = std::getenv(kSize); size != nullptr && !isSize(size))
    warnings.push_back(
        fmt::format("{} is '{}': not a number of MiB; {} is taken", kSize, size, Cache::kUsualSize >> 20));
  std::error_code error;
  const char* const folder = std::getenv(kFolder);
  if (const std::string why = Cache::user().whyNotUsed(); !why.empty())
    warnings.push_back(fmt::format("{} is not used: {}", folder != nullptr ? kFolder : "the cache", why));
  else if (folder != nullptr && std::filesystem::exists(folder, error) && ::access(folder, R_OK | W_OK | X_OK) != 0)
    warnings.push_back(fmt::format("{} is '{}': it may not be written", kFolder, folder));
}

void warnOfLevel(std::vector<std::string>& warnings) {
  constexpr const char* kVariable = "PTXOPT_LOG_LEVEL";
  const char* const value = std::getenv(kVariable);
  if (value == nullptr || *value == '\0' || log::levelNamed(value)) return;
  warnings.push_back(fmt::format("{} is '{}': not one of {}; {} is taken", kVariable, value, log::levelNames(),
                                 log::name(log::kDefaultLevel)));
}

void warnOfPackages(std::vector<std::string>& warnings) {
  constexpr const char* kVariable = "PTXOPT_PYTHON_PACKAGES";
  const char* const value = std::getenv(kVariable);
  std::string_view rest = value == nullptr ? "" : value;
  std::error_code error;
  while (!rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
    if (!folder.empty() && !std::filesystem::is_directory(folder, error))
      warnings.push_back(fmt::format("{} names '{}': it is not a folder; passed over", kVariable, folder));
  }
}

}  // namespace

std::vector<std::string> environmentWarnings() {
  std::vector<std::string> warnings;
  for (char* const* at = environ; at != nullptr && *at != nullptr; ++at) {
    const std::string_view entry = *at, name = entry.substr(0, entry.find('='));
    if (!name.starts_with(kOurs) || std::ranges::find(kVariables, name, &Variable::name) != std::end(kVariables))
      continue;
    if (const std::string found = nearestTo(name); !found.empty())
      warnings.push_back(fmt::format("{} is not a variable that ptxopt reads; is {} meant?", name, found));
  }
  std::ranges::sort(warnings);
  warnOfCache(warnings);
  warnOfPackages(warnings);
  warnOfLevel(warnings);
  return warnings;
}

std::string findPtxasAloud(const std::string& given, const PtxNeed& need) {
  PtxasSearch search;
  search.given = given;
  const PtxasCandidates candidates = ptxasCandidates(search);
  std::string program = choosePtxas(candidates, need, &Cache::user()).path;
  for (const std::string& why : candidates.wrong) log::warn(log::kTool, insteadOf(why, program));
  return program;
}

std::span<const Variable> environmentTable() { return kVariables; }

std::string environmentHelp() {
  std::string out;
  for (const Variable& v : kVariables)
    if (!isCommon(v.name)) out += (out.empty() ? "Environment, see ptxopt(1): " : ", ") + std::string(v.name);
  return out + ".\n";
}

}  // namespace ptxopt::tool
