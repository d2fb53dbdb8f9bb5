// What --check-races knows of the threads and the shared memory of a cluster: see checks_races.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "exec/checks_races_global.h"
#include "exec/race_events.h"
#include "exec/vector_clock.h"

namespace ptxopt::exec {

// The last accesses to a byte.
struct RaceByte {
  Event write;
  Events reads, atomicWrites, atomicReads;
};

inline constexpr uint32_t kRacePage = 256;
using RacePage = std::array<RaceByte, kRacePage>;

// A block's shared memory.
struct SharedRaces {
  std::vector<std::unique_ptr<RacePage>> pages;
  std::unordered_map<uint32_t, std::shared_ptr<const ClockTable>> published;  // by offset of an atomic access
};

struct RaceThread {
  VectorClock clock;
  uint32_t fencedAt = 0;                                // number of the last event before its last fence
  std::shared_ptr<const ClockTable> fenced;             // what it knew at its last fence, itself included
  std::vector<std::shared_ptr<const ClockTable>> seen;  // by relaxed reads since its last fence
};

struct RaceArrival {
  std::shared_ptr<const ClockTable> known;
  bool waits = false;
};

struct ClusterRaces {
  uint64_t birth = 0;
  uint32_t number = 0;  // in the order in which they are made
  GlobalRaces::Others others;
  std::unordered_map<uint64_t, std::shared_ptr<const ClockTable>> published;  // by global address
  uint32_t blockThreads = 0;
  std::vector<RaceThread> threads;
  std::vector<SharedRaces> shared;                                // by rank
  std::map<std::pair<uint32_t, uint64_t>, RaceArrival> arrivals;  // by thread and barrier
  std::map<uint32_t, ClockJoin> clusterArrivals;                  // by generation
  std::vector<ClockJoin> exited;                                  // by rank
  std::vector<std::vector<ClockJoin>> exitedOfWarp;               // by rank and warp
};

}  // namespace ptxopt::exec
