// The bytes of a file that may be larger than memory: mapped, or held where it cannot be mapped. A file that another program
// makes shorter in the meantime ends this one, as with any mapping.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace ptxopt {

class FileBytes {
 public:
  // nullptr, with the reason in `error`, where it cannot be read.
  static std::shared_ptr<const FileBytes> map(const std::string& path, std::string& error);
  static std::shared_ptr<const FileBytes> hold(std::string bytes);

  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;
  ~FileBytes();

  std::string_view view() const { return mapped_ != nullptr ? std::string_view(mapped_, size_) : held_; }

 private:
  FileBytes() = default;
  const char* mapped_ = nullptr;
  std::size_t size_ = 0;
  std::string held_;
};

// The first bytes of a file, at most that many; fewer where it is shorter or cannot be read.
std::string beginningOf(const std::string& path, std::size_t bytes);

}  // namespace ptxopt
