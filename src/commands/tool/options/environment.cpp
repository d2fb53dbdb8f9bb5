// The table of variables comes from environment.def, each row with a function that says what is wrong with a value. A
// PTXOPT_ variable that is not in the table gets the nearest known name as a hint.
#include "tool/options/environment.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "ptxas/cache.h"
#include "ptxas/choose.h"
#include "ptxas/find.h"
#include "support/descriptor.h"
#include "support/environment.h"
#include "support/json.h"
#include "support/log.h"
#include "support/nearest.h"
#include "tool/terminal/messages.h"

extern char** environ;

namespace ptxopt::tool {
namespace {

namespace fs = std::filesystem;

// ---- what is wrong with a value ----

namespace values {

std::string anything(const std::string&) { return {}; }
std::string elsewhere(const std::string&) { return {}; }

// A file to append to. Where it is not there, it is tried whether its folder, or the one that that would be made in, takes
// anything: rights alone do not say so.
std::string appendable(const std::string& value) {
  if (value.empty()) return {};
  const auto cannot = [] { return fmt::format("it cannot be written: {}", std::strerror(errno)); };
  std::error_code error;
  fs::path at = fs::absolute(value, error);
  if (fs::exists(at, error)) {
    const Descriptor file(::open(at.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK));
    return file.isOpen() ? "" : cannot();
  }
  do at = at.parent_path();
  while (!fs::exists(at, error) && at.has_relative_path());
  std::string made = (at / ".ptxopt-XXXXXX").string();
  if (::mkdtemp(made.data()) == nullptr) return cannot();
  ::rmdir(made.c_str());
  return {};
}

// As dlopen() takes it; a name without a folder is looked for where only that looks.
std::string library(const std::string& value) {
  std::error_code error;
  if (value.find('/') == std::string::npos) return {};
  if (!fs::exists(value, error)) return "there is no such file";
  return fs::is_regular_file(value, error) ? "" : "it is not a file";
}

std::string hooks(const std::string& value) {
  static const std::vector<std::string_view> known{"triton",   "numba",   "warp",  "cupy", "jax",
                                                   "tilelang", "cutedsl", "torch", "all",  "none"};
  for (const std::string& part : partsOf(value, ',')) {
    std::string_view name = part;
    name.remove_prefix(std::min(name.size(), name.find_first_not_of(' ')));
    name = name.substr(0, name.find_last_not_of(' ') + 1);
    if (!name.empty() && std::ranges::find(known, name) == known.end())
      return fmt::format("there is no hook '{}'{}", name, orNearest(name, known));
  }
  return {};
}

// As OPTION_NAMES of python/ptxopt/_hooks.py.
std::string hookOptions(const std::string& value) {
  static const std::vector<std::string_view> known{"level",      "passes",      "skip",  "knobs",         "guard",
                                                   "guard_rule", "guard_tries", "ptxas", "ptxas_options", "timeout",
                                                   "jobs",       "arch",        "facts", "profile"};
  if (value.empty()) return {};
  const auto options = parseSortedJsonOrDiscard(value);
  if (!options.is_object()) return "it is not a JSON object";
  for (const auto& [name, unused] : options.items())
    if (std::ranges::find(known, name) == known.end())
      return fmt::format("a hook has no option '{}'{}", name, orNearest(name, known));
  return {};
}

std::string zeroOrOne(const std::string& value) {
  return value.empty() || value == "0" || value == "1" ? "" : "it is neither 0 nor 1";
}

// As a shell takes it.
std::string program(const std::string& value) {
  if (value.empty()) return {};
  std::error_code error;
  if (!fs::is_regular_file(value, error)) return "there is no such file";
  return ::access(value.c_str(), X_OK) == 0 ? "" : "it is not executable";
}

// What the capture library does not take, by the kind of what it takes otherwise.
std::string uncaptured(const std::string& value, std::string_view usual) {
  constexpr std::string_view kMemory[] = {"reached", "all"};
  if (usual == kMemory[0])
    return std::ranges::find(kMemory, value) != std::end(kMemory) ? "" : "it is neither all nor reached";
  if (!usual.empty() && usual.find_first_not_of("0123456789") == std::string_view::npos) {
    uint64_t number = 0;
    const char* const end = value.data() + value.size();
    const auto read = std::from_chars(value.data(), end, number);
    return read.ec == std::errc() && read.ptr == end ? "" : "it is not a whole number";
  }
  return value.empty() ? "it is empty" : "";
}

}  // namespace values

constexpr Variable kVariables[] = {
#define PTXOPT_VARIABLE(name, whatIsWrong, summary) {#name, values::whatIsWrong, summary},
#include "tool/options/environment.def"
#undef PTXOPT_VARIABLE
#define CAPTURE_VARIABLE(name, member, usual, summary)                               \
  {#name, [](const std::string& value) { return values::uncaptured(value, usual); }, \
   "For the capture library: " summary},
#include "capture/variables.def"
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
        fmt::format("{} is '{}': not a number of MiB; {} is taken", kSize, size, ptxas::Cache::kUsualSize >> 20));
  std::error_code error;
  const char* const folder = std::getenv(kFolder);
  if (const std::string why = ptxas::Cache::user().whyNotUsed(); !why.empty())
    warnings.push_back(fmt::format("{} is not used: {}", folder != nullptr ? kFolder : "the cache", why));
  else if (folder != nullptr && fs::exists(folder, error) && ::access(folder, R_OK | W_OK | X_OK) != 0)
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
  std::error_code error;
  for (const std::string& folder : partsOf(environmentValue(kVariable), ':'))
    if (!folder.empty() && !fs::is_directory(folder, error))
      warnings.push_back(fmt::format("{} names '{}': it is not a folder; passed over", kVariable, folder));
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

std::vector<std::string> environmentProblems() {
  std::vector<std::string> problems;
  for (const Variable& v : kVariables)
    if (const char* const value = std::getenv(std::string(v.name).c_str()); value != nullptr)
      if (const std::string why = v.whatIsWrong(value); !why.empty())
        problems.push_back(fmt::format("{} is '{}': {}", v.name, value, why));
  return problems;
}

std::vector<std::pair<std::string, std::string>> environmentSet() {
  std::vector<std::pair<std::string, std::string>> all;
  for (const Variable& v : kVariables)
    if (const char* const value = std::getenv(std::string(v.name).c_str()); value != nullptr && !isCommon(v.name))
      all.emplace_back(v.name, value);
  return all;
}

std::string findPtxasAloud(const std::string& given, const ptxas::PtxNeed& need) {
  ptxas::PtxasSearch search;
  search.given = given;
  const ptxas::PtxasCandidates candidates = ptxas::ptxasCandidates(search);
  std::string program = ptxas::choosePtxas(candidates, need, &ptxas::Cache::user()).path;
  for (const std::string& why : candidates.wrong) log::warn(log::kTool, ptxas::insteadOf(why, program));
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
