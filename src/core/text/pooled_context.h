// The base of the parser's rule contexts: ANTLR makes one for each rule call. They are small, of few sizes, and
// freed in batches, so free lists of the thread reuse their memory.
#pragma once

#include <antlr4-runtime.h>

#include <array>
#include <cstddef>
#include <new>

namespace ptxopt::text {

class PooledContext : public antlr4::ParserRuleContext {
 public:
  using antlr4::ParserRuleContext::ParserRuleContext;

  static void* operator new(std::size_t size) {
    const std::size_t bin = size / kStep;
    if (bin >= kBins) return ::operator new(size);
    FreeLists& lists = freeLists();
    if (Free* block = lists.heads[bin]) {
      lists.heads[bin] = block->next;
      return block;
    }
    return ::operator new((bin + 1) * kStep);
  }
  static void operator delete(void* memory, std::size_t size) {
    const std::size_t bin = size / kStep;
    if (bin >= kBins) return ::operator delete(memory);
    FreeLists& lists = freeLists();
    lists.heads[bin] = new (memory) Free{lists.heads[bin]};
  }

 private:
  static constexpr std::size_t kStep = 32, kBins = 16;
  struct Free {
    Free* next;
  };
  struct FreeLists {
    std::array<Free*, kBins> heads{};
    ~FreeLists() {
      for (Free* block : heads)
        while (block != nullptr) ::operator delete(std::exchange(block, block->next));
    }
  };
  static FreeLists& freeLists() {
    thread_local FreeLists lists;
    return lists;
  }
};

}  // namespace ptxopt::text
