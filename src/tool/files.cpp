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

}  // namespace

bool readFile(const std::string& path, std::string& text, std::string& error) {
  const Descriptor file(path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) {
    error = fmt::format("cannot read '{}': {}", path, reason());
    return false;
  }
  struct stat status {};
  std::size_t expected = 0;
  if (::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode))
    expected = static_cast<std::size_t>(status.st_size);
  // One byte more than expected tells the end of the file without growing.
  std::size_t size = 0;
  text.resize(expected + 1);
  for (;;) {
    if (size == text.size()) text.resize(text.size() * 2 + 65536);
    const ssize_t n = ::read(file.get(), text.data() + size, text.size() - size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      error = fmt::format("cannot read '{}': {}", path, reason());
      return false;
    }
    if (n == 0) break;
    size += static_cast<std::size_t>(n);
  }
  text.resize(size);
  return true;
}

bool writeFile(const std::string& path, std::string_view text, std::string& error) {
  const auto fail = [&](std::string_view what) {
    error = fmt::format("cannot write '{}': {}", what, reason());
    return false;
  };
  if (path == "-") return writeAll(STDOUT_FILENO, text) || fail("standard output");

  // Through a symbolic link, the file it leads to is replaced.
  std::error_code ignored;
  std::string target = path;
  if (std::filesystem::is_symlink(path, ignored)) {
    const auto resolved = std::filesystem::weakly_canonical(path, ignored);
    if (!ignored) target = resolved.string();
  }
  struct stat status {};
  if (::stat(target.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    Descriptor out(::open(target.c_str(), O_WRONLY | O_CLOEXEC));
    return (out.get() >= 0 && writeAll(out.get(), text)) || fail(path);
  }

  const mode_t mode = modeFor(target);
  std::string temporary = target + ".XXXXXX";
  Descriptor out(::mkostemp(temporary.data(), O_CLOEXEC));
  if (out.get() < 0) return fail(path);
  if (writeAll(out.get(), text) && ::fchmod(out.get(), mode) == 0 && out.close() &&
      ::rename(temporary.c_str(), target.c_str()) == 0)
    return true;
  const int cause = errno;
  ::unlink(temporary.c_str());
  errno = cause;
  return fail(path);
}

}  // namespace ptxopt::tool
