// The bitwise functions of two values, for the logic instructions and the atomic ones.
#pragma once

namespace ptxopt::exec {

template <typename T>
constexpr T bitAnd(T a, T b) {
  return a & b;
}
template <typename T>
constexpr T bitOr(T a, T b) {
  return a | b;
}
template <typename T>
constexpr T bitXor(T a, T b) {
  return a ^ b;
}

}  // namespace ptxopt::exec
