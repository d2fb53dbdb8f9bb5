// Names are random and tried anew where one is taken, up to 100 times. AtomicFile::commit() links a file without a name
// to the target, or gives it a new name and renames that over a target that exists.
#include "support/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace ptxopt {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMark = ".ptxopt-";
constexpr std::size_t kLongestName = 200;  // of the target's, in the new one

fs::path folderOf(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

std::string pathOfDescriptor(int descriptor) { return fmt::format("/proc/self/fd/{}", descriptor); }

// Without a name; -1 where the file system, or /proc, cannot do that.
int openUnnamed(const fs::path& folder, mode_t mode) {
#ifdef O_TMPFILE
  const int file = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
  if (file < 0 || ::access(pathOfDescriptor(file).c_str(), F_OK) == 0) return file;
  ::close(file);
#endif
  return -1;
}

std::string beginOfNames(std::string_view target) {
  return fmt::format(".{}{}", target.substr(0, kLongestName), kMark);
}

}  // namespace

bool writeAll(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(descriptor, bytes.data(), std::min(bytes.size(), std::size_t{1} << 30));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

AtomicFile::AtomicFile(fs::path target, mode_t mode) : target_(std::move(target)) {
  file_.reset(openUnnamed(folderOf(target_), mode));
  for (int i = 0; !file_.isOpen() && i < kTries; ++i) {
    std::string name = newName();
    file_.reset(::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    if (file_.isOpen())
      name_ = std::move(name);
    else if (errno != EEXIST)
      return;
  }
}

AtomicFile::~AtomicFile() {
  const int cause = errno;
  if (!name_.empty()) ::unlink(name_.c_str());
  errno = cause;
}

std::string AtomicFile::newName() const {
  uint64_t number = 0;
  if (::getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number)
    number = static_cast<uint64_t>(::getpid()) << 20 ^ static_cast<uint64_t>(std::clock());
  return (folderOf(target_) /
          fmt::format("{}{:012x}", beginOfNames(target_.filename().native()), number & 0xffff'ffff'ffff))
      .string();
}

bool AtomicFile::isNameFor(std::string_view name, std::string_view target) {
  const std::string begin = beginOfNames(target);
  return name.starts_with(begin) && name.size() == begin.size() + kDigits &&
         name.find_first_not_of("0123456789abcdef", begin.size()) == std::string_view::npos;
}

std::string AtomicFile::path() const { return name_.empty() ? pathOfDescriptor(file_.get()) : name_; }

bool AtomicFile::linkTo(const fs::path& path) const {
  return ::linkat(AT_FDCWD, pathOfDescriptor(file_.get()).c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0;
}

bool AtomicFile::nameIt() {
  for (int i = 0; name_.empty() && i < kTries; ++i) {
    std::string name = newName();
    if (linkTo(name))
      name_ = std::move(name);
    else if (errno != EEXIST)
      return false;
  }
  return !name_.empty();
}

bool AtomicFile::commit() {
  if (name_.empty() && linkTo(target_)) return true;
  if (!nameIt() || !file_.close()) return false;
  if (::rename(name_.c_str(), target_.c_str()) != 0) return false;
  name_.clear();
  return true;
}

bool writeWhole(const fs::path& path, std::string_view bytes) {
  std::error_code none;
  if (fs::exists(path, none) && !fs::is_regular_file(path, none)) {
    Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    return file.isOpen() && writeAll(file.get(), bytes) && file.close();
  }
  const fs::path target = fs::is_symlink(path, none) ? fs::weakly_canonical(path, none) : path;
  if (target.empty()) return false;
  struct stat status {};
  const bool exists = ::stat(target.c_str(), &status) == 0;
  if (exists && ::access(target.c_str(), W_OK) != 0) return false;
  AtomicFile file(target, exists ? status.st_mode & 0777 : 0666);
  return file.isOpen() && file.write(bytes) && file.commit();
}

}  // namespace ptxopt
