// operator new and delete of the programs: a block of up to 32 KB that is freed waits for the next of its size.
//
// A file of 100 kB takes some ten thousand small blocks, most of them again and again. glibc keeps seven of a size at
// hand, and joins and splits all others; mimalloc takes fewer instructions than glibc, and no less time. Here each
// thread has a list for each size, and nothing is joined. Sizes of up to 1032 bytes are rounded up to those that glibc has
// anyway; above that there are eight to each power of two. All memory is malloc's: what is freed without its size goes
// back there, as does a larger block, and one that finds its list full.
// This suits a program that ends soon, as support/heap.h does. It is in programs, never in a library
// (cmake/static_runtime.cmake).
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace ptxopt::tool {
namespace {

struct FreeBlock {
  FreeBlock* next;
};
struct FreeList {
  FreeBlock* first;
  uint32_t size;
};

constexpr std::size_t kLargestSmall = 1032, kLargestKept = (std::size_t{32} << 10) + 8;  // bytes
constexpr uint32_t kLongestList = 4096, kLongestOfLarge = 16;
// In units of 16 bytes; 8 bytes of the first are malloc's.
constexpr std::size_t unitsOf(std::size_t bytes) { return (bytes + 7) / 16; }
constexpr std::size_t bytesOf(std::size_t units) { return 16 * units + 8; }
constexpr std::size_t kSmallClasses = unitsOf(kLargestSmall) + 1;

// The list of a block of more than kLargestSmall bytes, and the units that all blocks of the list have.
struct LargeClass {
  std::size_t list, units;
};
constexpr LargeClass largeClassOf(std::size_t bytes) {
  const std::size_t before = unitsOf(bytes) - 1;  // of 64 units or more: eight classes from 2^k units to 2^(k+1)
  const auto shift = static_cast<std::size_t>(std::bit_width(before)) - 4;
  const std::size_t eighth = before >> shift;  // 8 to 15
  return {kSmallClasses + (shift - 3) * 8 + (eighth - 8), (eighth + 1) << shift};
}
static_assert(largeClassOf(kLargestSmall + 1).list == kSmallClasses);
constinit thread_local std::array<FreeList, largeClassOf(kLargestKept).list + 1> freeLists{};

// Gives back what the lists of a thread hold when it ends. Those of the main thread go with the process.
struct ListsOfThread {
  ~ListsOfThread() {
    for (FreeList& list : freeLists) {
      while (FreeBlock* const block = list.first) {
        list.first = block->next;
        std::free(block);
      }
      list.size = kLongestList;  // what is freed from now on goes to malloc
    }
  }
};

// Out of line: most requests end before.
[[gnu::noinline]] void* allocateBlock(std::size_t bytes) {
  static std::atomic<bool> hasMain = false;
  thread_local bool isKnown = false;
  if (!isKnown) {
    isKnown = true;
    if (hasMain.exchange(true)) {
      [[maybe_unused]] static thread_local ListsOfThread lists;
    }
  }
  for (;;) {
    if (void* const block = std::malloc(bytes)) return block;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

inline void* takeFrom(FreeList& list, std::size_t units) {
  FreeBlock* const block = list.first;
  if (block == nullptr) return allocateBlock(bytesOf(units));
  list.first = block->next;
  --list.size;
  return block;
}

inline void keepIn(FreeList& list, void* block, uint32_t longest) {
  if (block == nullptr || list.size >= longest) return std::free(block);
  auto* const first = static_cast<FreeBlock*>(block);
  first->next = list.first;
  list.first = first;
  ++list.size;
}

[[gnu::noinline]] void* takeLarge(std::size_t bytes) {
  if (bytes > kLargestKept) return allocateBlock(bytes);
  const LargeClass its = largeClassOf(bytes);
  return takeFrom(freeLists[its.list], its.units);
}

[[gnu::noinline]] void keepLarge(void* block, std::size_t bytes) {
  if (bytes > kLargestKept) return std::free(block);
  keepIn(freeLists[largeClassOf(bytes).list], block, kLongestOfLarge);
}

inline void* takeBlock(std::size_t bytes) {
  if (bytes > kLargestSmall) return takeLarge(bytes);
  const std::size_t units = unitsOf(bytes);
  return takeFrom(freeLists[units], units);
}

inline void keepBlock(void* block, std::size_t bytes) {
  if (bytes > kLargestSmall) return keepLarge(block, bytes);
  keepIn(freeLists[unitsOf(bytes)], block, kLongestList);
}

}  // namespace
}  // namespace ptxopt::tool

void* operator new(std::size_t bytes) { return ptxopt::tool::takeBlock(bytes); }
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t bytes) noexcept { ptxopt::tool::keepBlock(block, bytes); }
