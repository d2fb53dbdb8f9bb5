// The file of a launch record: reading it piece by piece, and writing it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "record/record.h"

namespace ptxopt::record {

class Archive {
 public:
  // Opens the file and reads its launches. Throws RecordError.
  explicit Archive(const std::string& path);
  ~Archive();

  const Record& record() const { return record_; }
  const std::string& path() const { return path_; }
  // What has this digest. Throws RecordError where it is not there or not intact.
  std::string content(const std::string& digest) const;
  // How many bytes it has, without reading it.
  uint64_t sizeOf(const std::string& digest) const;

 private:
  std::string path_;
  void* file_ = nullptr;
  Record record_;
};

// Throws RecordError where writeArchive() would: to know it before the launches.
void needWritable(const std::string& path);

// Writes a record with the contents that its launches and modules name: the file appears whole or not at all. Throws
// RecordError.
void writeArchive(const std::string& path, const Record& record,
                  const std::function<std::string(const std::string& digest)>& content);

}  // namespace ptxopt::record
