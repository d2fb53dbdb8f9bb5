#include "tool/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace ptxopt::tool {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ > STDERR_FILENO) ::close(fd_);
  }
  int get() const { return fd_; }
  // Closing may tell of a late write error.
  bool close() {
    const int fd = std::exchange(fd_, -1);
    return ::close(fd) == 0;
  }

 private:
  int fd_;
};

std::string reason() { return std::strerror(errno); }

bool writeAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), std::min(text.size(), std::size_t{1} << 30));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

// The mode a new file gets, or that of the file it replaces.
mode_t modeFor(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) return status.st_mode & 07777;
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

// Where symbolic links lead in the end, there or not. False, with errno, when they go round.
bool followLinks(std::filesystem::path& path) {
  constexpr int kMost = 40;
  std::error_code error;
  for (int i = 0; i < kMost; ++i) {
    if (!std::filesystem::is_symlink(path, error)) return true;
    const auto next = std::filesystem::read_symlink(path, error);
    if (error) break;
    path = path.parent_path() / next;  // an absolute path replaces
  }
  errno = error ? error.value() : ELOOP;
  return false;
}

// A file on its way: prepare() does all that may fail and leaves the old file alone, commit() puts it in place.
class Pending {
 public:
  explicit Pending(const OutputFile& file) : file_(file) {}
  Pending(Pending&& other) noexcept
      : file_(std::move(other.file_)),
        target_(std::move(other.target_)),
        temporary_(std::exchange(other.temporary_, {})) {}
  ~Pending() {
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
  }

  bool prepare() {
    if (file_.path == "-") return true;
    target_ = file_.path;
    if (!followLinks(target_)) return false;
    struct stat status {};
    const bool exists = ::stat(target_.c_str(), &status) == 0;
    if (exists && !S_ISREG(status.st_mode)) {
      if (S_ISDIR(status.st_mode)) errno = EISDIR;
      return !S_ISDIR(status.st_mode);
    }
    if (exists && ::access(target_.c_str(), W_OK) != 0) return false;
    std::string name = (target_.parent_path() / ".ptxopt-XXXXXX").string();
    Descriptor out(::mkostemp(name.data(), O_CLOEXEC));
    if (out.get() < 0) return false;
    temporary_ = name;
    return writeAll(out.get(), file_.text) && ::fchmod(out.get(), modeFor(target_.string())) == 0 && out.close();
  }

  bool commit() {
    done_ = true;
    if (file_.path == "-") return writeAll(STDOUT_FILENO, file_.text);
    if (!temporary_.empty()) {
      if (::rename(temporary_.c_str(), target_.c_str()) != 0) return false;
      temporary_.clear();
      return true;
    }
    const Descriptor out(::open(target_.c_str(), O_WRONLY | O_CLOEXEC));
    return out.get() >= 0 && writeAll(out.get(), file_.text);
  }

  bool isRenamed() const { return !temporary_.empty(); }
  bool isDone() const { return done_; }
  const std::string& path() const { return file_.path; }

 private:
  OutputFile file_;
  std::filesystem::path target_;
  std::string temporary_;
  bool done_ = false;
};

}  // namespace

bool readFile(const std::string& path, FileText& text, std::string& error) {
  const Descriptor file(path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const auto fail = [&] {
    error = fmt::format("cannot read '{}': {}", path, reason());
    return false;
  };
  if (file.get() < 0) return fail();
  struct stat status {};
  std::size_t capacity = 65536;
  // One byte more than expected tells the end of the file without growing.
  if (::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode))
    capacity = static_cast<std::size_t>(status.st_size) + 1;
  text = {std::make_unique_for_overwrite<char[]>(capacity), 0};
  for (;;) {
    if (text.size == capacity) {
      auto larger = std::make_unique_for_overwrite<char[]>(capacity * 2);
      std::memcpy(larger.get(), text.data.get(), text.size);
      text.data = std::move(larger);
      capacity *= 2;
    }
    const ssize_t n = ::read(file.get(), text.data.get() + text.size, capacity - text.size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail();
    if (n == 0) return true;
    text.size += static_cast<std::size_t>(n);
  }
}

bool writeFiles(const std::vector<OutputFile>& files, std::string& error) {
  std::vector<Pending> pending(files.begin(), files.end());
  const auto fail = [&](const Pending& file) {
    const std::string cause = reason();
    error = file.path() == "-" ? fmt::format("cannot write to standard output: {}", cause)
                               : fmt::format("cannot write '{}': {}", file.path(), cause);
    return false;
  };
  for (Pending& file : pending)
    if (!file.prepare()) return fail(file);
  // Renaming is what hardly fails: last.
  for (const bool renamed : {false, true})
    for (Pending& file : pending)
      if (file.isRenamed() == renamed && !file.isDone() && !file.commit()) return fail(file);
  return true;
}

}  // namespace ptxopt::tool
