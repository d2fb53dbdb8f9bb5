// Strong 32-bit ids: the index of something in a dense vector, never mixed up with the index of something else.
#pragma once

#include <cstdint>
#include <functional>

namespace ptxopt {

template <typename Tag>
struct Id {
  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t value = kNone;

  constexpr Id() = default;
  constexpr explicit Id(uint32_t v) : value(v) {}
  constexpr explicit Id(std::size_t v) : value(static_cast<uint32_t>(v)) {}
  constexpr bool valid() const { return value != kNone; }
  friend constexpr auto operator<=>(Id, Id) = default;
};

}  // namespace ptxopt
