#include "ptxas/cache.h"

#define XXH_INLINE_ALL
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

namespace ptxopt {
namespace {

namespace fs = std::filesystem;

// A folder of its own within: whatever else lies in the one that the user names stays.
constexpr const char* kFolder = "/measures";

std::string folderOfUser() {
  if (const char* const given = std::getenv("PTXOPT_CACHE_DIR"))
    return *given == '\0' ? std::string() : std::string(given) + kFolder;
  if (const char* const xdg = std::getenv("XDG_CACHE_HOME"); xdg != nullptr && *xdg == '/')
    return std::string(xdg) + "/ptxopt" + kFolder;
  if (const char* const home = std::getenv("HOME"); home != nullptr && *home == '/')
    return std::string(home) + "/.cache/ptxopt" + kFolder;
  return {};
}

uint64_t sizeOfUser() {
  const char* const given = std::getenv("PTXOPT_CACHE_SIZE");
  if (given == nullptr) return Cache::kUsualSize;
  uint64_t mib = 0;
  const auto read = std::from_chars(given, given + std::strlen(given), mib);
  return read.ec == std::errc() && *read.ptr == '\0' ? mib << 20 : Cache::kUsualSize;
}

struct Entry {
  fs::path path;
  fs::file_time_type used;
  uint64_t size;
};

}  // namespace

Cache& Cache::user() {
  static Cache cache(folderOfUser(), sizeOfUser());
  return cache;
}

Cache::~Cache() {
  if (added_) makeRoom();
}

std::string Cache::key(std::string_view text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

std::string Cache::pathOf(const std::string& key) const {
  return fmt::format("{}/{}/{}", folder_, key.substr(0, 2), key.substr(2));
}

std::optional<std::string> Cache::find(const std::string& key) const {
  if (folder_.empty()) return std::nullopt;
  const std::string path = pathOf(key);
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  std::string value{std::istreambuf_iterator<char>(in), {}};
  if (!in) return std::nullopt;
  ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);  // used now
  return value;
}

void Cache::put(const std::string& key, std::string_view value) {
  if (folder_.empty() || size_ == 0) return;
  const std::string path = pathOf(key);
  std::error_code ignored;
  fs::create_directories(fs::path(path).parent_path(), ignored);
  std::string name = path + ".XXXXXX";
  const int fd = ::mkostemp(name.data(), O_CLOEXEC);
  if (fd < 0) return;
  const bool isWritten = ::write(fd, value.data(), value.size()) == static_cast<ssize_t>(value.size());
  const bool isClosed = ::close(fd) == 0;
  if (!isWritten || !isClosed || ::rename(name.c_str(), path.c_str()) != 0)
    ::unlink(name.c_str());
  else
    added_ = true;
}

void Cache::makeRoom() const {
  if (folder_.empty()) return;
  std::vector<Entry> entries;
  uint64_t total = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder_, error), end; !error && it != end; it.increment(error)) {
    std::error_code gone;  // another process makes room too
    if (!it->is_regular_file(gone) || gone) continue;
    Entry entry{it->path(), it->last_write_time(gone), it->file_size(gone)};
    if (gone) continue;
    total += entry.size;
    entries.push_back(std::move(entry));
  }
  if (total <= size_) return;
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& entry : entries) {
    if (total <= size_ / 5 * 4) break;
    if (fs::remove(entry.path, error)) total -= entry.size;
  }
}

}  // namespace ptxopt
