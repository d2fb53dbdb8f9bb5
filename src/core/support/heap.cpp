// mallopt() moves glibc's thresholds, then one block of 16 bytes for each byte of text is taken, advised to be large
// pages, and freed, so that later blocks come from it.
#include "support/heap.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace ptxopt {
namespace {

constexpr std::size_t kLeastText = std::size_t{128} << 10, kMostText = std::size_t{16} << 20;
constexpr std::size_t kLargePage = std::size_t{2} << 20;
// What is touched for each byte of a text is 5 bytes in large modules and up to 18 in small ones.
constexpr std::size_t kBytesPerByte = 16;
constexpr std::size_t kMostBlock = std::size_t{32} << 20;  // glibc does not take blocks above that from the heap

constexpr const char* kSettings[] = {"GLIBC_TUNABLES", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_",
                                     "MALLOC_TOP_PAD_"};

bool isLimited(decltype(RLIMIT_AS) what) {
  rlimit limit{};
  return ::getrlimit(what, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY;
}

}  // namespace

bool mayShapeHeap() {
  return !isLimited(RLIMIT_AS) && !isLimited(RLIMIT_DATA) &&
         std::ranges::none_of(kSettings, [](const char* name) { return std::getenv(name) != nullptr; });
}

void prepareHeap(std::size_t textBytes) {
#ifdef __GLIBC__
  if (textBytes < kLeastText || textBytes > kMostText || !mayShapeHeap()) return;
  if (mallopt(M_MMAP_THRESHOLD, static_cast<int>(kMostBlock)) == 0) return;
  mallopt(M_TRIM_THRESHOLD, static_cast<int>(8 * kMostBlock));
  mallopt(M_TOP_PAD, static_cast<int>(kLargePage));
  const std::size_t room = std::min(textBytes * kBytesPerByte, kMostBlock - kLargePage);
  void* const block = std::malloc(room);
  if (block == nullptr) return;
  const auto start = (reinterpret_cast<std::uintptr_t>(block) + kLargePage - 1) & ~(kLargePage - 1);
  const auto end = (reinterpret_cast<std::uintptr_t>(block) + room) & ~(kLargePage - 1);
  if (start < end) ::madvise(reinterpret_cast<void*>(start), end - start, MADV_HUGEPAGE);
  std::free(block);
#else
  (void)textBytes;
#endif
}

void prepareHeap(std::span<const std::string> paths) {
  std::size_t all = 0;
  for (const std::string& path : paths) {
    std::error_code failed;
    if (!std::filesystem::is_regular_file(path, failed)) continue;
    if (const auto size = std::filesystem::file_size(path, failed); !failed) all += size;
  }
  prepareHeap(all);
}

}  // namespace ptxopt
