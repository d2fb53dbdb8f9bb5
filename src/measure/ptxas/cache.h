// Answers of ptxas kept on disk: figures by what they depend on.
//
// The key is a digest of everything that the figures depend on: the program (path, size and time of change), its
// arguments and the text. A file an entry, written whole and renamed into place, so that any number of processes
// may share the folder. Its first line has a digest of the key and the value: an entry that is damaged, too large, or
// that of another key counts as none, and is replaced. When entries take more than the cap, those not used for longest
// go. A cache that cannot be read or written is not an error: it just does not help. The folder: `measures` in
// $PTXOPT_CACHE_DIR, otherwise in $XDG_CACHE_HOME/ptxopt, or ~/.cache/ptxopt; an empty $PTXOPT_CACHE_DIR turns the
// cache off. The cap: $PTXOPT_CACHE_SIZE in MiB, 256 where that is not set.
//
// The digest has no secret, so that anyone who may write an entry says what ptxas answered. The cache is therefore
// private: it is not used where `measures`, or the folder that it lies in, is a link, belongs to somebody else, or may
// be written by others. Only entries are ever removed: regular files, by their names and their first bytes, in folders
// that are not links.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "support/descriptor.h"

namespace ptxopt::ptxas {

class Cache {
 public:
  static constexpr uint64_t kUsualSize = uint64_t{256} << 20;
  static constexpr std::size_t kMostEntry = std::size_t{16} << 20;  // larger ones are not kept

  // The entries are in `measures` in this folder. An empty name: a cache that keeps nothing.
  explicit Cache(std::string folder, uint64_t size = kUsualSize) : folder_(std::move(folder)), size_(size) {}
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;
  // Makes room if entries were added.
  ~Cache();

  // That of the user, as the environment says.
  static Cache& user();

  // A digest in letters and digits.
  static std::string key(std::string_view text);

  std::optional<std::string> find(const std::string& key) const;
  void put(const std::string& key, std::string_view value);
  // Removes what was not used for longest until the rest takes at most four fifths of the size, if it takes more
  // than the size now.
  void makeRoom() const;

  // Why it is not used: "'/shared': it belongs to another user". Empty where it is used, or off.
  std::string whyNotUsed() const;

 private:
  std::optional<std::string> findEntry(const std::string& key) const;
  // The folder of the entries; -1: there is none that may be used.
  int entries(bool make) const;

  std::string folder_;
  uint64_t size_;
  std::atomic<bool> added_ = false;
  mutable std::mutex mutex_;  // of these
  mutable Descriptor opened_;
  mutable std::string whyNot_;
};

}  // namespace ptxopt::ptxas
