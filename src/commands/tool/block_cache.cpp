// operator new and delete of the programs: a block of up to 1032 bytes that is freed waits for the next of its size.
//
// A file of 100 kB takes some ten thousand small blocks, most of them again and again. glibc keeps seven of a size at
// hand, and joins and splits all others; mimalloc takes fewer instructions than glibc, and no less time. Here each
// thread has a list for each size, and nothing is joined. Sizes are rounded up to those that glibc has anyway. All
// memory is malloc's: what is freed without its size goes back there, as does a larger block, and one that finds its
// list full.
// This suits a program that ends soon, as support/heap.h does. It is in programs, never in a library
// (cmake/static_runtime.cmake).
#include <array>
#include <atomic>
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

constexpr std::size_t kLargestKept = 1032;  // bytes
constexpr uint32_t kLongestList = 4096;
constexpr std::size_t classOf(std::size_t bytes) { return (bytes + 7) / 16; }
constexpr std::size_t bytesOf(std::size_t blockClass) { return 16 * blockClass + 8; }
constinit thread_local std::array<FreeList, classOf(kLargestKept) + 1> freeLists{};

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

inline void* takeBlock(std::size_t bytes) {
  if (bytes > kLargestKept) return allocateBlock(bytes);
  const std::size_t k = classOf(bytes);
  FreeList& list = freeLists[k];
  FreeBlock* const block = list.first;
  if (block == nullptr) return allocateBlock(bytesOf(k));
  list.first = block->next;
  --list.size;
  return block;
}

inline void keepBlock(void* block, std::size_t bytes) {
  if (bytes > kLargestKept) return std::free(block);
  FreeList& list = freeLists[classOf(bytes)];
  if (block == nullptr || list.size >= kLongestList) return std::free(block);
  auto* const first = static_cast<FreeBlock*>(block);
  first->next = list.first;
  list.first = first;
  ++list.size;
}

}  // namespace
}  // namespace ptxopt::tool

void* operator new(std::size_t bytes) { return ptxopt::tool::takeBlock(bytes); }
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t bytes) noexcept { ptxopt::tool::keepBlock(block, bytes); }
