// What the instructions that access memory have in common: state spaces, the modifiers that change nothing for the
// interpreter, and addresses of lanes.
//
// Ordering modifiers (.relaxed, .acquire, ...), scopes, cache operators, eviction priorities, prefetch sizes and
// cache policies are taken and ignored: memory has no caches here, and an access of a lane is done when its
// instruction is. Whether there is an ordering modifier is remembered, because spin loops are made of such
// accesses.
#pragma once

#include <cstring>
#include <type_traits>

#include "exec/binder.h"
#include "exec/block.h"
#include "exec/lanes.h"
#include "exec/launch.h"

namespace ptxopt::exec {

// 16 bytes that are moved by one instruction of the host.
using Word128 = uint64_t __attribute__((vector_size(16)));

template <unsigned kBytes>
using Word =
    std::conditional_t<kBytes == 1, uint8_t,
                       std::conditional_t<kBytes == 2, uint16_t,
                                          std::conditional_t<kBytes == 4, uint32_t,
                                                             std::conditional_t<kBytes == 8, uint64_t, Word128>>>>;

// Bytes of a value of `type` in memory; 0 for types that are not in memory.
inline unsigned memoryBytes(ScalarType type) {
  const unsigned bits = info(type).bits;
  return bits < 8 ? 0 : bits / 8;
}

// The state space of ld, st, atom and their like; Generic when there is none.
inline Space takeSpace(Binder& b) {
  if (b.take("global")) return Space::Global;
  if (!b.takeOneOf({"shared", "shared::cta", "shared::cluster"}).empty()) return Space::Shared;
  if (!b.takeOneOf({"param", "param::entry", "param::func"}).empty()) return Space::Param;
  if (b.take("local")) return Space::Local;
  if (b.take("const")) return Space::Const;
  return Space::Generic;
}

// Takes what only says how, when and by whom an access is seen. True for accesses that are more than weak ones.
inline bool takeOrdering(Binder& b) {
  bool ordered = false;
  for (const char* m : {"volatile", "relaxed", "acquire", "release", "acq_rel", "mmio"})
    if (b.take(m)) ordered = true;
  b.take("weak");
  b.takeOneOf({"cta", "cluster", "gpu", "sys"});
  return ordered;
}

// Takes cache operators, priorities and prefetch sizes. True when the last operand is a cache policy.
inline bool takeCaching(Binder& b) {
  b.take("nc");
  b.takeOneOf({"ca", "cg", "cs", "lu", "cv", "wb", "wt"});
  b.takeOneOf({"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last", "L1::no_allocate"});
  b.takeOneOf({"L2::evict_normal", "L2::evict_first", "L2::evict_last"});
  b.takeOneOf({"L2::64B", "L2::128B", "L2::256B"});
  return b.take("L2::cache_hint");
}

// [base + offset] at run time.
struct Location {
  Arg base;
  int64_t offset = 0;
  Space space = Space::Generic;

  Location() = default;
  explicit Location(const AddressArg& a) : base(a.base), offset(a.offset), space(a.space) {}

  // An address of 32 bits wraps there.
  template <typename Base>
  static uint64_t addressOf(Base base, int64_t offset) {
    if constexpr (sizeof(Base) == 4)
      return static_cast<uint32_t>(base + static_cast<uint32_t>(offset));
    else
      return base + static_cast<uint64_t>(offset);
  }
  uint64_t address(const Warp& w, unsigned lane) const {
    return base.bytes == 4 ? addressOf(w.in<uint32_t>(base)[lane], offset)
                           : addressOf(w.in<uint64_t>(base)[lane], offset);
  }
};

// Warp::memory for .shared addresses of the warp's own block, short cut where nobody watches and nothing is wrong.
class OwnShared {
 public:
  explicit OwnShared(Warp& w) : warp_(w) {
    if (w.block().launch().watchesMemory()) return;
    data_ = w.block().shared.data();
    size_ = w.block().shared.size();
  }
  std::byte* memory(unsigned lane, uint64_t address, unsigned bytes, unsigned alignment, Access access) const {
    if (address < size_ && bytes <= size_ - address && (address & (alignment - 1)) == 0) [[likely]]
      return data_ + address;
    return warp_.memory(Space::Shared, lane, address, bytes, alignment, access);
  }

 private:
  Warp& warp_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

inline bool isSharedWindow(uint64_t generic) { return generic - kSharedWindow < kWindowSize; }

// Whether the bytes that a location denotes lie in shared memory.
inline bool isShared(Space space, uint64_t address) {
  return space == Space::Shared || (space == Space::Generic && isSharedWindow(address));
}

}  // namespace ptxopt::exec
