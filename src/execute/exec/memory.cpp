// Allocations are kept in a map by address. New ones go past the last, or past all that ever were where released
// addresses are not to be used again, and past what is attached there.
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
constexpr uint64_t kFar = uint64_t{1} << 36;  // an address from here on has nothing to do with an allocation
constexpr uint64_t kLastAllocation = 0x0000'7E00'0000'0000;  // what programs have of their own lies above

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

MappedPages::MappedPages(uint64_t bytes) : data_(mapPages(bytes)), bytes_(bytes) {}
MappedPages::~MappedPages() { unmapPages(data_, bytes_); }

const char* name(FaultKind kind) {
  switch (kind) {
    case FaultKind::Unsupported: return "unsupported";
    case FaultKind::NoMemory: return "no-memory";
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
  while (!allocations_.empty()) release(allocations_.begin()->second);
}

bool GlobalMemory::isFree(uint64_t base, uint64_t bytes) const {
  const auto after = allocations_.lower_bound(base);
  if (after != allocations_.end() && after->first - base < std::max<uint64_t>(bytes, 1)) return false;
  if (after == allocations_.begin()) return true;
  const Allocation& before = std::prev(after)->second;
  return base - before.base >= std::max<uint64_t>(before.reserved, 1);
}

uint64_t GlobalMemory::nextAddress() const {
  if (keepsReleased_ && past_ < kLastAllocation) return past_;
  for (auto a = allocations_.rbegin(); a != allocations_.rend(); ++a)
    if (!a->second.isForeign) return a->first + roundUp(a->second.reserved, kPage) + kGap;
  return kFirstAllocation;
}

Allocation& GlobalMemory::add(std::string name, uint64_t base, uint64_t size, uint64_t reserve) {
  Allocation& a = allocations_[base];
  a.name = std::move(name);
  a.base = base;
  a.size = size;
  a.reserved = std::max(reserve, size);
  a.grows = reserve > size;
  if (trackWrites_) a.written = mapPages(a.reserved);
  return a;
}

// At an address that we choose.
Allocation& GlobalMemory::addNext(std::string name, uint64_t size, uint64_t reserve, uint64_t alignment) {
  alignment = std::max<uint64_t>(alignment, 512);
  uint64_t base = roundUp(nextAddress(), alignment);
  // Past what was attached there.
  while (!isFree(base, std::max(size, reserve))) base += roundUp(kGap, alignment);
  Allocation& a = add(std::move(name), base, size, reserve);
  past_ = std::max(past_, base + roundUp(a.reserved, kPage) + kGap);
  return a;
}

Allocation& GlobalMemory::allocate(std::string name, uint64_t size, uint64_t reserve, uint64_t alignment) {
  Allocation& a = addNext(std::move(name), size, reserve, alignment);
  a.data = mapPages(a.reserved);
  return a;
}

Allocation& GlobalMemory::reserve(std::string name, uint64_t size, uint64_t alignment) {
  return addNext(std::move(name), size, 0, alignment);
}

Allocation& GlobalMemory::attach(std::string name, uint64_t base, std::span<std::byte> data) {
  if (!isFree(base, data.size())) throw std::invalid_argument("the address is taken");
  Allocation& a = add(std::move(name), base, data.size(), 0);
  a.isForeign = true;
  a.data = data.data();
  if (a.written != nullptr) std::memset(a.written, 1, a.size);
  return a;
}

void GlobalMemory::release(Allocation& a) {
  if (!a.isForeign) unmapPages(a.data, a.reserved);
  unmapPages(a.written, a.reserved);
  const uint64_t base = a.base;
  allocations_.erase(base);
}

void GlobalMemory::trackWrites() {
  if (trackWrites_) return;
  trackWrites_ = true;
  for (auto& [base, a] : allocations_) {
    a.written = mapPages(a.reserved);
    std::memset(a.written, 1, a.size);
  }
}

Allocation* GlobalMemory::find(uint64_t address) {
  const auto after = allocations_.upper_bound(address);
  if (after == allocations_.begin()) return nullptr;
  Allocation& a = std::prev(after)->second;
  return address - a.base < a.reserved ? &a : nullptr;
}

const Allocation* GlobalMemory::nearest(uint64_t address) const {
  const Allocation* nearest = nullptr;
  uint64_t least = kFar;
  for (const auto& [base, a] : allocations_) {
    const uint64_t distance = address < base            ? base - address
                              : address - base < a.size ? 0
                                                        : address - base - a.size;
    if (a.size == 0 || distance >= least) continue;
    least = distance;
    nearest = &a;
  }
  return nearest;
}

}  // namespace ptxopt::exec
