// Blocks are kept by address in a map. Device memory is the interpreter's; host and managed memory is mapped by the
// system and attached at its own address. New memory is filled with 0xA5, up to a limit.
#include "emulate/memory.h"

#include <sys/mman.h>

#include <cstring>
#include <stdexcept>

#include "exec/align.h"

namespace ptxopt::emulate {
namespace {

constexpr uint64_t kHostPage = 4096;
constexpr int kUndefined = 0xA5;  // what new memory holds: zeros would hide that a program counts on them
// Filling more than that would take memory that programs do not use.
constexpr uint64_t kMostFilled = uint64_t{256} << 20;

bool isMapped(MemoryKind kind) { return kind == MemoryKind::Host || kind == MemoryKind::Managed; }

}  // namespace

Memory::~Memory() {
  while (!blocks_.empty()) release(blocks_.begin()->second);
}

Block& Memory::allocate(uint64_t size, MemoryKind kind, unsigned flags) {
  need(size != 0, Code::InvalidValue, "memory of 0 bytes");
  if (kind != MemoryKind::Host && size > available())
    throw Failure{Code::MemoryAllocation, "the device has no memory of this size left"};
  Block block{kind, 0, size, flags, nullptr};
  if (isMapped(kind)) {
    void* const p = mmap(nullptr, exec::roundUp(size, kHostPage), PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) throw Failure{Code::MemoryAllocation, "the host has no memory left"};
    block.allocation = &global().attach(kind == MemoryKind::Host ? "host memory" : "managed memory",
                                        reinterpret_cast<uint64_t>(p), {static_cast<std::byte*>(p), size});
  } else {
    block.allocation = &global().allocate("device memory", size);
    if (size <= kMostFilled) std::memset(block.allocation->data, kUndefined, size);
  }
  block.address = block.allocation->base;
  if (kind != MemoryKind::Host) used_ += size;
  return blocks_[block.address] = block;
}

Block& Memory::registerHost(void* address, uint64_t size, unsigned flags) {
  need(address != nullptr && size != 0, Code::InvalidValue, "no memory to register");
  const auto base = reinterpret_cast<uint64_t>(address);
  Block block{MemoryKind::Registered, base, size, flags, nullptr};
  try {
    block.allocation = &global().attach("registered memory", base, {static_cast<std::byte*>(address), size});
  } catch (const std::invalid_argument&) {
    throw Failure{Code::HostMemoryAlreadyRegistered, "a part of this memory is registered"};
  }
  return blocks_[base] = block;
}

Block* Memory::beginningAt(uint64_t address) {
  const auto found = blocks_.find(address);
  return found != blocks_.end() ? &found->second : nullptr;
}

void Memory::release(Block& block) {
  const Block old = block;
  if (old.kind == MemoryKind::Device || old.kind == MemoryKind::Managed) used_ -= old.size;
  global().release(*old.allocation);
  blocks_.erase(old.address);
  if (isMapped(old.kind)) munmap(reinterpret_cast<void*>(old.address), exec::roundUp(old.size, kHostPage));
}

Block* Memory::around(uint64_t address) {
  const auto after = blocks_.upper_bound(address);
  if (after == blocks_.begin()) return nullptr;
  Block& block = std::prev(after)->second;
  return address - block.address < block.size ? &block : nullptr;
}

std::byte* Memory::bytes(uint64_t address, uint64_t size) {
  exec::Allocation* const a = global().find(address);
  if (a == nullptr || !a->contains(address, size))
    throw Failure{Code::InvalidValue, "a range that lies in no device memory"};
  return a->data + (address - a->base);
}

std::byte* Memory::anyBytes(const void* address, uint64_t size) {
  const auto at = reinterpret_cast<uint64_t>(address);
  if (global().find(at) != nullptr) return bytes(at, size);
  need(address != nullptr, Code::InvalidValue, "a null pointer");
  return const_cast<std::byte*>(static_cast<const std::byte*>(address));
}

}  // namespace ptxopt::emulate
