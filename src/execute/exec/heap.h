// The device heap that malloc and free of kernels use: first fit in one allocation of fixed size, 16-aligned blocks.
// Calls from several threads at once are fine.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "exec/memory.h"

namespace ptxopt::exec {

class Heap {
 public:
  explicit Heap(Allocation& memory) : memory_(memory) { free_.emplace(0, memory.size); }

  // 0 when there is no room, or for 0 bytes.
  uint64_t allocate(uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    bytes = (bytes + 15) & ~uint64_t{15};
    if (bytes == 0) return 0;
    for (auto at = free_.begin(); at != free_.end(); ++at) {
      const auto [offset, size] = *at;
      if (size < bytes) continue;
      free_.erase(at);
      if (size > bytes) free_.emplace(offset + bytes, size - bytes);
      used_.emplace(offset, bytes);
      return memory_.base + offset;
    }
    return 0;
  }

  // False when `address` is none that allocate gave.
  bool release(uint64_t address) {
    const std::lock_guard lock(mutex_);
    const auto used = used_.find(address - memory_.base);
    if (used == used_.end()) return false;
    auto [offset, size] = *used;
    used_.erase(used);
    auto after = free_.lower_bound(offset);
    if (after != free_.end() && after->first == offset + size) {
      size += after->second;
      after = free_.erase(after);
    }
    if (after != free_.begin() && std::prev(after)->first + std::prev(after)->second == offset) {
      std::prev(after)->second += size;
      return true;
    }
    free_.emplace(offset, size);
    return true;
  }

  // Which parts are in use; to be taken and given back between launches.
  struct State {
    std::map<uint64_t, uint64_t> free, used;  // offset to size
  };
  State state() const { return {free_, used_}; }
  void restore(State state) {
    free_ = std::move(state.free);
    used_ = std::move(state.used);
  }

 private:
  Allocation& memory_;
  std::mutex mutex_;
  std::map<uint64_t, uint64_t> free_, used_;  // offset to size
};

}  // namespace ptxopt::exec
