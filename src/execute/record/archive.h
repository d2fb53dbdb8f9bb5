// The file of a launch record: reading it piece by piece, and writing it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "record/record.h"

namespace ptxopt::record {

class Archive {
 public:
  // Opens the file and reads its launches, within the limits of record/limits.h. `mostBytes`: that the memory of a launch
  // may have, where the user says it. Throws RecordError.
  explicit Archive(const std::string& path, uint64_t mostBytes = 0);
  ~Archive();

  const Record& record() const { return record_; }
  const std::string& path() const { return path_; }
  // What has this digest. Throws RecordError where it is not there or not intact.
  std::string content(const std::string& digest) const;
  // How many bytes it has, without reading it; 0: it is not there.
  uint64_t sizeOf(const std::string& digest) const;
  // Throws RecordError where the launch has more memory than a launch of this record may have. To be called before it runs.
  void needAffordable(const RecordedLaunch& launch) const;
  uint64_t mostBytes() const { return mostBytes_; }

 private:
  struct Entry {
    uint64_t place = 0, number = 0;  // in the zip file
    uint64_t size = 0, compressed = 0;
  };
  void readEntries();
  const Entry& entry(const std::string& name) const;
  std::string bytesOf(const std::string& name, uint64_t most) const;

  std::string path_;
  uint64_t mostBytes_;
  void* file_ = nullptr;
  std::unordered_map<std::string, Entry> entries_;
  Record record_;
};

// Throws RecordError where writeArchive() would: to know it before the launches.
void needWritable(const std::string& path);

// Writes a record with the contents that its launches and modules name: the file appears whole or not at all. Throws
// RecordError.
void writeArchive(const std::string& path, const Record& record,
                  const std::function<std::string(const std::string& digest)>& content);

}  // namespace ptxopt::record
