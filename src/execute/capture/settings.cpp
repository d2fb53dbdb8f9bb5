// The table variables.def expands to the reading of each variable, with its usual value where it is missing or makes no
// sense. A name that begins like these and is not one of them is reported with the nearest.
#include "capture/settings.h"

#include <fmt/format.h>
#include <fnmatch.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>

#include "support/demangle.h"
#include "support/log.h"
#include "support/nearest.h"

namespace ptxopt::capture {
namespace {

void warn(const char* variable, const std::string& value, const char* usual) {
  log::asked(log::kCapture,
             fmt::format("{} is '{}', which makes no sense: it is taken for {}", variable, value, usual));
}

bool read(const std::string& value, std::string& member) {
  member = value;
  return !value.empty();
}
bool read(const std::string& value, uint64_t& member) {
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), member);
  return !value.empty() && error == std::errc() && end == value.data() + value.size();
}

bool read(const std::string& value, Memory& member) {
  member = value == "all" ? Memory::All : Memory::Reached;
  return value == "all" || value == "reached";
}

constexpr std::string_view kNames[] = {
#define CAPTURE_VARIABLE(name, member, usual, summary) #name,
#include "capture/variables.def"
};
constexpr std::string_view kOurs = kNames[0];  // the record; the others begin with it

// Variables that begin as these do, and are none.
void warnOfUnknown() {
  for (char* const* at = environ; at != nullptr && *at != nullptr; ++at) {
    const std::string_view entry = *at, name = entry.substr(0, entry.find('='));
    if (!name.starts_with(kOurs) || std::ranges::find(kNames, name) != std::end(kNames)) continue;
    log::asked(log::kCapture, fmt::format("{} is not a variable that it reads{}", name, orNearest(name, kNames)));
  }
}

std::string withProcess(std::string path) {
  for (std::size_t at; (at = path.find("%p")) != std::string::npos;) path.replace(at, 2, std::to_string(getpid()));
  return path;
}

}  // namespace

Settings Settings::fromEnvironment() {
  log::setStandardError(log::levelOfEnvironment());
  Settings s;
#define CAPTURE_VARIABLE(name, member, usual, summary)                  \
  if (const char* const value = std::getenv(#name); value == nullptr) { \
    read(usual, s.member);                                              \
  } else if (!read(value, s.member)) {                                  \
    warn(#name, value, usual);                                          \
    read(usual, s.member);                                              \
  }
#include "capture/variables.def"
  s.file = withProcess(s.file);
  s.profile = withProcess(s.profile);
  if (!s.profile.empty() && std::getenv(kOurs.data()) == nullptr) s.most = 0;
  warnOfUnknown();
  return s;
}

bool Settings::wants(const std::string& name) const {
  const auto names = calledNames(name);
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& n) { return fnmatch(kernel.c_str(), n.c_str(), 0) == 0; });
}

}  // namespace ptxopt::capture
