// The comparisons of setp and set on f16, bf16, f32 and f64, given as bit patterns.
//
// eq ne lt le gt ge are false when an operand is NaN (ne too); equ neu ltu leu gtu geu are true then; num and nan
// tell whether both are numbers, or one is not. -0 equals +0. Flush the operands first for .ftz (Format::flush).
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "exec/value/float_format.h"
#include "exec/value/half.h"

namespace ptxopt::exec {

enum class FloatComparison : uint8_t { Eq, Ne, Lt, Le, Gt, Ge, Equ, Neu, Ltu, Leu, Gtu, Geu, Num, Nan };

template <class Format, FloatComparison kComparison>
inline bool compareFloat(typename Format::Word aBits, typename Format::Word bBits) {
  // As the host's numbers: f16 and bf16 are widened, which keeps the order.
  auto value = [](typename Format::Word x) {
    if constexpr (std::is_same_v<Format, F64>) {
      return std::bit_cast<double>(x);
    } else if constexpr (std::is_same_v<Format, F32>) {
      return std::bit_cast<float>(x);
    } else {
      return widen<Format>(x);
    }
  };
  const auto a = value(aBits), b = value(bBits);
  switch (kComparison) {
    case FloatComparison::Eq: return a == b;
    case FloatComparison::Ne: return a < b || a > b;
    case FloatComparison::Lt: return a < b;
    case FloatComparison::Le: return a <= b;
    case FloatComparison::Gt: return a > b;
    case FloatComparison::Ge: return a >= b;
    case FloatComparison::Equ: return !(a < b || a > b);
    case FloatComparison::Neu: return a != b;
    case FloatComparison::Ltu: return !(a >= b);
    case FloatComparison::Leu: return !(a > b);
    case FloatComparison::Gtu: return !(a <= b);
    case FloatComparison::Geu: return !(a < b);
    case FloatComparison::Num: return !(a != a || b != b);
    case FloatComparison::Nan: return a != a || b != b;
  }
  return false;
}

// Calls `use` with the comparison as a compile-time constant, so that a loop over lanes is compiled for each.
template <class Use>
inline decltype(auto) withComparison(FloatComparison comparison, Use&& use) {
  using C = FloatComparison;
  switch (comparison) {
    case C::Eq: return use(std::integral_constant<C, C::Eq>());
    case C::Ne: return use(std::integral_constant<C, C::Ne>());
    case C::Lt: return use(std::integral_constant<C, C::Lt>());
    case C::Le: return use(std::integral_constant<C, C::Le>());
    case C::Gt: return use(std::integral_constant<C, C::Gt>());
    case C::Ge: return use(std::integral_constant<C, C::Ge>());
    case C::Equ: return use(std::integral_constant<C, C::Equ>());
    case C::Neu: return use(std::integral_constant<C, C::Neu>());
    case C::Ltu: return use(std::integral_constant<C, C::Ltu>());
    case C::Leu: return use(std::integral_constant<C, C::Leu>());
    case C::Gtu: return use(std::integral_constant<C, C::Gtu>());
    case C::Geu: return use(std::integral_constant<C, C::Geu>());
    case C::Num: return use(std::integral_constant<C, C::Num>());
    case C::Nan: break;
  }
  return use(std::integral_constant<C, C::Nan>());
}

template <class Format>
inline bool compareFloat(FloatComparison comparison, typename Format::Word a, typename Format::Word b) {
  return withComparison(comparison, [&](auto c) { return compareFloat<Format, decltype(c)::value>(a, b); });
}

}  // namespace ptxopt::exec
