// Places are sorted and joined into mappings of whole pieces. Reservations are tried in multiples of 32 MiB, then
// exactly; an address that the driver does not give is an error. Gaps are filled with a pattern.
#include "gpu/fixed_memory.h"

#include <fmt/format.h>

#include <algorithm>

namespace ptxopt::gpu {
namespace {

constexpr unsigned char kPattern = 0xA5;
// The driver (580.159) places smaller reservations itself, unless the address lies where it places them anyway.
constexpr uint64_t kReservation = uint64_t{32} << 20;

uint64_t down(uint64_t address, uint64_t unit) { return address / unit * unit; }
uint64_t up(uint64_t address, uint64_t unit) { return down(address + unit - 1, unit); }

}  // namespace

FixedMemory::FixedMemory(const Driver& driver, const std::vector<Place>& given, bool isMovable) : driver_(driver) {
  if (given.empty()) return;
  const Calls& calls = driver.calls();
  driver.need(calls.granularity != nullptr && calls.reserve != nullptr && calls.unreserve != nullptr &&
                  calls.createMemory != nullptr && calls.map != nullptr && calls.setAccess != nullptr,
              "memory at an address of one's choice");
  std::vector<Place> places = given;
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.address < b.address; });
  MemoryKind kind;
  kind.location.id = driver.device().number;
  size_t piece = 0;
  driver.check("cuMemGetAllocationGranularity", calls.granularity(&piece, &kind, 0));
  const std::vector<Mapping> mappings = mappingsOf(places, piece);
  needFree(mappings);
  if (isMovable)
    distance_ = reserveAnywhere({mappings.front().range.begin, mappings.back().range.end});
  else
    reserveAll(mappings);
  for (const Mapping& m : mappings) {
    const uint64_t begin = m.range.begin + distance_, size = m.range.end - m.range.begin;
    unsigned long long handle = 0;
    driver.check("cuMemCreate", calls.createMemory(&handle, size, &kind, 0));
    driver.check("cuMemMap", calls.map(begin, size, 0, handle, 0));
    const MemoryAccess access{kind.location};
    driver.check("cuMemSetAccess", calls.setAccess(begin, size, &access, 1));
  }
  for (Range& gap : gaps_) {
    gap.begin += distance_, gap.end += distance_;
    driver.check("cuMemsetD8", calls.fill(gap.begin, kPattern, gap.end - gap.begin));
  }
}

std::vector<FixedMemory::Mapping> FixedMemory::mappingsOf(const std::vector<Place>& places, uint64_t piece) {
  std::vector<Mapping> result;
  for (std::size_t i = 0; i < places.size();) {
    const std::size_t first = i;
    const uint64_t begin = down(places[i].address, piece);
    uint64_t end = begin;
    for (; i < places.size() && (i == first || down(places[i].address, piece) <= end); ++i) {
      const uint64_t from = i == first ? begin : places[i - 1].address + places[i - 1].size;
      if (places[i].address < from)
        throw AddressTaken(
            fmt::format("'{}' and '{}' overlap at {:#x}", places[i - 1].name, places[i].name, places[i].address));
      if (places[i].address > from) gaps_.push_back({from, places[i].address});
      end = std::max(end, up(places[i].address + places[i].size, piece));
    }
    const uint64_t last = places[i - 1].address + places[i - 1].size;
    if (last < end) gaps_.push_back({last, end});
    result.push_back({{begin, end}, places[first]});
  }
  return result;
}

void FixedMemory::needFree(const std::vector<Mapping>& mappings) const {
  uint64_t needed = 0;
  for (const Mapping& m : mappings) needed += m.range.end - m.range.begin;
  size_t available = 0, total = 0;
  driver_.check("cuMemGetInfo", driver_.calls().memoryInfo(&available, &total));
  if (needed > available)
    throw DriverError(fmt::format("{} MiB of memory are needed, {} are free", needed >> 20, available >> 20));
}

void FixedMemory::reserveAll(const std::vector<Mapping>& mappings) const {
  for (std::size_t i = 0; i < mappings.size();) {
    const std::size_t first = i;
    uint64_t end = 0;
    for (; i < mappings.size() && (i == first || down(mappings[i].range.begin, kReservation) < end); ++i)
      end = up(mappings[i].range.end, kReservation);
    if (reserve({down(mappings[first].range.begin, kReservation), end})) continue;
    for (std::size_t m = first; m < i; ++m)
      if (!reserve(mappings[m].range))
        throw AddressTaken(fmt::format("'{}' at {:#x}: the driver does not give this address to the process",
                                       mappings[m].first.name, mappings[m].first.address));
  }
}

// The distance to where it is.
uint64_t FixedMemory::reserveAnywhere(Range range) const {
  uint64_t address = 0;
  const uint64_t size = up(range.end - range.begin, kReservation);
  driver_.check("cuMemAddressReserve", driver_.calls().reserve(&address, size, 0, range.begin, 0));
  return address - range.begin;
}

bool FixedMemory::reserve(Range range) const {
  uint64_t address = 0;
  const uint64_t size = range.end - range.begin;
  if (driver_.calls().reserve(&address, size, 0, range.begin, 0) != 0) return false;
  if (address == range.begin) return true;
  driver_.calls().unreserve(address, size);
  return false;
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
