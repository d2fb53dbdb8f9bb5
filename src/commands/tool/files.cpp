// A new file is written beside the old one with its owner, mode and attributes, then renamed over it; all files are
// prepared before the first is renamed. A file with several names, or attributes that cannot be copied, is written over
// after a copy of it was made.
#include "tool/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

#include "support/atomic_file.h"
#include "support/descriptor.h"

namespace ptxopt::tool {
namespace {

std::string reason() { return std::strerror(errno); }

const char* kindOf(mode_t mode) {
  return S_ISDIR(mode)    ? "a folder"
         : S_ISFIFO(mode) ? "a named pipe"
         : S_ISSOCK(mode) ? "a socket"
         : S_ISBLK(mode)  ? "a block device"
         : S_ISCHR(mode)  ? "a device"
                          : "no regular file";
}

// Which of our descriptors a path means, as /dev/stdout does in the end; -1: none.
int descriptorNamed(std::string_view path) {
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    const std::string_view digits = path.substr(folder.size());
    int fd = -1;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), fd);
    if (read.ec == std::errc() && read.ptr == digits.data() + digits.size()) return fd;
  }
  return -1;
}

// Where symbolic links lead in the end, there or not, or to which descriptor. False, with errno, when they form a
// cycle.
bool followLinks(std::filesystem::path& path, int& descriptor) {
  constexpr int kMost = 40;
  std::error_code error;
  for (int i = 0; i < kMost; ++i) {
    descriptor = descriptorNamed(path.native());
    if (descriptor >= 0 || !std::filesystem::is_symlink(path, error)) return true;
    const auto next = std::filesystem::read_symlink(path, error);
    if (error) break;
    path = path.parent_path() / next;  // an absolute path replaces
  }
  errno = error ? error.value() : ELOOP;
  return false;
}

// Gives the new file the attributes of the old one that are beyond mode and owner: access lists, those of users.
bool copyAttributes(const char* from, int to) {
  constexpr std::size_t kMost = 64 * 1024;  // the system's limit, of names and of a value
  const auto buffer = std::make_unique_for_overwrite<char[]>(3 * kMost);  // not on the stack, which may be small
  char *const names = buffer.get(), *const value = names + kMost, *const there = value + kMost;
  const ssize_t length = ::listxattr(from, names, kMost);
  if (length < 0) return errno == ENOTSUP;
  for (const char* name = names; name < names + length; name += std::strlen(name) + 1) {
    const ssize_t size = ::getxattr(from, name, value, kMost);
    if (size < 0) continue;
    if (::fgetxattr(to, name, there, kMost) == size &&
        std::memcmp(value, there, static_cast<std::size_t>(size)) == 0)
      continue;
    const bool isOfSystem =
        std::string_view(name).starts_with("security.");  // who may set these is the system's say
    if (::fsetxattr(to, name, value, static_cast<std::size_t>(size), 0) != 0 && !isOfSystem) return false;
  }
  return true;
}

// Whether the new file could be given owner, mode and attributes of the old one.
bool makeAlike(const char* old, const struct stat& status, int to) {
  struct stat now {};
  if (::fstat(to, &now) != 0) return false;
  if ((now.st_uid != status.st_uid || now.st_gid != status.st_gid) &&
      ::fchown(to, status.st_uid, status.st_gid) != 0)
    return false;
  return ::fchmod(to, status.st_mode & 07777) == 0 && copyAttributes(old, to);
}

// A pipe or a device. A pipe that nobody reads yet is waited for, but not for ever.
int openForWriting(const char* path, bool isPipe) {
  constexpr int kIterations = 500;
  constexpr timespec kIteration{0, 20'000'000};
  if (!isPipe) return ::open(path, O_WRONLY | O_CLOEXEC);
  int fd = -1;
  for (int i = 0; i < kIterations; ++i) {
    fd = ::open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0 || errno != ENXIO) break;
    ::nanosleep(&kIteration, nullptr);
  }
  if (fd >= 0) ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK);
  return fd;
}

// A file on its way: prepare() does all that may fail and does not change the old file, commit() puts it in place.
// A file with several names, or whose owner or attributes a new one could not get, is written over, after a copy of
// what was in it was made beside it; the copy is gone when all went well, and is what is left to go on from if the
// program is ended in between.
class Pending {
 public:
  explicit Pending(const OutputFile& file) : file_(file) {}
  Pending(Pending&& other) noexcept
      : file_(std::move(other.file_)),
        target_(std::move(other.target_)),
        new_(std::move(other.new_)),
        backup_(std::move(other.backup_)),
        old_(std::move(other.old_)),
        place_(std::move(other.place_)),
        stream_(other.stream_),
        isPipe_(other.isPipe_) {}

  bool prepare() {
    if (file_.path == "-") {
      stream_ = STDOUT_FILENO;
      return true;
    }
    target_ = file_.path;
    if (!followLinks(target_, stream_)) return false;
    if (stream_ >= 0) return ::fcntl(stream_, F_GETFD) >= 0;
    struct stat status {};
    const bool exists = ::stat(target_.c_str(), &status) == 0;
    if (exists && !S_ISREG(status.st_mode)) {
      isPipe_ = S_ISFIFO(status.st_mode);
      if (isPipe_ || S_ISCHR(status.st_mode)) return true;
      why_ = fmt::format("it is {}", kindOf(status.st_mode));
      return false;
    }
    if (exists && ::access(target_.c_str(), W_OK) != 0) return false;
    place_ = placeOf(exists ? &status : nullptr);
    if (exists && status.st_nlink > 1) return makeBackup();
    // Closed to others until it has the mode of the old one.
    new_ = std::make_unique<AtomicFile>(target_, exists ? 0600 : 0666);
    if (!new_->isOpen() || !new_->write(file_.text)) return false;
    if (!exists || makeAlike(target_.c_str(), status, new_->descriptor())) return new_->finish();
    new_ = nullptr;
    return makeBackup();
  }

  bool commit() {
    done_ = true;
    if (stream_ >= 0) return writeAll(stream_, file_.text);
    if (backup_ != nullptr) return writeOver();
    if (new_ != nullptr) return new_->commit();
    const Descriptor out(openForWriting(target_.c_str(), isPipe_));
    if (out.get() < 0 && isPipe_ && errno == ENXIO) why_ = "it is a named pipe that nobody reads";
    return out.get() >= 0 && writeAll(out.get(), file_.text);
  }

  bool isRenamed() const { return new_ != nullptr; }
  bool isDone() const { return done_; }
  const std::string& path() const { return file_.path; }
  // Which file it is, by whatever name; empty for streams, pipes and devices.
  const std::string& place() const { return place_; }
  // Why it failed.
  std::string why() const { return why_.empty() ? reason() : why_; }

 private:
  std::string placeOf(const struct stat* status) const {
    if (status != nullptr) return fmt::format("{}:{}", status->st_dev, status->st_ino);
    std::error_code error;
    const auto parent = target_.has_parent_path() ? target_.parent_path() : std::filesystem::path(".");
    return (std::filesystem::canonical(parent, error) / target_.filename()).string();
  }

  bool makeBackup() {
    std::string error;
    if (!readFile(target_.string(), old_, error)) return false;
    backup_ = std::make_unique<AtomicFile>(target_, 0600);
    return backup_->isOpen() && backup_->write(old_) && ::fsync(backup_->descriptor()) == 0 && backup_->nameIt();
  }

  bool writeOver() {
    const Descriptor out(::open(target_.c_str(), O_WRONLY | O_CLOEXEC));
    if (out.get() < 0) return false;
    // Room first, as a full disk is what fails most.
    const auto size = static_cast<off_t>(file_.text.size()), oldSize = static_cast<off_t>(old_.size);
    const int noRoom = size > oldSize ? ::posix_fallocate(out.get(), 0, size) : 0;
    if (noRoom == 0 || noRoom == EOPNOTSUPP || noRoom == EINVAL) {
      if (writeAll(out.get(), file_.text) && ::ftruncate(out.get(), size) == 0 && ::fsync(out.get()) == 0)
        return true;
    } else {
      errno = noRoom;
    }
    const std::string cause = reason();
    const bool isRestored =
        ::lseek(out.get(), 0, SEEK_SET) == 0 && writeAll(out.get(), old_) && ::ftruncate(out.get(), oldSize) == 0;
    why_ = isRestored ? cause : fmt::format("{}; what was in it is in '{}'", cause, backup_->name());
    if (!isRestored) backup_->keepName();
    return false;
  }

  OutputFile file_;
  std::filesystem::path target_;
  std::unique_ptr<AtomicFile> new_, backup_;
  FileText old_;
  std::string place_, why_;
  int stream_ = -1;
  bool isPipe_ = false;
  bool done_ = false;
};

}  // namespace

bool readFile(const std::string& path, FileText& text, std::string& error) {
  const Descriptor opened(path == "-" ? -1 : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const int file = path == "-" ? STDIN_FILENO : opened.get();
  const auto fail = [&] {
    error = fmt::format("cannot read '{}': {}", path, reason());
    return false;
  };
  if (file < 0) return fail();
  struct stat status {};
  std::size_t capacity = 65536;
  // One byte more than expected shows the end of the file without growing.
  if (::fstat(file, &status) == 0 && S_ISREG(status.st_mode))
    capacity = static_cast<std::size_t>(status.st_size) + 1;
  text = {std::make_unique_for_overwrite<char[]>(capacity), 0};
  for (;;) {
    if (text.size == capacity) {
      auto larger = std::make_unique_for_overwrite<char[]>(capacity * 2);
      std::memcpy(larger.get(), text.data.get(), text.size);
      text.data = std::move(larger);
      capacity *= 2;
    }
    const ssize_t n = ::read(file, text.data.get() + text.size, capacity - text.size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail();
    if (n == 0) return true;
    text.size += static_cast<std::size_t>(n);
  }
}

std::string whyNotReplaceable(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode)) return {};
  return fmt::format("cannot replace '{}': it is {}", path, kindOf(status.st_mode));
}

std::string whyOneFile(const std::vector<NamedFile>& inputs, const std::vector<NamedFile>& outputs) {
  std::error_code none;
  for (const NamedFile& output : outputs)
    for (const NamedFile& input : inputs)
      if (!output.path.empty() && output.path != "-" && std::filesystem::equivalent(input.path, output.path, none))
        return fmt::format("the {} and the {} are one file, '{}'", input.what, output.what, output.path);
  return {};
}

bool writeFiles(const std::vector<OutputFile>& files, std::string& error) {
  ::signal(SIGXFSZ, SIG_IGN);  // a limit on the size of files is an error like a full disk
  std::vector<Pending> pending(files.begin(), files.end());
  const auto fail = [&](const Pending& file) {
    const std::string cause = file.why();
    error = file.path() == "-" ? fmt::format("cannot write to standard output: {}", cause)
                               : fmt::format("cannot write '{}': {}", file.path(), cause);
    return false;
  };
  for (std::size_t i = 0; i < pending.size(); ++i) {
    if (!pending[i].prepare()) return fail(pending[i]);
    for (std::size_t j = 0; j < i; ++j)
      if (!pending[i].place().empty() && pending[i].place() == pending[j].place()) {
        error = fmt::format("cannot write two outputs to one file, '{}' and '{}'", pending[j].path(),
                            pending[i].path());
        return false;
      }
  }
  // Renaming is what hardly fails: last.
  for (const bool renamed : {false, true})
    for (Pending& file : pending)
      if (file.isRenamed() == renamed && !file.isDone() && !file.commit()) return fail(file);
  return true;
}

}  // namespace ptxopt::tool
