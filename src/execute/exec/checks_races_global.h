// Data races in global memory: accesses to one word by threads of one block or of several, at least one of them a
// write, not both atomic, and neither ordered before the other.
//
// What is different from shared memory (checks_races.cpp):
//   - A store of what is there already changes nothing: it counts as a read. Threads that store the same value where
//     none knows of the other are one writer: the value is the same in every order. So a flag that many threads set
//     is not a race.
//   - Threads of other clusters take part. What orders them are atomic accesses to one place: who reads there knows
//     all that the cluster of a writer did before the writer's last fence, or before its releasing access. That is
//     more than the memory model promises, so some races are not seen; none is reported that is none.
// Memory: some 100 bytes for each word touched, of the first kMostPages pages; accesses of less than a word, or not
// aligned to one, make their page one of bytes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "exec/memory.h"
#include "exec/race_events.h"

namespace ptxopt::exec {

class GlobalRaces {
 public:
  // An access that is not ordered with the new one, or nothing.
  struct Conflict {
    Event other;
    const char* kind = nullptr;  // what the other is; null: no conflict
    uint64_t address = 0;
  };

  // A new access; `now` is of the thread that `knows` is of. A plain write says what was there before and what is
  // there now.
  Conflict read(uint64_t address, unsigned bytes, const Event& now, const Knowledge& knows);
  Conflict write(uint64_t address, unsigned bytes, const Event& now, const Knowledge& knows,
                 const std::byte* before, const std::byte* after);
  Conflict atomic(uint64_t address, unsigned bytes, Access access, const Event& now, const Knowledge& knows);

  // What clusters have released at a place: by cluster the last event that is known.
  using Others = std::map<uint32_t, uint32_t>;
  static void learn(Others& to, const Others& from);
  Others& released(uint64_t address) { return released_[address]; }
  bool hasReleased(uint64_t address) const { return released_.contains(address); }

 private:
  struct Cell {
    Events writes;  // of the value that is there
    Events reads, atomicWrites, atomicReads;
  };
  static constexpr uint64_t kPage = 256, kWord = 4;
  static constexpr std::size_t kMostPages = 1u << 16;
  struct Page {
    std::vector<Cell> cells = std::vector<Cell>(kPage / kWord);
    uint64_t cellBytes = kWord;
  };

  Page* pageAt(uint64_t address, bool isWhole);
  // Calls `f` with each cell that the access covers and its address; stops at a conflict.
  template <typename F>
  Conflict forEachCell(uint64_t address, unsigned bytes, F&& f);

  std::unordered_map<uint64_t, Page> pages_;  // by address
  std::unordered_map<uint64_t, Others> released_;
};

}  // namespace ptxopt::exec
