// minizip reads the list of entries once and each content on request, with its digest checked. Sizes are bounded by a
// multiple of the file's own, so that a small file cannot ask for large memory.
#include "record/archive.h"

#include <fmt/format.h>
#include <minizip/unzip.h>
#include <minizip/zip.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <set>

#include "record/limits.h"
#include "support/atomic_file.h"

namespace ptxopt::record {
namespace {

namespace fs = std::filesystem;

constexpr const char* kManifest = "record.json";
constexpr int kLevel = 4;               // of deflate: most of the gain, a third of the time of the best
constexpr unsigned kPiece = 16u << 20;  // bytes a call: the library counts in 32 bits
void writeEntry(zipFile file, const std::string& name, std::string_view bytes) {
  const zip_fileinfo info{};
  const bool isLarge = bytes.size() >= UINT32_MAX;
  bool ok = zipOpenNewFileInZip64(file, name.c_str(), &info, nullptr, 0, nullptr, 0, nullptr, Z_DEFLATED, kLevel,
                                  isLarge) == ZIP_OK;
  for (std::size_t at = 0; ok && at < bytes.size(); at += kPiece)
    ok = zipWriteInFileInZip(file, bytes.data() + at,
                             static_cast<unsigned>(std::min<std::size_t>(kPiece, bytes.size() - at))) == ZIP_OK;
  if (!ok || zipCloseFileInZip(file) != ZIP_OK) throw RecordError(fmt::format("{} cannot be written", name));
}

// A link to the record stays one, and what is not a file is not replaced by one.
std::string placeOf(const std::string& name) {
  std::error_code none;
  if (!fs::exists(name, none)) return name;
  if (!fs::is_regular_file(name, none)) throw RecordError(fmt::format("'{}': a record is a file", name));
  if (::access(name.c_str(), W_OK) != 0) throw RecordError(fmt::format("'{}': {}", name, std::strerror(errno)));
  return fs::canonical(name).string();
}

}  // namespace

void needWritable(const std::string& path) {
  if (!AtomicFile(placeOf(path)).isOpen()) throw RecordError(fmt::format("'{}': {}", path, std::strerror(errno)));
}

Archive::Archive(const std::string& path, uint64_t mostBytes) : path_(path), mostBytes_(mostBytes) {
  std::error_code error;
  const bool isFile = fs::is_regular_file(path, error);  // not a pipe, which would be waited for
  if (isFile) file_ = unzOpen64(path.c_str());
  if (file_ == nullptr)
    throw RecordError(fmt::format("'{}': {}", path, error ? error.message() : "it is not a launch record"));
  if (mostBytes_ == 0) mostBytes_ = std::max(kAlwaysContentBytes, kMostInflation * fs::file_size(path, error));
  try {
    readEntries();
    const uint64_t most =
        std::min(kMostManifestBytes, kAlwaysManifestBytes + kMostInflation * entry(kManifest).compressed);
    record_ = recordOfJson(bytesOf(kManifest, most));
  } catch (const RecordError& e) {
    unzClose(file_);
    const std::string why = e.what();
    throw RecordError(why.starts_with('\'') ? why : fmt::format("'{}': {}", path, why));
  }
}

Archive::~Archive() { unzClose(file_); }

void Archive::readEntries() {
  std::array<char, 64> name;  // all that is ever asked for is shorter
  std::size_t count = 0;
  for (int at = unzGoToFirstFile(file_); at == UNZ_OK; at = unzGoToNextFile(file_)) {
    unz_file_info64 info;
    unz64_file_pos place;
    if (++count > kMostEntries) throw RecordError(fmt::format("it has more than {} entries", kMostEntries));
    if (unzGetCurrentFileInfo64(file_, &info, name.data(), name.size(), nullptr, 0, nullptr, 0) != UNZ_OK ||
        unzGetFilePos64(file_, &place) != UNZ_OK)
      throw RecordError("its list of entries cannot be read");
    if (info.size_filename >= name.size()) continue;
    entries_.try_emplace(
        std::string(name.data(), info.size_filename),
        Entry{place.pos_in_zip_directory, place.num_of_file, info.uncompressed_size, info.compressed_size});
  }
}

const Archive::Entry& Archive::entry(const std::string& name) const {
  const auto found = entries_.find(name);
  if (found == entries_.end()) throw RecordError(fmt::format("'{}': {}: it is not in the record", path_, name));
  return found->second;
}

std::string Archive::bytesOf(const std::string& name, uint64_t most) const {
  const Entry& e = entry(name);
  const auto bad = [&](std::string_view why) { return RecordError(fmt::format("'{}': {}: {}", path_, name, why)); };
  if (e.size > most)
    throw bad(
        fmt::format("it has {} bytes, {} of them in the file; at most {} are read", e.size, e.compressed, most));
  const unz64_file_pos place{e.place, e.number};
  if (unzGoToFilePos64(file_, &place) != UNZ_OK || unzOpenCurrentFile(file_) != UNZ_OK)
    throw bad("it cannot be read");
  // As much memory as there are bytes, whatever the file says.
  std::string bytes;
  while (bytes.size() < e.size) {
    const std::size_t at = bytes.size();
    bytes.resize(at + std::min<uint64_t>(kPiece, e.size - at));
    const int n = unzReadCurrentFile(file_, bytes.data() + at, static_cast<unsigned>(bytes.size() - at));
    if (n <= 0) {
      unzCloseCurrentFile(file_);
      throw bad("it is cut short");
    }
    bytes.resize(at + static_cast<std::size_t>(n));
  }
  if (unzCloseCurrentFile(file_) != UNZ_OK) throw bad("its checksum is wrong");
  return bytes;
}

std::string Archive::content(const std::string& digest) const {
  std::string bytes = bytesOf(digest, mostBytes_);
  if (digestOf(bytes) != digest) throw RecordError(fmt::format("'{}': {}: it has other bytes", path_, digest));
  return bytes;
}

uint64_t Archive::sizeOf(const std::string& digest) const {
  const auto found = entries_.find(digest);
  return found != entries_.end() ? found->second.size : 0;
}

void Archive::needAffordable(const RecordedLaunch& launch) const {
  uint64_t bytes = 0;
  bool isTooMuch = false;
  for (const RecordedMemory& m : launch.memory) isTooMuch |= __builtin_add_overflow(bytes, m.size, &bytes);
  bytes = std::max(bytes, launch.heapSize);
  if (isTooMuch || bytes > mostBytes_)
    throw RecordError(
        fmt::format("'{}': a launch of {} has {} MiB of memory, more than the {} MiB that a record of this "
                    "size may have; --max-memory allows more",
                    path_, launch.kernel, isTooMuch ? UINT64_MAX >> 20 : (bytes >> 20) + 1, mostBytes_ >> 20));
}

void writeArchive(const std::string& name, const Record& record,
                  const std::function<std::string(const std::string& digest)>& content) {
  const auto cannot = [&] { return RecordError(fmt::format("'{}': {}", name, std::strerror(errno))); };
  AtomicFile made(placeOf(name));
  zipFile file = made.isOpen() ? zipOpen64(made.path().c_str(), APPEND_STATUS_CREATE) : nullptr;
  if (file == nullptr) throw cannot();
  try {
    writeEntry(file, kManifest, toJson(record));
    std::set<std::string> written;
    const auto write = [&](const std::string& digest) {
      if (!digest.empty() && written.insert(digest).second) writeEntry(file, digest, content(digest));
    };
    for (const RecordedModule& m : record.modules) write(m.text);
    for (const RecordedLaunch& l : record.launches)
      for (const RecordedMemory& m : l.memory) {
        write(m.before);
        write(m.after);
      }
  } catch (const RecordError&) {
    zipClose(file, nullptr);
    throw;
  }
  if (zipClose(file, nullptr) != ZIP_OK || !made.commit()) throw cannot();
}

}  // namespace ptxopt::record
