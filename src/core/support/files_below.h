// The files below a folder, at any depth. Folders that are symbolic links are not entered: they may lead back. A folder that
// cannot be read is named, and the walk goes on with the others. Cost: linear in the entries.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace ptxopt {

struct FilesBelow {
  std::vector<std::filesystem::path> files;  // regular ones, and links to such, by name
  std::vector<std::string> problems;         // "cannot read 'FOLDER': WHY"
};

FilesBelow filesBelow(const std::filesystem::path& folder,
                      const std::function<bool(const std::filesystem::path&)>& isWanted);

}  // namespace ptxopt
