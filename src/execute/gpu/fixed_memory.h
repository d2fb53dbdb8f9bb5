// Device memory at given addresses.
//
// What a record holds are pointers, in parameters and in buffers, so its memory has to lie where it lay. The driver's virtual
// memory functions reserve addresses, and map memory there: in pieces of the granularity of the device (2 MiB), so that
// buffers of one piece share it. What is between buffers gets a pattern, which shows who writes there. Addresses are
// reserved in multiples of 32 MiB where possible, because the driver places smaller reservations itself.
//
// Where only the distances between buffers matter, the driver may choose: all buffers are moved by one distance.
//
// Declined, with a reason that names the buffer: an address that is not free in this process, or that no device has.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gpu/driver.h"

namespace ptxopt::gpu {

struct Place {
  std::string name;
  uint64_t address = 0, size = 0;
};

// An address that cannot be had; what() says which.
struct AddressTaken : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class FixedMemory {
 public:
  // Throws AddressTaken, DriverError. It stays as long as the process.
  FixedMemory(const Driver& driver, const std::vector<Place>& places, bool isMovable);
  // What is to be added to each address that was asked for.
  uint64_t distance() const { return distance_; }
  // Where somebody wrote outside all places: the address of the first byte; 0: nowhere.
  uint64_t writtenOutside() const;

 private:
  struct Range {
    uint64_t begin, end;
  };
  struct Mapping {
    Range range;
    Place first;  // in it
  };
  std::vector<Mapping> mappingsOf(const std::vector<Place>& places, uint64_t piece);
  void needFree(const std::vector<Mapping>& mappings) const;
  void reserveAll(const std::vector<Mapping>& mappings) const;
  uint64_t reserveAnywhere(Range range) const;
  bool reserve(Range range) const;

  const Driver& driver_;
  std::vector<Range> gaps_;
  uint64_t distance_ = 0;
};

}  // namespace ptxopt::gpu
