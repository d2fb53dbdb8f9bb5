// A record is one JSON object, serialized before the file is opened and appended by one write. A line that does not
// parse, or has members of other types, is passed over.
#include "wrapper/call_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "support/json.h"

namespace ptxopt::wrapper {
namespace {

std::string now() {
  const std::time_t time = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&time, &utc);
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc)};
}

}  // namespace

bool addToLog(const std::string& path, const CallRecord& record) {
  std::error_code error;
  if (const std::filesystem::path folder = std::filesystem::path(path).parent_path(); !folder.empty())
    std::filesystem::create_directories(folder, error);
  Json json = {{"time", now()},
               {"client", record.client},
               {"ptxas", record.ptxas},
               {"why", record.why},
               {"architecture", record.architecture},
               {"inputs", record.inputs},
               {"changed", record.changed}};
  if (!record.notOptimized.empty()) json["not_optimized"] = record.notOptimized;
  if (!record.trouble.empty()) json["trouble"] = record.trouble;
  const std::string line = dumpJson(json) + '\n';
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666);
  if (file < 0) return false;
  const bool isWritten = ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  return ::close(file) == 0 && isWritten;
}

std::vector<CallRecord> readLog(const std::string& path) {
  std::vector<CallRecord> records;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return records;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    const Json json = parseJsonOrDiscard(line);
    if (!json.is_object() || !json.contains("time")) continue;
    try {
      records.push_back({json.value("client", ""), json.value("ptxas", ""), json.value("why", ""),
                         json.value("architecture", ""), json.value("not_optimized", ""), json.value("trouble", ""),
                         json.value("inputs", std::size_t{0}), json.value("changed", std::size_t{0}),
                         json.value("time", "")});
    } catch (const Json::exception&) {
      continue;  // another program's line
    }
  }
  return records;
}

}  // namespace ptxopt::wrapper
