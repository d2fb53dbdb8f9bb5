#include "record/folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "record/archive.h"

namespace ptxopt::record {
namespace {

namespace fs = std::filesystem;
constexpr const char* kModules = "modules.json";

void writeWhole(const std::string& path, std::string_view bytes) {
  const std::string temporary = path + ".part";
  std::ofstream out(temporary, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  std::error_code error;
  if (out) fs::rename(temporary, path, error);
  if (!out || error) throw RecordError(fmt::format("'{}' cannot be written", path));
}

std::string readWhole(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) throw RecordError(fmt::format("'{}' cannot be read", path));
  return std::move(text).str();
}

std::string launchFile(const std::string& folder, uint64_t number) {
  return fmt::format("{}/launch-{:09}.json", folder, number);
}

}  // namespace

std::string FolderWriter::keep(std::string_view bytes) {
  const std::string digest = digestOf(bytes);
  const std::string path = path_ + '/' + digest;
  std::error_code error;
  if (!fs::exists(path, error)) writeWhole(path, bytes);
  return digest;
}

uint64_t FolderWriter::addModule(std::string_view name, std::string_view text) {
  modules_.push_back({std::string(name), keep(text)});
  nlohmann::json list = nlohmann::json::array();
  for (const RecordedModule& m : modules_) list.push_back({{"name", m.name}, {"text", m.text}});
  writeWhole(path_ + '/' + kModules, list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  return modules_.size() - 1;
}

void FolderWriter::write(uint64_t number, const RecordedLaunch& launch) {
  writeWhole(launchFile(path_, number), toJson(launch));
}

Record readFolder(const std::string& folder) {
  Record record;
  std::error_code error;
  std::vector<std::string> launches;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("launch-") && name.ends_with(".json")) launches.push_back(entry.path().string());
  }
  if (launches.empty()) return record;
  std::sort(launches.begin(), launches.end());
  for (const nlohmann::json& m : nlohmann::json::parse(readWhole(folder + '/' + kModules)))
    record.modules.push_back({m.at("name").get<std::string>(), m.at("text").get<std::string>()});
  for (const std::string& file : launches) record.launches.push_back(launchOfJson(readWhole(file)));
  return record;
}

void packFolder(const std::string& folder, const std::string& path) {
  writeArchive(path, readFolder(folder),
               [&](const std::string& digest) { return readWhole(folder + '/' + digest); });
}

}  // namespace ptxopt::record
