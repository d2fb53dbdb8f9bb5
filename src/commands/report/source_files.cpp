// Each name is tried below every root, with its path and by its last part alone. A candidate is resolved by canonical()
// before it is compared with the roots, and opened without following links, so that it cannot be exchanged in between.
#include "report/source_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "support/descriptor.h"

namespace ptxopt::report {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostNamed = 5;  // in a note
constexpr const char* kOutside =
    "they do not lie below the folder of the PTX, the current folder or --source-root, or are hidden there";

}  // namespace

SourceFiles::SourceFiles(fs::path folder, const std::vector<fs::path>& roots) {
  if (folder.empty()) folder = ".";
  places_.push_back(folder);
  places_.push_back(".");
  addRoot(folder, false);
  addRoot(".", false);
  for (const fs::path& root : roots) {
    places_.push_back(root);
    addRoot(root, true);
  }
}

void SourceFiles::addRoot(const fs::path& folder, bool isGiven) {
  std::error_code error;
  fs::path real = fs::canonical(folder, error);
  if (!error && (isGiven || real != real.root_path())) roots_.push_back({std::move(real), isGiven});
}

// `file`: as canonical() gives it.
bool SourceFiles::isAllowed(const fs::path& file) const {
  return std::any_of(roots_.begin(), roots_.end(), [&](const Root& root) {
    const auto [at, below] = std::mismatch(root.folder.begin(), root.folder.end(), file.begin(), file.end());
    if (at != root.folder.end()) return false;
    return root.isGiven ||
           std::none_of(below, file.end(), [](const fs::path& part) { return part.native().starts_with('.'); });
  });
}

std::string SourceFiles::readAllowed(const fs::path& file, std::string& why) const {
  // Not a pipe, which would be waited for, nor a device, should one have taken the place of the file meanwhile.
  const Descriptor opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  struct stat status {};
  if (!opened.isOpen() || ::fstat(opened.get(), &status) != 0) {
    why = std::strerror(errno);
    return {};
  }
  if (!S_ISREG(status.st_mode)) {
    why = "they are not regular files";
    return {};
  }
  if (static_cast<uint64_t>(status.st_size) > kMostFileBytes) {
    why = fmt::format("they have more than {} MiB", kMostFileBytes >> 20);
    return {};
  }
  if (static_cast<uint64_t>(status.st_size) > kMostBytes - bytes_) {
    why = fmt::format("all source files have more than {} MiB", kMostBytes >> 20);
    return {};
  }
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t n = ::read(opened.get(), text.data() + size, text.size() - size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) why = std::strerror(errno);
    if (n <= 0) break;
    size += static_cast<std::size_t>(n);
  }
  text.resize(why.empty() ? size : 0);
  return text;
}

std::string_view SourceFiles::read(const std::string& name) {
  const auto [known, isNew] = texts_.try_emplace(name);
  if (!isNew) return known->second;
  const fs::path path = name;
  std::vector<fs::path> candidates;
  for (const fs::path& place : places_) candidates.push_back(place / path);  // an absolute path replaces
  for (const fs::path& place : places_) candidates.push_back(place / path.filename());
  std::string why;  // the first reason
  for (const fs::path& candidate : candidates) {
    std::error_code error;
    const fs::path file = fs::canonical(candidate, error);
    if (error || fs::is_directory(file, error)) continue;
    std::string reason, text;
    if (!isAllowed(file))
      reason = kOutside;
    else
      text = readAllowed(file, reason);
    if (reason.empty()) {
      bytes_ += text.size();
      known->second = std::move(text);
      return known->second;
    }
    if (why.empty()) why = std::move(reason);
  }
  if (!why.empty()) skipped_[why].push_back(name);
  return known->second;
}

std::vector<std::string> SourceFiles::notes() const {
  std::vector<std::string> notes;
  for (const auto& [why, names] : skipped_) {
    std::string list;
    for (std::size_t i = 0; i < std::min(names.size(), kMostNamed); ++i)
      list += fmt::format("{}'{}'", i == 0 ? "" : ", ", names[i]);
    if (names.size() > kMostNamed) list += fmt::format(" and {} more", names.size() - kMostNamed);
    notes.push_back(fmt::format("Lines of these source files are not copied, since {}: {}.", why, list));
  }
  return notes;
}

}  // namespace ptxopt::report
