#include "tool/options/environment.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <utility>

#include "ptxas/choose.h"
#include "ptxas/find.h"
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

// How many letters are to be put in, left out, replaced, or exchanged with the next to make one the other.
std::size_t distanceOf(std::string_view a, std::string_view b) {
  std::vector<std::size_t> beforeLast, last(b.size() + 1), now(b.size() + 1);
  std::iota(last.begin(), last.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = std::min(now[j], beforeLast[j - 2] + 1);
    }
    beforeLast = std::exchange(last, now);
  }
  return last.back();
}

// The variable that was meant; empty where none is near.
std::string_view nearestTo(std::string_view name) {
  constexpr std::size_t kFewest = 4;  // letters of a name to guess from
  const std::string_view word = name.substr(kOurs.size());
  std::string_view nearest;
  std::size_t best = std::string_view::npos;
  for (const Variable& v : kVariables) {
    if (!v.name.starts_with(kOurs)) continue;
    const std::string_view of = v.name.substr(kOurs.size());
    const std::size_t distance = distanceOf(word, of);
    if (const bool isStart = word.size() >= kFewest && of.starts_with(word);
        (distance <= of.size() / 3 || isStart) && distance < best) {
      best = distance;
      nearest = v.name;
    }
  }
  return nearest;
}

bool isNumber(std::string_view text) {
  uint64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc() && read.ptr == text.data() + text.size();
}

}  // namespace

std::vector<std::string> environmentWarnings() {
  std::vector<std::string> warnings;
  for (char* const* at = environ; at != nullptr && *at != nullptr; ++at) {
    const std::string_view entry = *at, name = entry.substr(0, entry.find('='));
    if (!name.starts_with(kOurs) || std::ranges::find(kVariables, name, &Variable::name) != std::end(kVariables))
      continue;
    if (const std::string_view nearest = nearestTo(name); !nearest.empty())
      warnings.push_back(fmt::format("{} is not a variable that ptxopt reads; is {} meant?", name, nearest));
  }
  std::ranges::sort(warnings);
  if (const char* const size = std::getenv("PTXOPT_CACHE_SIZE"); size != nullptr && !isNumber(size))
    warnings.push_back(fmt::format("PTXOPT_CACHE_SIZE is '{}': not a number of MiB", size));
  std::error_code error;
  if (const char* const folder = std::getenv("PTXOPT_CACHE_DIR"); folder != nullptr && *folder != '\0') {
    if (std::filesystem::exists(folder, error) && !std::filesystem::is_directory(folder, error))
      warnings.push_back(fmt::format("PTXOPT_CACHE_DIR is '{}': it is not a folder", folder));
    else if (std::filesystem::exists(folder, error) && ::access(folder, R_OK | W_OK | X_OK) != 0)
      warnings.push_back(fmt::format("PTXOPT_CACHE_DIR is '{}': it may not be written", folder));
  }
  return warnings;
}

std::string findPtxasAloud(const std::string& given, const PtxNeed& need) {
  PtxasSearch search;
  search.given = given;
  const PtxasCandidates candidates = ptxasCandidates(search);
  std::string program = choosePtxas(candidates, need, &Cache::user()).path;
  for (const std::string& why : candidates.wrong)
    print(stderr, fmt::format("ptxopt: warning: {}\n", insteadOf(why, program)));
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
