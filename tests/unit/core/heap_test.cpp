// The heap of a program: where large blocks come from before and after. In child processes, as the setting is one of the process.
#include "support/heap.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <span>
#include <string>

#include "sampled.h"
#include "support/temporary_folder.h"

#if defined(__GLIBC__)
#include <malloc.h>

using namespace ptxopt;

namespace {

// A sanitizer has a heap of its own, which knows no such limit.
const doctest::skip kOfTheLibrary(ptxopt::testing::isSanitized());

constexpr std::size_t kText = std::size_t{1} << 20;

// Whether blocks of 24 MiB are asked of the system apart from the heap, after `prepare` ran. Several, as other tests may have left
// room for some in the heap; and they may have raised the limit from which on blocks stand apart.
bool isMapped(const std::function<void()>& prepare) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    mallopt(M_MMAP_THRESHOLD, 128 << 10);
    prepare();
    const std::size_t before = mallinfo2().hblks;
    for (int k = 0; k < 8; ++k) {
      void* volatile block = std::malloc(std::size_t{24} << 20);
      if (block == nullptr) ::_exit(2);
    }
    ::_exit(mallinfo2().hblks > before ? 1 : 0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  REQUIRE(WEXITSTATUS(status) < 2);
  return WEXITSTATUS(status) == 1;
}

void limit(decltype(RLIMIT_AS) what) {
  rlimit most{};
  ::getrlimit(what, &most);
  most.rlim_cur = rlim_t{64} << 30;
  ::setrlimit(what, &most);
}

}  // namespace

TEST_CASE("the heap of a program holds large blocks after it was prepared" * kOfTheLibrary) {
  CHECK(isMapped([] {}));
  CHECK_FALSE(isMapped([] { prepareHeap(kText); }));
  CHECK_FALSE(isMapped([] {
    prepareHeap(kText);
    prepareHeap(kText);
  }));
}

TEST_CASE("the heap stays as it is for small and very large texts" * kOfTheLibrary) {
  CHECK(isMapped([] { prepareHeap(std::size_t{1} << 10); }));
  CHECK(isMapped([] { prepareHeap(std::size_t{1} << 30); }));
}

TEST_CASE("the heap stays as it is where others have set it" * kOfTheLibrary) {
  CHECK(isMapped([] {
    limit(RLIMIT_AS);
    prepareHeap(kText);
  }));
  CHECK(isMapped([] {
    limit(RLIMIT_DATA);
    prepareHeap(kText);
  }));
  for (const char* name : {"GLIBC_TUNABLES", "MALLOC_TOP_PAD_", "MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"})
    CHECK(isMapped([name] {
      ::setenv(name, "", 1);
      prepareHeap(kText);
    }));
}

TEST_CASE("the heap is prepared for the sum of files, of which others than regular ones do not count" *
          kOfTheLibrary) {
  const TemporaryFolder folder;
  const std::string half = folder.file("half");
  REQUIRE(std::ofstream(half).good());
  std::filesystem::resize_file(half, 100 << 10);
  const std::string paths[] = {"/dev/null", "no such file", half, half};
  CHECK_FALSE(isMapped([&] { prepareHeap(paths); }));
  CHECK(isMapped([&] { prepareHeap(std::span(paths).first(3)); }));
}
#endif
