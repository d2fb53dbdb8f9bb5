// A folder of one's own under $TMPDIR (or /tmp), removed with all that is in it.
#pragma once

#include <string>

namespace ptxopt {

class TemporaryFolder {
 public:
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  // Empty when it could not be made: error() says why.
  const std::string& path() const { return path_; }
  const std::string& error() const { return error_; }
  bool isValid() const { return !path_.empty(); }
  std::string file(const std::string& name) const { return path_ + '/' + name; }

 private:
  std::string path_, error_;
};

}  // namespace ptxopt
