// The memory that a program has by way of CUDA: on the device, on the host where kernels see it too, and managed.
//
// Device memory has made-up addresses: a program that reads through them on the host faults, as it would with a GPU. What
// both sides see lies at one address for both. A range of the program's own memory may be registered, and is then seen by
// kernels at its address.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "emulate/error.h"
#include "exec/machine.h"

namespace ptxopt::emulate {

enum class MemoryKind : uint8_t { Device, Host, Registered, Managed };

// The bytes from the first to the last of `rows` rows of `width` bytes; more than any memory has where 64 bits do not hold it.
inline uint64_t bytesOfRows(uint64_t pitch, uint64_t rows, uint64_t width) {
  uint64_t bytes = 0;
  if (rows == 0) return width;
  const bool wraps =
      __builtin_mul_overflow(pitch, rows - 1, &bytes) || __builtin_add_overflow(bytes, width, &bytes);
  return wraps ? UINT64_MAX : bytes;
}

struct Block {
  MemoryKind kind = MemoryKind::Device;
  uint64_t address = 0, size = 0;
  unsigned flags = 0;
  exec::Allocation* allocation = nullptr;
};

// Everything throws Failure.
class Memory {
 public:
  Memory(uint64_t bytes, uint64_t heapBytes)
      : shared_(std::make_shared<exec::DeviceMemory>(heapBytes)), limit_(bytes) {
    global().keepReleased();
  }
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  const std::shared_ptr<exec::DeviceMemory>& shared() const { return shared_; }
  exec::GlobalMemory& global() { return shared_->global; }

  // Takes `size` bytes, not 0. What it holds at first is not defined, and not zeros.
  Block& allocate(uint64_t size, MemoryKind kind, unsigned flags = 0);
  Block& registerHost(void* address, uint64_t size, unsigned flags);
  // What begins there and is of one of two kinds; nullptr where nothing is.
  Block* beginningAt(uint64_t address);
  void release(Block& block);
  // The block around an address, or nullptr.
  Block* around(uint64_t address);

  // The bytes at an address of the device, all in one allocation or variable.
  std::byte* bytes(uint64_t address, uint64_t size);
  // The same, or the program's own memory.
  std::byte* anyBytes(const void* address, uint64_t size);

  uint64_t total() const { return limit_; }
  uint64_t available() const { return limit_ - used_; }

 private:
  std::shared_ptr<exec::DeviceMemory> shared_;
  std::map<uint64_t, Block> blocks_;
  uint64_t limit_, used_ = 0;
};

}  // namespace ptxopt::emulate
