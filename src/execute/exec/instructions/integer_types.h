// From PTX's integer and bit types to C++'s: what the binders of integer instructions share.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string_view>
#include <type_traits>

#include "exec/binder.h"
#include "exec/instructions/bitwise.h"
#include "support/int128.h"

namespace ptxopt::exec {

__extension__ using Int128 = __int128;

template <typename T>
struct TypeTag {
  using Type = T;
};

// A type that can hold the product of two T; of T's signedness.
template <typename T>
struct Widened;
template <>
struct Widened<uint16_t> : TypeTag<uint32_t> {};
template <>
struct Widened<int16_t> : TypeTag<int32_t> {};
template <>
struct Widened<uint32_t> : TypeTag<uint64_t> {};
template <>
struct Widened<int32_t> : TypeTag<int64_t> {};
template <>
struct Widened<uint64_t> : TypeTag<UInt128> {};
template <>
struct Widened<int64_t> : TypeTag<Int128> {};
template <typename T>
using Wide = typename Widened<T>::Type;

// The modifier that says what an arithmetic opcode works on is a floating-point type.
inline bool hasFloatType(const Binder& b) {
  for (const std::string_view type : {"f32", "f64", "f16", "f16x2", "bf16", "bf16x2", "f32x2"})
    if (b.has(type)) return true;
  return false;
}

// Takes the type, which must be one of these.
inline ScalarType takeTypeOf(Binder& b, std::initializer_list<ScalarType> allowed) {
  const ScalarType type = b.takeType();
  for (const ScalarType t : allowed)
    if (t == type) return type;
  b.unsupported(type == ScalarType::None ? "it has no type"
                                         : "type ." + std::string(info(type).name) + " is not supported here");
}

// f(TypeTag<T>) for the C++ type T that computes with `type`; bit types are unsigned.
template <typename F>
Handler forInteger(Binder& b, ScalarType type, F&& f) {
  switch (type) {
    case ScalarType::b16:
    case ScalarType::u16: return f(TypeTag<uint16_t>{});
    case ScalarType::s16: return f(TypeTag<int16_t>{});
    case ScalarType::b32:
    case ScalarType::u32: return f(TypeTag<uint32_t>{});
    case ScalarType::s32: return f(TypeTag<int32_t>{});
    case ScalarType::b64:
    case ScalarType::u64: return f(TypeTag<uint64_t>{});
    case ScalarType::s64: return f(TypeTag<int64_t>{});
    default: b.unsupported("no integer type");
  }
}

// The same where the sign does not matter.
template <typename F>
Handler forUnsigned(Binder& b, ScalarType type, F&& f) {
  switch (info(type).bits) {
    case 16: return f(TypeTag<uint16_t>{});
    case 32: return f(TypeTag<uint32_t>{});
    case 64: return f(TypeTag<uint64_t>{});
    default: b.unsupported("no type of 16, 32 or 64 bits");
  }
}

inline ScalarType takeInteger(Binder& b) {
  using enum ScalarType;
  return takeTypeOf(b, {u16, s16, u32, s32, u64, s64});
}

// Operands 1.. as sources of `type`, after the destination.
inline void bindUniform(Binder& b, ScalarType type, std::size_t sources) {
  b.dest(0, type);
  for (std::size_t i = 1; i <= sources; ++i) b.source(i, type);
}

// Two 16-bit halves of a 32-bit value, each through f.
template <typename T, typename F>
constexpr uint32_t eachHalf(uint32_t a, uint32_t b, F f) {
  const auto low = static_cast<uint16_t>(f(static_cast<T>(a), static_cast<T>(b)));
  const auto high = static_cast<uint16_t>(f(static_cast<T>(a >> 16), static_cast<T>(b >> 16)));
  return static_cast<uint32_t>(low) | static_cast<uint32_t>(high) << 16;
}

// Brings a value into the range of T.
template <typename T, typename W>
constexpr T saturate(W value) {
  constexpr W kLow = std::numeric_limits<T>::min(), kHigh = std::numeric_limits<T>::max();
  return static_cast<T>(value < kLow ? kLow : value > kHigh ? kHigh : value);
}

}  // namespace ptxopt::exec
