#include "ptxas/large_pages.h"

#include <cstdlib>

#include "support/heap.h"

namespace ptxopt::ptxas {
namespace {

constexpr const char* kVariable = "GLIBC_TUNABLES";
// The heap grows by 32 MiB; only what is touched of it is there. It holds blocks of up to that size, too.
constexpr const char* kTunables =
    "glibc.malloc.hugetlb=1:glibc.malloc.top_pad=33554432:glibc.malloc.mmap_threshold=33554432";

}  // namespace

std::string largePagesForPtxas() {
  return mayShapeHeap() ? std::string(kVariable) + '=' + kTunables : std::string();
}

void useLargePagesForPtxas() {
  if (mayShapeHeap()) ::setenv(kVariable, kTunables, 0);
}

}  // namespace ptxopt::ptxas
