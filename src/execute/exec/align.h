// Rounding up: sizes, offsets, and pointers to where 64 bytes begin, as rows of lanes do.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ptxopt::exec {

constexpr uint64_t roundUp(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

inline std::byte* align64(std::byte* p) {
  const auto raw = reinterpret_cast<uintptr_t>(p);
  return p + (roundUp(raw, 64) - raw);
}

}  // namespace ptxopt::exec
