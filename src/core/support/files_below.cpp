#include "support/files_below.h"

#include <fmt/format.h>

#include <algorithm>

namespace ptxopt {

namespace fs = std::filesystem;

FilesBelow filesBelow(const fs::path& folder, const std::function<bool(const fs::path&)>& isWanted) {
  FilesBelow found;
  std::vector<fs::path> work{folder};
  while (!work.empty()) {
    const fs::path at = std::move(work.back());
    work.pop_back();
    std::error_code error, ignored;
    for (fs::directory_iterator it(at, error), end; !error && it != end; it.increment(error)) {
      if (fs::is_directory(it->symlink_status(ignored)))
        work.push_back(it->path());
      else if (isWanted(it->path()) && it->is_regular_file(ignored))
        found.files.push_back(it->path());
    }
    if (error) found.problems.push_back(fmt::format("cannot read '{}': {}", at.string(), error.message()));
  }
  std::ranges::sort(found.files, {}, [](const fs::path& p) -> const std::string& { return p.native(); });
  std::ranges::sort(found.problems);
  return found;
}

}  // namespace ptxopt
