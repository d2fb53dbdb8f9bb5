#include "ptxas/large_pages.h"

#include <sys/resource.h>

#include <cstdlib>

namespace ptxopt {
namespace {

constexpr const char* kVariable = "GLIBC_TUNABLES";
// The heap grows by 32 MiB, of which only what is touched is there, and holds blocks of up to that size, too.
constexpr const char* kTunables =
    "glibc.malloc.hugetlb=1:glibc.malloc.top_pad=33554432:glibc.malloc.mmap_threshold=33554432";

bool isLimited(decltype(RLIMIT_AS) what) {
  rlimit limit{};
  return ::getrlimit(what, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY;
}

bool mayUse() { return std::getenv(kVariable) == nullptr && !isLimited(RLIMIT_AS) && !isLimited(RLIMIT_DATA); }

}  // namespace

std::string largePagesForPtxas() { return mayUse() ? std::string(kVariable) + '=' + kTunables : std::string(); }

void useLargePagesForPtxas() {
  if (mayUse()) ::setenv(kVariable, kTunables, 0);
}

}  // namespace ptxopt
