// All accesses go through descriptors of folders that were checked to belong to the user and to be closed to others. An
// entry begins with a digest of its key and value; the oldest entries are removed when the process ends, until all fit.
#include "ptxas/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "support/atomic_file.h"
#include "support/log.h"

namespace ptxopt::ptxas {
namespace {

namespace fs = std::filesystem;

// A folder of its own within: whatever else lies in the one that the user names stays.
constexpr const char* kEntries = "measures";
constexpr std::string_view kMark = "ptxopt cache ";  // what each entry begins with
constexpr std::size_t kFolderDigits = 2, kFileDigits = 30;
constexpr time_t kLongestWrite =
    3600;  // seconds: what is older and has no name of an entry was left by a process that is gone

std::string folderOfUser() {
  if (const char* const given = std::getenv("PTXOPT_CACHE_DIR")) return given;
  if (const char* const xdg = std::getenv("XDG_CACHE_HOME"); xdg != nullptr && *xdg == '/')
    return std::string(xdg) + "/ptxopt";
  if (const char* const home = std::getenv("HOME"); home != nullptr && *home == '/')
    return std::string(home) + "/.cache/ptxopt";
  return {};
}

uint64_t sizeOfUser() {
  const char* const given = std::getenv("PTXOPT_CACHE_SIZE");
  if (given == nullptr) return Cache::kUsualSize;
  uint64_t mib = 0;
  const auto read = std::from_chars(given, given + std::strlen(given), mib);
  return read.ec == std::errc() && *read.ptr == '\0' && mib <= UINT64_MAX >> 20 ? mib << 20 : Cache::kUsualSize;
}

// The first line of an entry. All of it follows from the key and the value, so that it is enough to make it again and
// compare.
std::string headOf(const std::string& key, std::string_view value) {
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(), XXH3_freeState);
  XXH3_128bits_reset(state.get());
  XXH3_128bits_update(state.get(), key.data(), key.size());
  XXH3_128bits_update(state.get(), value.data(), value.size());
  const XXH128_hash_t digest = XXH3_128bits_digest(state.get());
  return fmt::format("{}1 {:016x}{:016x}\n", kMark, digest.high64, digest.low64);
}

std::string nameOf(const std::string& key) {
  return key.substr(0, kFolderDigits) + '/' + key.substr(kFolderDigits);
}

bool isHex(std::string_view name, std::size_t digits) {
  return name.size() == digits && name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// For a regular file that is no larger than an entry. Nothing where there is another thing, which may be one that is
// waited for.
std::optional<std::string> bytesOf(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) ||
      static_cast<uint64_t>(status.st_size) > Cache::kMostEntry)
    return std::nullopt;
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

// Why others than this user decide what is in the folder. Empty: they do not.
std::string whyNotPrivate(const struct stat& status) {
  if (S_ISLNK(status.st_mode)) return "it is a symbolic link";
  if (!S_ISDIR(status.st_mode)) return "it is not a folder";
  if (status.st_uid != ::geteuid()) return "it belongs to another user";
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "others may write to it; chmod go-w makes it private";
  return {};
}

constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

// Below the folder of the entries: that for a key.
Descriptor partOf(int folder, const std::string& key) {
  return Descriptor(::openat(folder, key.substr(0, kFolderDigits).c_str(), kFolderFlags));
}

void forEachIn(const Descriptor& folder, const std::function<void(const char* name)>& use) {
  const int copy = ::fcntl(folder.get(), F_DUPFD_CLOEXEC, 0);
  DIR* const entries = copy < 0 ? nullptr : ::fdopendir(copy);
  if (entries == nullptr) {
    if (copy >= 0) ::close(copy);
    return;
  }
  ::rewinddir(entries);
  while (const dirent* const entry = ::readdir(entries)) use(entry->d_name);
  ::closedir(entries);
}

struct Entry {
  std::string name;  // below the folder of the entries
  timespec used;
  uint64_t size;
};

// Regular files that have the name of an entry, and what a process that is gone may have left of one.
std::vector<Entry> entriesIn(int folder) {
  std::vector<Entry> entries;
  const time_t now = std::time(nullptr);
  forEachIn(Descriptor(::dup(folder)), [&](const char* part) {
    if (!isHex(part, kFolderDigits)) return;
    const Descriptor within = partOf(folder, part);
    if (!within.isOpen()) return;
    forEachIn(within, [&](const char* name) {
      const std::string_view all = name;
      const bool isEntry = isHex(all, kFileDigits);
      const bool isRest =
          !isEntry && all.size() > kFileDigits && AtomicFile::isNameFor(all, all.substr(1, kFileDigits));
      struct stat status {};
      if ((!isEntry && !isRest) || ::fstatat(within.get(), name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
          !S_ISREG(status.st_mode))
        return;
      if (isRest && now - status.st_mtim.tv_sec < kLongestWrite) return;
      entries.push_back({fmt::format("{}/{}", part, name), isRest ? timespec{} : status.st_mtim,
                         static_cast<uint64_t>(status.st_size)});
    });
  });
  return entries;
}

// Whether it is one by its first bytes, too.
bool hasMark(int folder, const std::string& name) {
  const Descriptor file(::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  std::array<char, kMark.size()> begin{};
  return file.isOpen() &&
         ::pread(file.get(), begin.data(), begin.size(), 0) == static_cast<ssize_t>(begin.size()) &&
         std::string_view(begin.data(), begin.size()) == kMark;
}

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

int Cache::entries(bool make) const {
  if (folder_.empty()) return -1;
  const std::lock_guard lock(mutex_);
  if (opened_.isOpen() || !whyNot_.empty()) return opened_.get();
  const std::string path = folder_ + '/' + kEntries;
  if (make) {
    std::error_code ignored;
    if (const fs::path above = fs::path(folder_).parent_path(); !above.empty())
      fs::create_directories(above, ignored);
    ::mkdir(folder_.c_str(), 0700);
  }
  struct stat status {};
  for (const std::string& folder : {folder_, path}) {
    if (make && folder == path) ::mkdir(path.c_str(), 0700);
    if (::lstat(folder.c_str(), &status) != 0) return -1;
    if (std::string why = whyNotPrivate(status); !why.empty()) {
      whyNot_ = fmt::format("'{}': {}", folder, why);
      return -1;
    }
  }
  // As it was looked at: nobody else can put another in its place in a folder that only this user may write.
  opened_.reset(::open(path.c_str(), kFolderFlags));
  return opened_.get();
}

std::string Cache::whyNotUsed() const {
  entries(false);
  const std::lock_guard lock(mutex_);
  return whyNot_;
}

std::optional<std::string> Cache::find(const std::string& key) const {
  std::optional<std::string> value = findEntry(key);
  log::debug(log::kCache, [&] { return fmt::format("cache: {} {}", value ? "hit" : "miss", key); });
  return value;
}

std::optional<std::string> Cache::findEntry(const std::string& key) const {
  const int folder = entries(false);
  if (folder < 0) return std::nullopt;
  const Descriptor part = partOf(folder, key);
  const Descriptor file(
      ::openat(part.get(), key.substr(kFolderDigits).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!part.isOpen() || !file.isOpen()) return std::nullopt;
  std::optional<std::string> bytes = bytesOf(file.get());
  if (!bytes) return std::nullopt;
  const std::size_t head = std::min(bytes->size(), bytes->find('\n') + 1);  // 0 where there is no line
  const std::string_view value = std::string_view(*bytes).substr(head);
  if (std::string_view(*bytes).substr(0, head) != headOf(key, value)) return std::nullopt;
  ::futimens(file.get(), nullptr);  // used now
  bytes->erase(0, head);
  return bytes;
}

void Cache::put(const std::string& key, std::string_view value) {
  if (size_ == 0) return;
  const std::string head = headOf(key, value);
  if (head.size() + value.size() > kMostEntry) return;
  const int folder = entries(true);
  if (folder < 0) return;
  ::mkdirat(folder, key.substr(0, kFolderDigits).c_str(), 0700);
  if (!partOf(folder, key).isOpen()) return;
  const std::string path = fmt::format("{}/{}/{}", folder_, kEntries, nameOf(key));
  AtomicFile file(path, 0600);
  if (!file.isOpen() || !file.write(head) || !file.write(value)) return;
  // An empty folder goes; one with something in it stays, and is not a place for an entry.
  added_ = file.commit() || (errno == EISDIR && ::rmdir(path.c_str()) == 0 && file.commit()) || added_;
}

void Cache::makeRoom() const {
  const int folder = entries(false);
  if (folder < 0) return;
  std::vector<Entry> entries = entriesIn(folder);
  uint64_t total = 0;
  for (const Entry& entry : entries) total += entry.size;
  if (total <= size_) return;
  std::ranges::sort(entries, [](const Entry& a, const Entry& b) {
    return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
  });
  for (const Entry& entry : entries) {
    if (total <= size_ / 5 * 4) break;
    if (hasMark(folder, entry.name) && ::unlinkat(folder, entry.name.c_str(), 0) == 0) total -= entry.size;
  }
}

}  // namespace ptxopt::ptxas
