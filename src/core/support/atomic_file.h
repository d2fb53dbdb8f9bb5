// A file that appears whole or not at all.
//
// It is written without a name (O_TMPFILE) where the file system can do that, otherwise under a new name beside the
// target, `.NAME.ptxopt-` and twelve hexadecimal digits. commit() puts it in place. What is not committed is gone, and
// so it is if the process is killed, where the file has no name. No other file is touched: a new name is never one that
// is there. Links are not followed. Needs Linux for files without a name.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "support/descriptor.h"

namespace ptxopt {

// All of it; false with errno.
bool writeAll(int descriptor, std::string_view bytes);

class AtomicFile {
 public:
  static constexpr std::size_t kDigits = 12;  // of a new name
  static constexpr int kTries = 100;          // to find a name that is free

  // `mode` is that of the file, as for open(): the umask takes from it. isOpen() says whether it could be made, otherwise
  // errno says why.
  explicit AtomicFile(std::filesystem::path target, mode_t mode = 0666);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  bool isOpen() const { return file_.isOpen(); }
  int descriptor() const { return file_.get(); }
  // A path by which it can be opened and written until commit().
  std::string path() const;
  // False with errno.
  bool write(std::string_view bytes) { return writeAll(file_.get(), bytes); }
  // Whether all was written, as far as it can be known before commit(). There is no descriptor any more, maybe.
  bool finish() { return name_.empty() || file_.close(); }

  // Each false with errno. commit() replaces the target, and may be tried again.
  bool commit();
  // Gives it a name beside the target. It keeps that only if keepName() is called.
  bool nameIt();
  const std::string& name() const { return name_; }
  void keepName() { name_.clear(); }

  // Whether this is the name of such a file for a target of this name.
  static bool isNameFor(std::string_view name, std::string_view target);

 private:
  bool linkTo(const std::filesystem::path& path) const;
  std::string newName() const;

  std::filesystem::path target_;
  std::string name_;  // empty: it has none
  Descriptor file_;
};

// Writes a whole file. What is there and is not a regular file is written to; a link to a file stays a link.
bool writeWhole(const std::filesystem::path& path, std::string_view bytes);

}  // namespace ptxopt
