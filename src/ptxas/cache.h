// Answers of ptxas kept on disk: figures by what they depend on.
//
// The key is a digest of everything that the figures depend on: the program (path, size and time of change), its
// arguments and the text. A file an entry, written whole and renamed into place, so that any number of processes
// may share the folder. Its first line has a digest of the key and the value: an entry that is damaged, or is that of
// another key, is removed and counts as none. When entries take more than the cap, those not used for longest go. A
// cache that cannot be read or written is no error: it just does not help. The folder: $PTXOPT_CACHE_DIR, else $XDG_CACHE_HOME/ptxopt,
// else ~/.cache/ptxopt; an empty $PTXOPT_CACHE_DIR turns the cache off. The cap: $PTXOPT_CACHE_SIZE in MiB, 256
// where that is not set.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ptxopt {

class Cache {
 public:
  static constexpr uint64_t kUsualSize = uint64_t{256} << 20;

  // An empty folder: a cache that keeps nothing.
  explicit Cache(std::string folder, uint64_t size = kUsualSize) : folder_(std::move(folder)), size_(size) {}
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;
  // Makes room if entries were added.
  ~Cache();

  // That of the user, as the environment says.
  static Cache& user();

  // A digest in letters and digits.
  static std::string key(std::string_view text);

  // Removes what is there and is no entry of this key.
  std::optional<std::string> find(const std::string& key) const;
  void put(const std::string& key, std::string_view value);
  // Removes what was not used for longest until the rest takes at most four fifths of the size, if it takes more
  // than the size now.
  void makeRoom() const;

 private:
  std::string pathOf(const std::string& key) const;

  std::string folder_;
  uint64_t size_;
  std::atomic<bool> added_ = false;
};

}  // namespace ptxopt
