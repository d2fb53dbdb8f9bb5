#include "record/archive.h"

#include <fmt/format.h>
#include <minizip/unzip.h>
#include <minizip/zip.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <set>

namespace ptxopt::record {
namespace {

namespace fs = std::filesystem;

constexpr const char* kManifest = "record.json";
constexpr int kLevel = 4;               // of deflate: most of the gain, a third of the time of the best
constexpr unsigned kPiece = 16u << 20;  // bytes a call: the library counts in 32 bits
constexpr uint64_t kMostManifest = uint64_t{1} << 30;

std::string readEntry(unzFile file, const std::string& path, const std::string& name) {
  const auto bad = [&](const char* why) { return RecordError(fmt::format("'{}': {}: {}", path, name, why)); };
  unz_file_info64 info;
  if (unzLocateFile(file, name.c_str(), 1) != UNZ_OK ||
      unzGetCurrentFileInfo64(file, &info, nullptr, 0, nullptr, 0, nullptr, 0) != UNZ_OK)
    throw bad("it is not in the record");
  if (name == kManifest && info.uncompressed_size > kMostManifest) throw bad("it is too large");
  if (unzOpenCurrentFile(file) != UNZ_OK) throw bad("it cannot be read");
  // As much memory as there are bytes, whatever the file says.
  std::string bytes;
  while (bytes.size() < info.uncompressed_size) {
    const std::size_t at = bytes.size();
    bytes.resize(at + std::min<uint64_t>(kPiece, info.uncompressed_size - at));
    const int n = unzReadCurrentFile(file, bytes.data() + at, static_cast<unsigned>(bytes.size() - at));
    if (n <= 0) {
      unzCloseCurrentFile(file);
      throw bad("it is cut short");
    }
    bytes.resize(at + static_cast<std::size_t>(n));
  }
  if (unzCloseCurrentFile(file) != UNZ_OK) throw bad("its checksum is wrong");
  return bytes;
}

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

// A link to the record stays one, and what is no file is not replaced by one.
std::string placeOf(const std::string& name) {
  std::error_code none;
  if (!fs::exists(name, none)) return name;
  if (!fs::is_regular_file(name, none)) throw RecordError(fmt::format("'{}': a record is a file", name));
  return fs::canonical(name).string();
}

}  // namespace

void needWritable(const std::string& path) {
  const std::string temporary = placeOf(path) + ".part";
  std::FILE* const file = std::fopen(temporary.c_str(), "ab");
  if (file == nullptr) throw RecordError(fmt::format("'{}': {}", temporary, std::strerror(errno)));
  std::fclose(file);
  std::remove(temporary.c_str());
}

Archive::Archive(const std::string& path) : path_(path), file_(unzOpen64(path.c_str())) {
  if (file_ == nullptr) {
    std::FILE* const there = std::fopen(path.c_str(), "rb");
    const std::string why = there != nullptr ? "it is no launch record" : std::strerror(errno);
    if (there != nullptr) std::fclose(there);
    throw RecordError(fmt::format("'{}': {}", path, why));
  }
  try {
    record_ = recordOfJson(readEntry(file_, path, kManifest));
  } catch (const RecordError& e) {
    unzClose(file_);
    const std::string why = e.what();
    throw RecordError(why.starts_with('\'') ? why : fmt::format("'{}': {}", path, why));
  }
}

Archive::~Archive() { unzClose(file_); }

std::string Archive::content(const std::string& digest) const {
  std::string bytes = readEntry(file_, path_, digest);
  if (digestOf(bytes) != digest) throw RecordError(fmt::format("'{}': {}: it has other bytes", path_, digest));
  return bytes;
}

uint64_t Archive::sizeOf(const std::string& digest) const {
  unz_file_info64 info;
  if (unzLocateFile(file_, digest.c_str(), 1) != UNZ_OK ||
      unzGetCurrentFileInfo64(file_, &info, nullptr, 0, nullptr, 0, nullptr, 0) != UNZ_OK)
    return 0;
  return info.uncompressed_size;
}

void writeArchive(const std::string& name, const Record& record,
                  const std::function<std::string(const std::string& digest)>& content) {
  const std::string path = placeOf(name);
  const std::string temporary = path + ".part";
  zipFile file = zipOpen64(temporary.c_str(), APPEND_STATUS_CREATE);
  if (file == nullptr) throw RecordError(fmt::format("'{}': {}", temporary, std::strerror(errno)));
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
    std::remove(temporary.c_str());
    throw;
  }
  if (zipClose(file, nullptr) != ZIP_OK || std::rename(temporary.c_str(), path.c_str()) != 0) {
    const std::string why = std::strerror(errno);
    std::remove(temporary.c_str());
    throw RecordError(fmt::format("'{}': {}", path, why));
  }
}

}  // namespace ptxopt::record
