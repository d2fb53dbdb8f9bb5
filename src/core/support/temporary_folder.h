// A folder of one's own under $TMPDIR (or /tmp), removed with all that is in it.
//
// A process that is killed leaves its folders. The first folder that another process makes removes them. Beside the folder
// `ptxopt-DIGITS` is the file `.ptxopt.ptxopt-DIGITS`, made before it, which the process holds a lock on (flock) as long as it
// lives. A folder goes if such a file has the text and the owner of one of ours, and nobody holds the lock. Where the file
// system knows no locks, the file has no text, and nothing is removed.
#pragma once

#include <memory>
#include <string>

#include "support/atomic_file.h"

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
  // The lock is held by the programs that are started, too, and by the one that this process may become.
  void shareLock() const;

 private:
  std::string path_, error_;
  std::unique_ptr<AtomicFile> lock_;
};

// Removes the folders that processes which are gone left there. It looks at 20,000 names at most.
void removeAbandonedFolders(const std::string& base);

}  // namespace ptxopt
