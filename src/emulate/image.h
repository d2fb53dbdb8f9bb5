// All that a launch may change, as bytes: to run it twice from the same beginning, and to compare what came out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "exec/memory.h"

namespace ptxopt::emulate {

class Image {
 public:
  // A copy of all allocations that kernels may write.
  explicit Image(exec::GlobalMemory& memory);
  // Makes memory what it was.
  void restore() const;

  struct Difference {
    const exec::Allocation* allocation = nullptr;
    uint64_t first = 0;  // offset of the first byte that differs
    uint64_t bytes = 0;  // how many differ, of all allocations
  };
  // How memory now differs from this image; none where it does not.
  std::optional<Difference> difference() const;
  // The image's byte at an offset of an allocation.
  const std::byte* at(const exec::Allocation& allocation, uint64_t offset) const;

 private:
  struct Part {
    exec::Allocation* allocation;
    std::vector<std::byte> bytes;
  };
  std::vector<Part> parts_;
};

}  // namespace ptxopt::emulate
