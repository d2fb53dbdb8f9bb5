#include "exec/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>

#include "exec/align.h"
#include "exec/error.h"

namespace ptxopt::exec {

namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kGap = 64u << 10;

std::byte* mapPages(uint64_t bytes) {
  void* p = mmap(nullptr, roundUp(std::max<uint64_t>(bytes, 1), kPage), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) throw std::bad_alloc();
  return static_cast<std::byte*>(p);
}

void unmapPages(std::byte* p, uint64_t bytes) {
  if (p != nullptr) munmap(p, roundUp(std::max<uint64_t>(bytes, 1), kPage));
}

}  // namespace

const char* name(FaultKind kind) {
  switch (kind) {
    case FaultKind::Unsupported: return "unsupported";
    case FaultKind::OutOfBounds: return "out-of-bounds";
    case FaultKind::Misaligned: return "misaligned";
    case FaultKind::ReadOnly: return "read-only";
    case FaultKind::Uninitialised: return "uninitialised";
    case FaultKind::Race: return "race";
    case FaultKind::DivisionByZero: return "division-by-zero";
    case FaultKind::Deadlock: return "deadlock";
    case FaultKind::StepLimit: return "step-limit";
    case FaultKind::Trap: return "trap";
    case FaultKind::Assertion: return "assertion";
    case FaultKind::BadBranch: return "bad-branch";
    case FaultKind::StackOverflow: return "stack-overflow";
    case FaultKind::BadLaunch: return "bad-launch";
  }
  return "?";
}

GlobalMemory::~GlobalMemory() {
  for (Allocation& a : allocations_) {
    if (!a.isForeign) unmapPages(a.data, a.reserved);
    unmapPages(a.written, a.reserved);
  }
}

Allocation& GlobalMemory::allocate(std::string name, uint64_t size, uint64_t reserve, uint64_t alignment) {
  Allocation& a = allocations_.emplace_back();
  a.name = std::move(name);
  a.size = size;
  a.reserved = std::max(reserve, size);
  a.grows = reserve > size;
  a.base = next_ = roundUp(next_, std::max<uint64_t>(alignment, 512));
  next_ += roundUp(a.reserved, kPage) + kGap;
  a.data = mapPages(a.reserved);
  if (trackWrites_) a.written = mapPages(a.reserved);
  return a;
}

Allocation& GlobalMemory::attach(std::string name, uint64_t base, std::span<std::byte> data) {
  if (base < next_ || base % 512 != 0) throw std::invalid_argument("the address is taken, or not aligned");
  Allocation& a = allocations_.emplace_back();
  a.name = std::move(name);
  a.size = a.reserved = data.size();
  a.isForeign = true;
  a.base = next_ = base;
  next_ += roundUp(a.reserved, kPage) + kGap;
  a.data = data.data();
  if (trackWrites_) {
    a.written = mapPages(a.reserved);
    std::memset(a.written, 1, a.size);
  }
  return a;
}

void GlobalMemory::release(Allocation& a) {
  if (!a.isForeign) unmapPages(a.data, a.reserved);
  unmapPages(a.written, a.reserved);
  a.data = a.written = nullptr;
  a.size = a.reserved = 0;
  a.grows = false;
  // What was allocated last gives its addresses back, so that they do not depend on what there was before.
  while (!allocations_.empty() && allocations_.back().data == nullptr) {
    next_ = allocations_.back().base;
    allocations_.pop_back();
  }
}

void GlobalMemory::trackWrites() {
  if (trackWrites_) return;
  trackWrites_ = true;
  for (Allocation& a : allocations_) {
    if (a.data == nullptr) continue;
    a.written = mapPages(a.reserved);
    std::memset(a.written, 1, a.size);
  }
}

Allocation* GlobalMemory::find(uint64_t address) {
  const auto after = std::upper_bound(allocations_.begin(), allocations_.end(), address,
                                      [](uint64_t x, const Allocation& a) { return x < a.base; });
  if (after == allocations_.begin()) return nullptr;
  Allocation& a = *std::prev(after);
  return address - a.base < a.reserved ? &a : nullptr;
}

const Allocation* GlobalMemory::below(uint64_t address) const {
  const auto after = std::upper_bound(allocations_.begin(), allocations_.end(), address,
                                      [](uint64_t x, const Allocation& a) { return x < a.base; });
  return after == allocations_.begin() ? nullptr : &*std::prev(after);
}

}  // namespace ptxopt::exec
