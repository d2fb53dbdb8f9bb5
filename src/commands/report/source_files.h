// The text of source files that a PTX file names.
//
// The author of the PTX chooses these names, and the page that holds the text may be passed on. Only regular files below
// the folder of the PTX, the current folder, or the folders that the user gives are read, wherever symbolic links lead; of
// the first two none if it is the root of the file system, and nothing of theirs whose name, or whose folder's, starts with
// a dot. One file may have kMostFileBytes, all of them kMostBytes. What is not read is noted.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ptxopt::report {

class SourceFiles {
 public:
  static constexpr std::size_t kMostFileBytes = std::size_t{16} << 20;
  static constexpr std::size_t kMostBytes = std::size_t{64} << 20;

  // `folder`: that of the PTX; empty: the current one.
  SourceFiles(std::filesystem::path folder, const std::vector<std::filesystem::path>& roots);

  // The text of the file of this name, or of one of the same name, without folders, in the folder of the PTX or a root.
  // Empty where it is not there or must not be read. It lives as long as this.
  std::string_view read(const std::string& name);
  // What was not read, for the reader of the page.
  std::vector<std::string> notes() const;

 private:
  struct Root {
    std::filesystem::path folder;  // absolute, without symbolic links
    bool isGiven;                  // by the user
  };

  void addRoot(const std::filesystem::path& folder, bool isGiven);
  bool isAllowed(const std::filesystem::path& file) const;
  std::string readAllowed(const std::filesystem::path& file, std::string& why) const;

  std::vector<std::filesystem::path> places_;  // where relative names are looked for
  std::vector<Root> roots_;
  std::map<std::string, std::string> texts_;                 // by name
  std::map<std::string, std::vector<std::string>> skipped_;  // names by reason
  std::size_t bytes_ = 0;
};

}  // namespace ptxopt::report
