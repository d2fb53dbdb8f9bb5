// The memory that a launch can write to, as it was at one time, and what has changed since.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ptxopt::jit {

// What blocks of memory hold, by their addresses.
using MemoryBlocks = std::map<uint64_t, std::string>;

class MemoryImage {
 public:
  struct Range {
    uint64_t address = 0, size = 0;
    std::string name;
    std::string bytes;
  };

  // Reads these ranges. False: one cannot be read.
  bool read(std::vector<Range> ranges);
  // The blocks that have other bytes now. False: they cannot be read.
  bool changes(MemoryBlocks& changed) const;
  // Puts back what these blocks had.
  bool restore(const MemoryBlocks& changed) const;
  const std::vector<Range>& ranges() const { return ranges_; }

  // Where two sets of changes first differ, for people; empty: nowhere.
  std::string firstDifference(const MemoryBlocks& expected, const MemoryBlocks& found) const;

 private:
  const Range& rangeOf(uint64_t block) const;
  std::string bytesBefore(uint64_t block) const;

  std::vector<Range> ranges_;  // by address
};

}  // namespace ptxopt::jit
