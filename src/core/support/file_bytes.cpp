#include "support/file_bytes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "support/descriptor.h"

namespace ptxopt {

std::shared_ptr<const FileBytes> FileBytes::map(const std::string& path, std::string& error) {
  const auto fail = [&] {
    error = fmt::format("cannot read '{}': {}", path, std::strerror(errno));
    return nullptr;
  };
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status;
  if (!file.isOpen() || ::fstat(file.get(), &status) != 0) return fail();
  std::shared_ptr<FileBytes> bytes(new FileBytes);
  if (!S_ISREG(status.st_mode) || status.st_size == 0) return bytes;
  const auto size = static_cast<std::size_t>(status.st_size);
  void* const at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (at == MAP_FAILED) return fail();
  bytes->mapped_ = static_cast<const char*>(at);
  bytes->size_ = size;
  return bytes;
}

std::shared_ptr<const FileBytes> FileBytes::hold(std::string text) {
  std::shared_ptr<FileBytes> bytes(new FileBytes);
  bytes->held_ = std::move(text);
  return bytes;
}

FileBytes::~FileBytes() {
  if (mapped_ != nullptr) ::munmap(const_cast<char*>(mapped_), size_);
}

std::string beginningOf(const std::string& path, std::size_t bytes) {
  std::string text(bytes, '\0');
  // Not to wait for who writes a pipe.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status;
  if (!file.isOpen() || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  std::size_t have = 0;
  while (have < bytes) {
    const ssize_t n = ::read(file.get(), text.data() + have, bytes - have);
    if (n <= 0) break;
    have += static_cast<std::size_t>(n);
  }
  text.resize(have);
  return text;
}

}  // namespace ptxopt
