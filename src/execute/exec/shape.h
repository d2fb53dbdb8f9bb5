// Shapes of grids, and positions in them.
#pragma once

#include <cstdint>
#include <string>

namespace ptxopt::exec {

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t{x} * y * z; }
  friend bool operator==(const Dim3&, const Dim3&) = default;
};

// The position with number `index` in a shape, x fastest.
inline Dim3 positionIn(const Dim3& shape, uint64_t index) {
  return {static_cast<uint32_t>(index % shape.x), static_cast<uint32_t>(index / shape.x % shape.y),
          static_cast<uint32_t>(index / shape.x / shape.y)};
}

// "(1,0,0)"
std::string toString(const Dim3& d);

}  // namespace ptxopt::exec
