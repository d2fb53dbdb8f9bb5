// What is recorded while a program runs: in a folder, from which the record is made when the program has ended, however it
// ended.
//
// In the folder are the contents under their digests, a file a launch, and one with the modules.
#pragma once

#include <string>
#include <string_view>

#include "record/record.h"

namespace ptxopt::record {

// Everything throws RecordError.
class FolderWriter {
 public:
  explicit FolderWriter(std::string path) : path_(std::move(path)) {}

  // Stores bytes, and returns their digest.
  std::string keep(std::string_view bytes);
  // The index of a new module.
  uint64_t addModule(std::string_view name, std::string_view text);
  // Launches count from 1. One that is written again takes the place of what was there.
  void write(uint64_t number, const RecordedLaunch& launch);

 private:
  std::string path_;
  std::vector<RecordedModule> modules_;
};

// Removes what a FolderWriter puts there, by its names, and the folder if nothing else is in it.
void removeFolder(const std::string& folder);

// Makes the record of what is in the folder. Throws RecordError.
Record readFolder(const std::string& folder);
void packFolder(const std::string& folder, const std::string& path);

}  // namespace ptxopt::record
