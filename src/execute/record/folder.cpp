// Each piece is a file written whole, so that a program that is killed leaves what was complete. Reading takes regular
// files of our names only, and removing takes nothing else.
#include "record/folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "record/archive.h"
#include "record/limits.h"
#include "support/atomic_file.h"

namespace ptxopt::record {
namespace {

namespace fs = std::filesystem;
constexpr const char* kModules = "modules.json";

void writeOrThrow(const std::string& path, std::string_view bytes) {
  if (!writeWhole(path, bytes)) throw RecordError(fmt::format("'{}' cannot be written", path));
}

// A regular file, not a link: the folder may come from somebody else.
std::string readWhole(const std::string& path, uint64_t most) {
  std::error_code error;
  if (!fs::is_regular_file(fs::symlink_status(path, error)))
    throw RecordError(fmt::format("'{}': {}", path, error ? error.message() : "it is not a regular file"));
  if (const uint64_t size = fs::file_size(path, error); error || size > most)
    throw RecordError(fmt::format("'{}' has {} bytes; at most {} are read", path, size, most));
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) throw RecordError(fmt::format("'{}' cannot be read", path));
  return std::move(text).str();
}

std::string launchFile(const std::string& folder, uint64_t number) {
  return fmt::format("{}/launch-{:09}.json", folder, number);
}

bool isLaunchFile(const std::string& name) { return name.starts_with("launch-") && name.ends_with(".json"); }

}  // namespace

std::string FolderWriter::keep(std::string_view bytes) {
  const std::string digest = digestOf(bytes);
  const std::string path = path_ + '/' + digest;
  std::error_code error;
  if (!fs::exists(path, error)) writeOrThrow(path, bytes);
  return digest;
}

uint64_t FolderWriter::addModule(std::string_view name, std::string_view text) {
  modules_.push_back({std::string(name), keep(text)});
  writeOrThrow(path_ + '/' + kModules, toJson(modules_));
  return modules_.size() - 1;
}

void FolderWriter::write(uint64_t number, const RecordedLaunch& launch) {
  writeOrThrow(launchFile(path_, number), toJson(launch));
}

Record readFolder(const std::string& folder) {
  Record record;
  std::error_code error;
  std::vector<std::string> launches;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (isLaunchFile(name)) launches.push_back(entry.path().string());
  }
  if (launches.empty()) return record;
  std::sort(launches.begin(), launches.end());
  if (launches.size() > kMostLaunches)
    throw RecordError(fmt::format("it has more than {} launches", kMostLaunches));
  const auto named = [](const std::string& file, auto&& read) {
    try {
      return read(readWhole(file, kMostManifestBytes));
    } catch (const RecordError& e) {
      const std::string why = e.what();
      throw RecordError(why.starts_with('\'') ? why : fmt::format("'{}': {}", file, why));
    }
  };
  record.modules = named(folder + '/' + kModules, modulesOfJson);
  for (const std::string& file : launches) {
    record.launches.push_back(named(file, launchOfJson));
    if (record.launches.back().module >= record.modules.size())
      throw RecordError(fmt::format("'{}': there is no module {}", file, record.launches.back().module));
  }
  return record;
}

void removeFolder(const std::string& folder) {
  std::error_code error;
  const auto isOurs = [](const std::string& name) {
    return name == kModules || isLaunchFile(name) ||
           (name.size() == digestOf({}).size() && name.find_first_not_of("0123456789abcdef") == std::string::npos);
  };
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
    if (isOurs(entry.path().filename().string()) && entry.is_regular_file(error)) files.push_back(entry.path());
  for (const fs::path& file : files) fs::remove(file, error);
  fs::remove(folder, error);  // which fails where something is left
}

void packFolder(const std::string& folder, const std::string& path) {
  writeArchive(path, readFolder(folder), [&](const std::string& digest) {
    std::string bytes = readWhole(folder + '/' + digest, UINT64_MAX);
    if (digestOf(bytes) != digest) throw RecordError(fmt::format("'{}/{}': it has other bytes", folder, digest));
    return bytes;
  });
}

}  // namespace ptxopt::record
