#include "tool/commands/profile_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "tool/files.h"

namespace ptxopt::tool {

namespace fs = std::filesystem;

bool readProfile(const std::string& path, profile::File& file, std::string& error) {
  FileText text;
  if (!readFile(path, text, error)) return false;
  auto parsed = profile::parse(text, path == "-" ? "<stdin>" : path);
  if (std::string* const wrong = std::get_if<std::string>(&parsed)) {
    error = std::move(*wrong);
    return false;
  }
  file = std::move(std::get<profile::File>(parsed));
  return true;
}

std::string whyNotWritten(const std::string& path) {
  std::error_code none;
  if (path == "-" || !fs::exists(path, none)) return {};
  if (!fs::is_regular_file(path, none))
    return fs::is_directory(path, none) ? fmt::format("'{}' is a folder", path) : "";
  profile::File file;
  std::string error;
  if (fs::file_size(path, none) == 0 || readProfile(path, file, error)) return {};
  return fmt::format("'{}' is there and is not a profile: it is not overwritten", path);
}

bool writeProfile(const std::string& path, const profile::File& file, std::string& error) {
  error = whyNotWritten(path);
  return error.empty() && writeFiles({{path, profile::write(file)}}, error);
}

bool mergeFolder(const std::string& folder, profile::File& file, std::string& error) {
  std::vector<std::string> paths;
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, none))
    if (entry.path().extension() == ".json") paths.push_back(entry.path().string());
  std::ranges::sort(paths);
  for (const std::string& path : paths) {
    profile::File part;
    if (!readProfile(path, part, error)) return false;
    if (error = profile::merge(file, std::move(part)); !error.empty()) return false;
  }
  return true;
}

}  // namespace ptxopt::tool
