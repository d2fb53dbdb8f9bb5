// The file is parsed as JSON of bounded depth, and each mistake is placed by searching the text for its key. Variables
// are set only where no mistake was found, once a process.
#include "tool/options/config.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "support/descriptor.h"
#include "support/json.h"
#include "support/nearest.h"

namespace ptxopt::tool {
namespace {

struct Setting {
  enum class Kind { String, Number };
  std::string_view key, variable;
  Kind kind;
  std::string_view summary;
};

constexpr Setting kSettings[] = {
#define PTXOPT_SETTING(key, variable, kind, summary) {key, variable, Setting::Kind::kind, summary},
#include "tool/options/config.def"
#undef PTXOPT_SETTING
};

constexpr const char* kVariable = "PTXOPT_CONFIG";
constexpr int kDepth = 8;  // a setting is at 1

bool isSet(const char* variable) { return std::getenv(variable) != nullptr; }

// "FILE:3:7: error: "
std::string placeOf(const std::string& text, const std::string& path, std::size_t at) {
  at = std::min(at, text.size());
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(at);
  const auto line = std::count(text.begin(), end, '\n') + 1;
  const std::size_t begin = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
  return fmt::format("{}:{}:{}: error: ", path, line, at - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

// Where the key stands: a word of that name before a colon.
std::size_t placeOfKey(const std::string& text, const std::string& key) {
  const std::string word = dumpJson(Json(key));
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += word.size())
    if (const std::size_t next = text.find_first_not_of(" \t\r\n", at + word.size());
        next != std::string::npos && text[next] == ':')
      return at;
  return 0;
}

std::string pathOfUser() {
  if (const char* const given = std::getenv(kVariable)) return given;
  namespace fs = std::filesystem;
  std::error_code error;
  const auto there = [&](const fs::path& folder) {
    const fs::path file = folder / "ptxopt" / "config.json";
    return fs::exists(file, error) ? file.string() : std::string();
  };
  if (const char* const xdg = std::getenv("XDG_CONFIG_HOME"); xdg != nullptr && *xdg == '/') return there(xdg);
  if (const char* const home = std::getenv("HOME"); home != nullptr && *home == '/')
    return there(fs::path(home) / ".config");
  return {};
}

// From a regular file, or of /dev/null. Nothing is waited for. Why not, or nothing.
std::string readSmall(const std::string& path, std::string& text) {
  constexpr std::size_t kMost = std::size_t{1} << 20;
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  if (!file.isOpen() || ::fstat(file.get(), &status) != 0) return std::strerror(errno);
  if (S_ISDIR(status.st_mode)) return "it is a folder";
  if (S_ISCHR(status.st_mode) && path == "/dev/null") return {};
  if (!S_ISREG(status.st_mode)) return "it is not a regular file";
  if (static_cast<uint64_t>(status.st_size) > kMost) return fmt::format("it has more than {} bytes", kMost);
  text.resize(static_cast<std::size_t>(status.st_size));
  std::size_t size = 0;
  for (ssize_t n = 1; n > 0 && size < text.size(); size += static_cast<std::size_t>(n))
    if (n = ::read(file.get(), text.data() + size, text.size() - size); n < 0) return std::strerror(errno);
  text.resize(size);
  return {};
}

Config readAndSet() {
  Config config{pathOfUser(), {}};
  if (config.path.empty()) return config;
  std::string text;
  if (const std::string why = readSmall(config.path, text); !why.empty()) {
    config.mistakes.push_back(fmt::format("{}: error: cannot be read: {}", config.path, why));
    return config;
  }
  const auto settings = readConfig(text, config.path, config.mistakes);
  if (!config.mistakes.empty()) return config;
  for (const auto& [variable, value] : settings) {
    if (variable == "PTXOPT_PTXAS" && isSet("PTXAS")) continue;
    ::setenv(variable.c_str(), value.c_str(), 0);
  }
  return config;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> readConfig(const std::string& text, const std::string& path,
                                                            std::vector<std::string>& mistakes) {
  std::vector<std::pair<std::string, std::string>> settings;
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) return settings;
  Json json;
  try {
    json = parseBounded(text, kDepth);
  } catch (const std::length_error& e) {
    mistakes.push_back(placeOf(text, path, 0) + e.what());
    return settings;
  } catch (const Json::parse_error& e) {
    const std::string_view what = e.what();
    const std::size_t reason =
        what.rfind(": ");  // before it: the number of the error, and the place in other words
    mistakes.push_back(placeOf(text, path, e.byte == 0 ? 0 : e.byte - 1) + "not JSON: " +
                       std::string(reason == std::string_view::npos ? what : what.substr(reason + 2)));
    return settings;
  }
  if (!json.is_object()) {
    mistakes.push_back(placeOf(text, path, text.find_first_not_of(" \t\r\n")) + "not a JSON object of settings");
    return settings;
  }
  for (const auto& [key, value] : json.items()) {
    const auto* const setting = std::ranges::find(kSettings, key, &Setting::key);
    const auto wrong = [&](std::string what) {
      mistakes.push_back(placeOf(text, path, placeOfKey(text, key)) + std::move(what));
    };
    if (setting == std::end(kSettings)) {
      std::vector<std::string_view> keys;
      for (const Setting& known : kSettings) keys.push_back(known.key);
      wrong(fmt::format("'{}' is not a setting{}", key, orNearest(key, keys)));
    } else if (setting->kind == Setting::Kind::String) {
      if (value.is_string() && value.get_ref<const std::string&>().find('\0') != std::string::npos)
        wrong(fmt::format("'{}' has a character 0", key));
      else if (value.is_string())
        settings.emplace_back(setting->variable, value.get<std::string>());
      else
        wrong(fmt::format("'{}' is to be a string", key));
    } else if (value.is_number_unsigned()) {
      settings.emplace_back(setting->variable, std::to_string(value.get<uint64_t>()));
    } else {
      wrong(fmt::format("'{}' is to be a whole number", key));
    }
  }
  return settings;
}

const Config& userConfig() {
  static const Config config = readAndSet();
  return config;
}

}  // namespace ptxopt::tool
