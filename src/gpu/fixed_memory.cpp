#include "gpu/fixed_memory.h"

#include <fmt/format.h>

#include <algorithm>

namespace ptxopt::gpu {
namespace {

constexpr unsigned char kPattern = 0xA5;

}  // namespace

FixedMemory::FixedMemory(const Driver& driver, const std::vector<Place>& given) : driver_(driver) {
  if (given.empty()) return;
  const Calls& calls = driver.calls();
  driver.need(calls.granularity != nullptr && calls.reserve != nullptr && calls.createMemory != nullptr &&
                  calls.map != nullptr && calls.setAccess != nullptr,
              "memory at an address of one's choice");
  std::vector<Place> places = given;
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.address < b.address; });
  MemoryKind kind;
  kind.location.id = driver.device().number;
  size_t piece = 0;
  driver.check("cuMemGetAllocationGranularity", calls.granularity(&piece, &kind, 0));
  for (std::size_t i = 0; i < places.size();) {
    const std::size_t first = i;
    const uint64_t begin = places[i].address / piece * piece;
    uint64_t end = begin;
    for (; i < places.size() && (i == first || places[i].address / piece * piece <= end); ++i) {
      const uint64_t from = i == first ? begin : places[i - 1].address + places[i - 1].size;
      if (places[i].address < from)
        throw AddressTaken(
            fmt::format("'{}' and '{}' overlap at {:#x}", places[i - 1].name, places[i].name, places[i].address));
      if (places[i].address > from) gaps_.push_back({from, places[i].address});
      end = std::max(end, (places[i].address + places[i].size + piece - 1) / piece * piece);
    }
    const uint64_t last = places[i - 1].address + places[i - 1].size;
    if (last < end) gaps_.push_back({last, end});
    uint64_t address = 0;
    const int reserved = calls.reserve(&address, end - begin, 0, begin, 0);
    if (reserved != 0 || address != begin) {
      if (reserved == 0 && calls.unreserve != nullptr) calls.unreserve(address, end - begin);
      throw AddressTaken(fmt::format("'{}' at {:#x}: the driver does not give this address to the process",
                                     places[first].name, places[first].address));
    }
    unsigned long long handle = 0;
    driver.check("cuMemCreate", calls.createMemory(&handle, end - begin, &kind, 0));
    driver.check("cuMemMap", calls.map(begin, end - begin, 0, handle, 0));
    const MemoryAccess access{kind.location};
    driver.check("cuMemSetAccess", calls.setAccess(begin, end - begin, &access, 1));
    bytes_ += end - begin;
  }
  for (const Range& gap : gaps_) driver.check("cuMemsetD8", calls.fill(gap.begin, kPattern, gap.end - gap.begin));
}

uint64_t FixedMemory::writtenOutside() const {
  std::string bytes;
  for (const Range& gap : gaps_) {
    bytes.resize(gap.end - gap.begin);
    driver_.check("cuMemcpyDtoH", driver_.calls().toHost(bytes.data(), gap.begin, bytes.size()));
    const std::size_t at = bytes.find_first_not_of(static_cast<char>(kPattern));
    if (at != std::string::npos) return gap.begin + at;
  }
  return 0;
}

}  // namespace ptxopt::gpu
