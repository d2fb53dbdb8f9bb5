// Which memory a launch reaches through which parameters of its kernel.
//
// What a kernel's accesses are made of is known without running it (ParameterMemory). Parameters that lead to different
// allocations meet nowhere. Where several lead to one, the launch is watched: by each parameter, the range from the first byte
// to the last that it reached in that allocation. Two parameters overlap where their ranges meet, as far as a test of ranges
// could tell. Structures that hold addresses count as written where something is that nobody knows; a launch where memory of one
// is that of another parameter is not known. What is reached in functions that the kernel calls, or by addresses from memory, is nobody's.
// Cost:       a watched launch takes several times as long, so that only some of each kernel's are (kMostWatched).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "exec/machine.h"
#include "exec/observer.h"
#include "profiling/kernel_reads.h"

namespace ptxopt::profiling {

struct Footprints {
  std::vector<uint32_t> written;
  std::vector<std::pair<uint32_t, uint32_t>> overlapping;
};

// For one kernel.
class FootprintFinder {
 public:
  FootprintFinder(const Module& module, const Function& kernel, std::vector<ReadPart> parts);

  // Runs a launch, with an observer in its configuration where it has to be watched. None: it was not watched.
  std::optional<Footprints> run(exec::Machine& machine, exec::LaunchConfig& config,
                                const std::function<void(exec::LaunchConfig&)>& launch);

 private:
  using Set = uint64_t;  // bit p: parameter p
  static constexpr unsigned kMostWatched = 8;

  struct Pointer {
    uint32_t parameter;
    uint64_t address;
    exec::Allocation* allocation;
  };
  class Watch;
  std::vector<Pointer> pointersOf(exec::Machine& machine, std::span<const std::byte> parameters) const;
  std::vector<uint64_t> keyOf(const exec::LaunchConfig& config, const std::vector<Pointer>& pointers) const;

  const Function& kernel_;
  std::vector<ReadPart> parts_;
  std::vector<Set> accessed_;  // by InstrId
  Set reached_ = 0, written_ = 0;
  Set partly_ = 0;  // structures with addresses: it is not known which accesses are theirs
  bool isKnown_ = false;
  std::map<std::vector<uint64_t>, Footprints> known_;  // of launches that were watched, by what they were given
};

}  // namespace ptxopt::profiling
