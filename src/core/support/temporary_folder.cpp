// The lock file is locked before it has its text and its name, so that a file with the text is known to have been
// locked once. Abandoned folders are looked for once a process, among at most 20 000 names.
#include "support/temporary_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string_view>

#include "support/atomic_file.h"

namespace ptxopt {
namespace {

constexpr const char* kLocked = "ptxopt";  // what the name of a lock file is made of
constexpr std::string_view kLockText = "ptxopt temporary folder\n";
constexpr int kMostNames = 20'000;  // of a folder that is looked through: some 5 ms

std::string folderFor(const std::string& base, std::string_view lockName) {
  return fmt::format("{}/ptxopt-{}", base, lockName.substr(lockName.size() - AtomicFile::kDigits));
}

// The text comes after the lock: a reader of it may believe the lock. Null with errno.
std::unique_ptr<AtomicFile> makeLock(const std::string& base) {
  auto file = std::make_unique<AtomicFile>(base + '/' + kLocked, 0600);
  if (!file->isOpen()) return nullptr;
  if (::flock(file->descriptor(), LOCK_EX | LOCK_NB) == 0 && !file->write(kLockText)) return nullptr;
  return file->nameIt() ? std::move(file) : nullptr;
}

bool isOurs(const struct stat& status) { return status.st_uid == ::geteuid() && status.st_nlink != 0; }

// Whether it is the lock file of a process that is gone. The lock is ours then.
bool isAbandoned(int file) {
  struct stat status {};
  std::array<char, kLockText.size()> text{};
  return ::fstat(file, &status) == 0 && S_ISREG(status.st_mode) && isOurs(status) &&
         ::pread(file, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()) &&
         std::string_view(text.data(), text.size()) == kLockText && ::flock(file, LOCK_EX | LOCK_NB) == 0 &&
         ::fstat(file, &status) == 0 && isOurs(status);  // not one that another process has removed by now
}

std::string basePlace() {
  const char* const base = std::getenv("TMPDIR");
  return base == nullptr || *base == '\0' ? "/tmp" : base;
}

}  // namespace

void removeAbandonedFolders(const std::string& base) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(base.c_str()), ::closedir);
  if (folder == nullptr) return;
  for (int i = 0; i < kMostNames; ++i) {
    const dirent* const entry = ::readdir(folder.get());
    if (entry == nullptr) return;
    if (!AtomicFile::isNameFor(entry->d_name, kLocked)) continue;
    const std::string lock = fmt::format("{}/{}", base, entry->d_name), path = folderFor(base, lock);
    const Descriptor file(::open(lock.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!file.isOpen() || !isAbandoned(file.get())) continue;
    struct stat status {};
    std::error_code ignored;
    if (::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && isOurs(status))
      std::filesystem::remove_all(path, ignored);
    ::unlink(lock.c_str());
  }
}

TemporaryFolder::TemporaryFolder() {
  const std::string base = basePlace();
  static std::once_flag once;
  std::call_once(once, removeAbandonedFolders, base);
  for (int i = 0; i < AtomicFile::kTries && path_.empty(); ++i) {
    lock_ = makeLock(base);
    if (lock_ == nullptr) break;
    if (const std::string path = folderFor(base, lock_->name()); ::mkdir(path.c_str(), 0700) == 0)
      path_ = path;
    else if (errno != EEXIST)
      break;
  }
  if (path_.empty()) error_ = fmt::format("cannot make a folder in '{}': {}", base, std::strerror(errno));
}

void TemporaryFolder::shareLock() const {
  if (lock_ != nullptr) ::fcntl(lock_->descriptor(), F_SETFD, 0);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (isValid()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace ptxopt
