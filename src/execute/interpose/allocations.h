// The memory that a program has from the driver, as its calls say (memory.cpp). Safe to use from several threads.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

namespace ptxopt::interpose {

struct Allocation {
  uint64_t size = 0;
  const char* name = "";
  bool isOfHost = false;    // the program reaches it without the driver
  void* context = nullptr;  // that was current
};

class Allocations {
 public:
  using Map = std::map<uint64_t, Allocation>;  // by address

  static Allocations& get();
  void add(uint64_t address, const Allocation& allocation);
  // What begins there, or between two addresses.
  void remove(uint64_t address);
  void remove(uint64_t begin, uint64_t end);
  // body(map), locked.
  template <typename F>
  auto with(F&& body) {
    const std::lock_guard guard(lock_);
    return body(static_cast<const Map&>(map_));
  }

 private:
  std::mutex lock_;
  Map map_;
};

// What an address lies in; the end of the map: in nothing.
Allocations::Map::const_iterator holderOf(const Allocations::Map& map, uint64_t address);

}  // namespace ptxopt::interpose
