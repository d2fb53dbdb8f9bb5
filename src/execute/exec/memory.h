// The memory that all blocks of a grid share: allocations at virtual addresses.
//
// Addresses are made up, ascending, 512-aligned, with unmapped gaps between allocations, so that an access outside
// every allocation is noticed. An allocation is backed by anonymous pages that the system provides on first touch;
// one that `grows` accepts accesses up to its reserve and remembers how far they went.
//
// State spaces share one generic address space:
//     shared             kSharedWindow + (rank + 1) << 24 | offset; offset alone for the block's own (32 bits:
//                        shared::cluster)
//     local              kLocalWindow + offset in the thread's stack
//     param              kParamWindow + offset in the kernel's parameters
//     global and const   identity
// Nothing is allocated or freed while a kernel runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace ptxopt::exec {

class Warp;

enum class Space : uint8_t { Generic, Global, Const, Param, Shared, Local };
enum class Access : uint8_t { Read, Write, Atomic };

inline constexpr uint64_t kSharedWindow = 0x0000'1000'0000'0000;
inline constexpr uint64_t kLocalWindow = 0x0000'2000'0000'0000;
inline constexpr uint64_t kParamWindow = 0x0000'3000'0000'0000;
inline constexpr uint64_t kWindowSize = 0x0000'0001'0000'0000;
inline constexpr uint64_t kFirstAllocation = 0x0000'7000'0000'0000;
inline constexpr unsigned kSharedRankShift = 24;
// Addresses of functions and of labels; no memory is there.
inline constexpr uint64_t kCodeWindow = 0x0000'4000'0000'0000;

// Zeros that the system provides on first touch, unmapped with their owner. Throws std::bad_alloc.
class MappedPages {
 public:
  explicit MappedPages(uint64_t bytes);
  MappedPages(MappedPages&& other) noexcept : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}
  MappedPages& operator=(MappedPages&&) = delete;
  ~MappedPages();
  std::byte* data() const { return data_; }

 private:
  std::byte* data_;
  uint64_t bytes_;
};

struct Allocation {
  std::string name;
  uint64_t base = 0;
  uint64_t size = 0;      // bytes that may be accessed; 0 once freed
  uint64_t reserved = 0;  // bytes that `size` may grow to
  std::byte* data = nullptr;
  std::byte* written = nullptr;  // a nonzero byte for each byte written; only with trackWrites
  bool readOnly = false;
  bool grows = false;
  bool isForeign = false;  // `data` belongs to who attached it
  bool watched = false;    // accesses go through `watch`
  // Called before each access if `watched`: who, at what offset, how many bytes. Returns where these lie.
  std::function<std::byte*(const Warp&, unsigned lane, uint64_t offset, unsigned bytes, Access)> watch;
  // The bytes whose reads, and perhaps writes, `watch` has seen enough of: a warp may access them without a call.
  struct Quiet {
    uint64_t begin = 0, bytes = 0;
    bool writes = false;
    std::byte* data = nullptr;  // of the first
  } quiet;
  // Called when `size` has grown, with the old and the new size, to fill the new bytes (which are 0).
  std::function<void(uint64_t, uint64_t)> grown;

  bool contains(uint64_t address, uint64_t bytes) const {
    const uint64_t offset = address - base;
    return offset < size && bytes <= size - offset;
  }
};

class GlobalMemory {
 public:
  GlobalMemory() = default;
  GlobalMemory(const GlobalMemory&) = delete;
  GlobalMemory& operator=(const GlobalMemory&) = delete;
  ~GlobalMemory();

  // New memory of zeros. `reserve` (at least `size`) is what it may grow to. References stay good until release.
  Allocation& allocate(std::string name, uint64_t size, uint64_t reserve = 0, uint64_t alignment = 512);
  // Addresses alone: `data` is nullptr, and the caller sets a `watch` that says where the bytes lie.
  Allocation& reserve(std::string name, uint64_t size, uint64_t alignment);
  // The caller's memory at an address of its choice, where nothing else lies; `data` outlives it. Throws
  // std::invalid_argument where the range is taken.
  Allocation& attach(std::string name, uint64_t base, std::span<std::byte> data);
  void release(Allocation& allocation);
  // Keep Allocation::written from now on, for allocations made later too; what exists counts as written.
  void trackWrites();
  // Give no address twice, so that an access to what was released is noticed, until addresses run out.
  void keepReleased() { keepsReleased_ = true; }

  // The allocation whose size or, for one that grows, whose reserve covers the address; nullptr for none.
  Allocation* find(uint64_t address);
  // All of them, by ascending base.
  std::map<uint64_t, Allocation>& all() { return allocations_; }
  // The allocation whose beginning or end lies nearest, of those that are not empty, for messages; nullptr where all are
  // far away.
  const Allocation* nearest(uint64_t address) const;

 private:
  Allocation& add(std::string name, uint64_t base, uint64_t size, uint64_t reserve);
  Allocation& addNext(std::string name, uint64_t size, uint64_t reserve, uint64_t alignment);
  bool isFree(uint64_t base, uint64_t bytes) const;
  uint64_t nextAddress() const;  // for an allocation: after all that we chose addresses for

  std::map<uint64_t, Allocation> allocations_;  // by base
  uint64_t past_ = kFirstAllocation;            // all that we ever chose addresses for lies before this
  bool trackWrites_ = false;
  bool keepsReleased_ = false;
};

}  // namespace ptxopt::exec
