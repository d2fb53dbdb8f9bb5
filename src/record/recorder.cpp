#include "record/recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "record/archive.h"
#include "support/demangle.h"

namespace ptxopt::record {
namespace {

namespace fs = std::filesystem;
constexpr const char* kModules = "modules.json";

std::string_view textOf(const exec::Allocation& a) { return {reinterpret_cast<const char*>(a.data), a.size}; }

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

bool Selection::wants(std::string_view name, uint64_t soFar) const {
  if (folder.empty() || soFar >= most) return false;
  if (kernel.empty() || kernel == name) return true;
  const std::string readable = readableName(name);
  return kernel == readable || kernel == std::string_view(readable).substr(0, readable.find_first_of("(<"));
}

std::string Recorder::keep(std::string_view bytes) {
  const std::string digest = digestOf(bytes);
  const std::string path = selection_.folder + '/' + digest;
  std::error_code error;
  if (!fs::exists(path, error)) writeWhole(path, bytes);
  return digest;
}

void Recorder::write() { writeWhole(launchFile(selection_.folder, launches_), toJson(now_)); }

bool Recorder::begin(const Module& module, std::string_view kernel, const exec::LaunchConfig& config,
                     exec::Machine& machine) {
  if (!selection_.wants(kernel, launches_)) return false;
  ++launches_;
  if (const auto [at, isNew] = modules_.try_emplace(&module, known_.size()); isNew) {
    known_.push_back({module.fileName, keep(module.source)});
    nlohmann::json list = nlohmann::json::array();
    for (const RecordedModule& m : known_) list.push_back({{"name", m.name}, {"text", m.text}});
    writeWhole(selection_.folder + '/' + kModules, list.dump());
  }
  now_ = {};
  now_.kernel = kernel;
  now_.module = modules_.at(&module);
  now_.grid = config.grid;
  now_.block = config.block;
  now_.cluster = config.cluster;
  now_.shared = config.dynamicShared;
  now_.parameters = config.parameters;
  for (unsigned i = 0; i < config.environment.size(); ++i)
    if (config.environment[i] != 0) now_.environment[i] = config.environment[i];
  const exec::Heap::State heap = machine.heap().state();
  now_.heapSize = machine.heapBytes();
  now_.heapUsed.assign(heap.used.begin(), heap.used.end());
  now_.hasTextures = !machine.textures.empty();
  std::map<const std::byte*, uint64_t> known;  // the first with these bytes
  for (auto& [base, a] : machine.memory().all()) {
    const bool isVariable = machine.placeOf(a.name, a.size) == &a;
    const auto alias = known.try_emplace(a.data, base).first->second;
    now_.memory.push_back(
        {a.name, base, a.size, a.readOnly, isVariable, alias != base ? alias : 0, keep(textOf(a)), {}});
  }
  write();
  return true;
}

void Recorder::end(exec::Machine& machine) {
  for (RecordedMemory& m : now_.memory)
    if (const exec::Allocation* const a = machine.memory().find(m.address)) m.after = keep(textOf(*a));
  write();
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
