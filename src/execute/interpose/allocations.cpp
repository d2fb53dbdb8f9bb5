#include "interpose/allocations.h"

#include <iterator>

namespace ptxopt::interpose {

Allocations& Allocations::get() {
  static auto* const allocations = new Allocations;  // never ended: programs call in until the very end
  return *allocations;
}

void Allocations::add(uint64_t address, const Allocation& allocation) {
  const std::lock_guard guard(lock_);
  map_[address] = allocation;
}

void Allocations::remove(uint64_t address) {
  const std::lock_guard guard(lock_);
  map_.erase(address);
}

void Allocations::remove(uint64_t begin, uint64_t end) {
  const std::lock_guard guard(lock_);
  map_.erase(map_.lower_bound(begin), map_.lower_bound(end));
}

Allocations::Map::const_iterator holderOf(const Allocations::Map& map, uint64_t address) {
  const auto after = map.upper_bound(address);
  if (after == map.begin()) return map.end();
  const auto found = std::prev(after);
  return address - found->first < found->second.size ? found : map.end();
}

}  // namespace ptxopt::interpose
