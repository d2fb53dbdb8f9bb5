#include "ptxas/cache.h"

#define XXH_INLINE_ALL
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>
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

// The first line of an entry. All of it follows from the key and the value, so that it is enough to make it again and
// compare.
std::string headOf(const std::string& key, std::string_view value) {
  XXH3_state_t state;
  XXH3_128bits_reset(&state);
  XXH3_128bits_update(&state, key.data(), key.size());
  XXH3_128bits_update(&state, value.data(), value.size());
  const XXH128_hash_t digest = XXH3_128bits_digest(&state);
  return fmt::format("ptxopt cache 1 {:016x}{:016x}\n", digest.high64, digest.low64);
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }
  int get() const { return fd_; }
  bool close() { return fd_ < 0 || ::close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

// The bytes of a regular file. Nothing where there is another thing, which may be one that is waited for.
std::optional<std::string> bytesOf(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t size = 0;
  while (size < bytes.size()) {
    const ssize_t n = ::read(fd, bytes.data() + size, bytes.size() - size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return std::nullopt;
    size += static_cast<std::size_t>(n);
  }
  return bytes;
}

bool writeAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
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
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return std::nullopt;
  std::optional<std::string> bytes = bytesOf(file.get());
  if (bytes) {
    const std::size_t head = std::min(bytes->size(), bytes->find('\n') + 1);  // 0 where there is no line
    if (const std::string_view value = std::string_view(*bytes).substr(head);
        std::string_view(*bytes).substr(0, head) == headOf(key, value)) {
      ::futimens(file.get(), nullptr);  // used now
      bytes->erase(0, head);
      return bytes;
    }
  }
  // Also an empty folder; one with something in it stays, and is no place for an entry.
  if (::unlink(path.c_str()) != 0) ::rmdir(path.c_str());
  return std::nullopt;
}

void Cache::put(const std::string& key, std::string_view value) {
  if (folder_.empty() || size_ == 0) return;
  const std::string path = pathOf(key);
  std::error_code ignored;
  fs::create_directories(fs::path(path).parent_path(), ignored);
  std::string name = path + ".XXXXXX";
  Descriptor file(::mkostemp(name.data(), O_CLOEXEC));
  if (file.get() < 0) return;
  const bool isWritten = writeAll(file.get(), headOf(key, value)) && writeAll(file.get(), value);
  const bool isClosed = file.close();
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
