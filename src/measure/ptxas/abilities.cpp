// Results are kept in a map of the process and in the cache, by path, inode, size and time of change of the program.
// Texts are read as far as their .version only.
#include "ptxas/abilities.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <utility>

#include "ptxas/assemble.h"
#include "support/process.h"
#include "support/temporary_folder.h"

namespace ptxopt::ptxas {
namespace {

constexpr double kMostSeconds = 60;
constexpr std::size_t kAnswerCap = std::size_t{1} << 20;
constexpr int kAnswerFormat = 2;

PtxVersion readVersion(std::string_view text) {
  PtxVersion version;
  const char* const end = text.data() + text.size();
  const auto major = std::from_chars(text.data(), end, version.major);
  if (major.ec != std::errc() || major.ptr == end || *major.ptr != '.') return {};
  const auto minor = std::from_chars(major.ptr + 1, end, version.minor);
  return minor.ec == std::errc() ? version : PtxVersion{};
}

void skipBlanksAndComments(std::string_view& text) {
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n\v\f"), text.size()));
    const std::string_view end = text.starts_with("//") ? "\n" : text.starts_with("/*") ? "*/" : "";
    if (end.empty()) return;
    const std::size_t at = text.find(end, 2);
    text.remove_prefix(at == std::string_view::npos ? text.size() : at + end.size());
  }
}

PtxasAbilities ask(const std::string& program) {
  PtxasAbilities abilities;
  const TemporaryFolder folder;
  if (!folder.isValid()) return abilities;
  const std::string file = folder.file("version.ptx");
  std::ofstream(file) << ".version 99.9\n.target sm_90\n";
  ProcessOptions options;
  options.timeoutSeconds = kMostSeconds;
  options.outputCap = kAnswerCap;
  const ProcessResult refusal = runProcess({program, "-arch=sm_90", file, "-o", folder.file("out")}, options);
  abilities.newest = newestVersionSaid(refusal.err + refusal.out);
  if (abilities.isKnown())
    abilities.architectures = architecturesListed(runProcess({program, "--help"}, options).out);
  abilities.release = releaseOf(versionOfPtxas(program));
  return abilities;
}

std::string keyOf(const std::string& program) {
  struct stat status {};
  if (::stat(program.c_str(), &status) != 0) return {};
  return Cache::key(fmt::format("abilities {}\n{}\n{} {} {}.{}", kAnswerFormat, program, status.st_ino,
                                status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec));
}

std::string toText(const PtxasAbilities& abilities) {
  return fmt::format("{} {} {}", versionText(abilities.newest), toText(abilities.release),
                     fmt::join(abilities.architectures, " "));
}

PtxasAbilities fromText(const std::string& kept) {
  std::istringstream in(kept);
  std::string word;
  PtxasAbilities abilities;
  if (in >> word) abilities.newest = readVersion(word);
  if (in >> word) abilities.release = releaseOf(word);
  while (in >> word) abilities.architectures.push_back(word);
  return abilities;
}

}  // namespace

std::string versionText(const PtxVersion& version) { return fmt::format("{}.{}", version.major, version.minor); }

PtxVersion versionNeededBy(std::string_view ptx) {
  constexpr std::string_view kDirective = ".version";
  skipBlanksAndComments(ptx);
  if (!ptx.starts_with(kDirective)) return {};
  ptx.remove_prefix(kDirective.size());
  skipBlanksAndComments(ptx);
  return readVersion(ptx);
}

std::vector<std::string> architecturesListed(std::string_view help) {
  constexpr std::string_view kOption = "--gpu-name", kValues = "Allowed values", kReal = "sm_";
  std::vector<std::string> listed;
  const std::size_t option = help.find(kOption);
  const std::size_t values = option == std::string_view::npos ? option : help.find(kValues, option);
  if (values == std::string_view::npos) return listed;
  help.remove_prefix(values);
  help = help.substr(0, help.find("\n--"));
  for (;;) {
    const std::size_t begin = help.find('\'');
    const std::size_t end = begin == std::string_view::npos ? begin : help.find('\'', begin + 1);
    if (end == std::string_view::npos) break;
    const std::string_view value = help.substr(begin + 1, end - begin - 1);
    if (value.starts_with(kReal) && std::ranges::find(listed, value) == listed.end()) listed.emplace_back(value);
    help.remove_prefix(end + 1);
  }
  // sm_75 before sm_100, sm_90 before sm_90a.
  std::ranges::sort(listed, [](const std::string& a, const std::string& b) {
    const auto length = [](const std::string& text) { return text.find_last_of("0123456789"); };
    return length(a) != length(b) ? length(a) < length(b) : a < b;
  });
  return listed;
}

PtxVersion newestVersionSaid(std::string_view message) {
  constexpr std::string_view kSaid = "current version is '";
  const std::size_t at = message.find(kSaid);
  return at == std::string_view::npos ? PtxVersion{} : readVersion(message.substr(at + kSaid.size()));
}

PtxasAbilities abilitiesOf(const std::string& program, Cache* cache) {
  // For this process: many files ask about the same few programs, from several threads.
  static std::mutex mutex;
  static std::map<std::string, PtxasAbilities> known;
  const std::string key = keyOf(program);
  if (key.empty()) return {};
  const std::lock_guard lock(mutex);
  if (const auto it = known.find(key); it != known.end()) return it->second;
  PtxasAbilities abilities;
  if (const auto kept = cache == nullptr ? std::nullopt : cache->find(key)) abilities = fromText(*kept);
  if (!abilities.isKnown()) {
    abilities = ask(program);
    if (cache != nullptr && abilities.isKnown()) cache->put(key, toText(abilities));
  }
  return known.emplace(key, std::move(abilities)).first->second;
}

std::string whyNot(const PtxasAbilities& abilities, const PtxNeed& need) {
  if (!abilities.isKnown()) return {};
  if (need.version > abilities.newest) return fmt::format("takes PTX up to {}", versionText(abilities.newest));
  if (need.architecture.starts_with("sm_") && !abilities.architectures.empty() &&
      std::ranges::find(abilities.architectures, need.architecture) == abilities.architectures.end())
    return "makes no code for " + need.architecture;
  return {};
}

}  // namespace ptxopt::ptxas
