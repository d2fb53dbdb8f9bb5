// Integer products: mul, mad, mul24, mad24, dp2a, dp4a.
//
// Meaning from the PTX ISA's chapter on integer arithmetic. A product of N-bit factors has 2N bits; .lo and .hi
// take a half of it, .wide all, and mad adds to that, wrapping, or saturating with mad.hi.sat.s32 and
// mad24.hi.sat.s32. The 24-bit forms multiply the low 24 bits and see a product of 48: .lo takes its low 32 bits,
// .hi its high 32. Declines what ptxas does. Floating-point types go to float.h's binders, .cc to carry.h's.
#include "exec/binder.h"
#include "exec/instructions/carry.h"
#include "exec/instructions/float.h"
#include "exec/instructions/integer_types.h"
#include "exec/lanes.h"

namespace ptxopt::exec {

namespace {

using enum ScalarType;

template <typename T>
constexpr T lowProduct(T a, T b) {
  return static_cast<T>(uint64_t{a} * uint64_t{b});  // of unsigned types
}
template <typename T>
constexpr T highProduct(T a, T b) {
  return static_cast<T>((static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b)) >> (8 * sizeof(T)));
}
template <typename T>
constexpr Wide<T> wideProduct(T a, T b) {
  return static_cast<Wide<T>>(static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b));
}

template <typename T>
constexpr T lowProductSum(T a, T b, T c) {
  return static_cast<T>(lowProduct(a, b) + c);
}
template <typename T>
constexpr T highProductSum(T a, T b, T c) {
  using U = std::make_unsigned_t<T>;
  return static_cast<T>(static_cast<U>(static_cast<U>(highProduct(a, b)) + static_cast<U>(c)));
}
template <typename T>
constexpr Wide<T> wideProductSum(T a, T b, Wide<T> c) {
  using U = std::make_unsigned_t<Wide<T>>;
  return static_cast<Wide<T>>(static_cast<U>(wideProduct(a, b)) + static_cast<U>(c));
}
constexpr int32_t highProductSaturatedSum(int32_t a, int32_t b, int32_t c) {
  return saturate<int32_t>(int64_t{highProduct(a, b)} + c);
}

// The product of the low 24 bits.
template <typename T>
constexpr int64_t product24(T a, T b) {
  if constexpr (std::is_signed_v<T>)
    return int64_t{static_cast<int32_t>(static_cast<uint32_t>(a) << 8) >> 8} *
           (static_cast<int32_t>(static_cast<uint32_t>(b) << 8) >> 8);
  else
    return static_cast<int64_t>(uint64_t{a & 0xFFFFFF} * (b & 0xFFFFFF));
}
template <typename T>
constexpr uint32_t low24(T a, T b) {
  return static_cast<uint32_t>(product24(a, b));
}
template <typename T>
constexpr uint32_t high24(T a, T b) {
  return static_cast<uint32_t>(product24(a, b) >> 16);
}
template <typename T>
constexpr uint32_t low24Sum(T a, T b, uint32_t c) {
  return low24(a, b) + c;
}
template <typename T>
constexpr uint32_t high24Sum(T a, T b, uint32_t c) {
  return high24(a, b) + c;
}
constexpr int32_t high24SaturatedSum(int32_t a, int32_t b, int32_t c) {
  return saturate<int32_t>(int64_t{static_cast<int32_t>(high24(a, b))} + c);
}

// Sums of products of parts: bytes of both, or 16-bit halves of a with the low or high pair of bytes of b.
template <typename A, typename B>
constexpr uint32_t dotOfBytes(uint32_t a, uint32_t b, uint32_t c) {
  for (unsigned shift = 0; shift < 32; shift += 8)
    c += static_cast<uint32_t>(static_cast<A>(a >> shift) * static_cast<B>(b >> shift));
  return c;
}
template <typename A, typename B, bool kHigh>
constexpr uint32_t dotOfHalves(uint32_t a, uint32_t b, uint32_t c) {
  if (kHigh) b >>= 16;
  c += static_cast<uint32_t>(static_cast<A>(a) * static_cast<B>(b));
  return c + static_cast<uint32_t>(static_cast<A>(a >> 16) * static_cast<B>(b >> 8));
}

ScalarType wider(ScalarType type) {
  switch (type) {
    case u16: return u32;
    case s16: return s32;
    case u32: return u64;
    default: return s64;
  }
}

// f(signedness of a, signedness of b) as C++ types of these widths.
template <typename F>
Handler forSigns(ScalarType a, ScalarType b, F&& f) {
  const bool signedA = a == s32, signedB = b == s32;
  if (signedA)
    return signedB ? f(TypeTag<int32_t>{}, TypeTag<int32_t>{}) : f(TypeTag<int32_t>{}, TypeTag<uint32_t>{});
  return signedB ? f(TypeTag<uint32_t>{}, TypeTag<int32_t>{}) : f(TypeTag<uint32_t>{}, TypeTag<uint32_t>{});
}

template <typename T, typename OfSign>
using WithSignOf = std::conditional_t<std::is_signed_v<OfSign>, std::make_signed_t<T>, T>;

void bindDot(Binder& b, ScalarType a, ScalarType second) {
  b.dest(0, b32);
  b.source(1, a);
  b.source(2, second);
  b.source(3, b32);
}

}  // namespace

void bindMul(Binder& b) {
  if (hasFloatType(b)) return bindFloatMul(b);
  const std::string_view part = b.takeOneOf({"lo", "hi", "wide"});
  if (part == "wide") {
    const ScalarType type = takeTypeOf(b, {u16, s16, u32, s32});
    b.dest(0, wider(type));
    b.source(1, type);
    b.source(2, type);
    return b.handler(forInteger(b, type, []<typename T>(TypeTag<T>) -> Handler {
      if constexpr (sizeof(T) == 8)
        return nullptr;
      else
        return binary<Wide<T>, T, T, wideProduct<T>>;
    }));
  }
  const ScalarType type = takeInteger(b);
  bindUniform(b, type, 2);
  if (part == "lo")
    b.handler(
        forUnsigned(b, type, []<typename T>(TypeTag<T>) -> Handler { return binary<T, T, T, lowProduct<T>>; }));
  else if (part == "hi")
    b.handler(
        forInteger(b, type, []<typename T>(TypeTag<T>) -> Handler { return binary<T, T, T, highProduct<T>>; }));
  else
    b.unsupported("it needs .lo, .hi or .wide");
}

void bindMad(Binder& b) {
  if (hasFloatType(b)) return bindFloatMad(b);
  if (b.has("cc")) return bindMadWithCarryOut(b);
  const std::string_view part = b.takeOneOf({"lo", "hi", "wide"});
  if (part == "wide") {
    const ScalarType type = takeTypeOf(b, {u16, s16, u32, s32});
    b.dest(0, wider(type));
    b.source(1, type);
    b.source(2, type);
    b.source(3, wider(type));
    return b.handler(forInteger(b, type, []<typename T>(TypeTag<T>) -> Handler {
      if constexpr (sizeof(T) == 8)
        return nullptr;
      else
        return ternary<Wide<T>, T, T, Wide<T>, wideProductSum<T>>;
    }));
  }
  if (part == "hi" && b.take("sat")) {
    bindUniform(b, takeTypeOf(b, {s32}), 3);
    return b.handler(ternary<int32_t, int32_t, int32_t, int32_t, highProductSaturatedSum>);
  }
  const ScalarType type = takeInteger(b);
  bindUniform(b, type, 3);
  if (part == "lo")
    b.handler(forUnsigned(b, type,
                          []<typename T>(TypeTag<T>) -> Handler { return ternary<T, T, T, T, lowProductSum<T>>; }));
  else if (part == "hi")
    b.handler(forInteger(b, type,
                         []<typename T>(TypeTag<T>) -> Handler { return ternary<T, T, T, T, highProductSum<T>>; }));
  else
    b.unsupported("it needs .lo, .hi or .wide");
}

void bindMul24(Binder& b) {
  const std::string_view part = b.takeOneOf({"lo", "hi"});
  if (part.empty()) b.unsupported("it needs .lo or .hi");
  const ScalarType type = takeTypeOf(b, {u32, s32});
  bindUniform(b, type, 2);
  using U = uint32_t;
  using S = int32_t;
  if (part == "lo")
    b.handler(type == s32 ? binary<U, S, S, low24<S>> : binary<U, U, U, low24<U>>);
  else
    b.handler(type == s32 ? binary<U, S, S, high24<S>> : binary<U, U, U, high24<U>>);
}

void bindMad24(Binder& b) {
  const std::string_view part = b.takeOneOf({"lo", "hi"});
  if (part.empty()) b.unsupported("it needs .lo or .hi");
  using U = uint32_t;
  using S = int32_t;
  if (part == "hi" && b.take("sat")) {
    bindUniform(b, takeTypeOf(b, {s32}), 3);
    return b.handler(ternary<S, S, S, S, high24SaturatedSum>);
  }
  const ScalarType type = takeTypeOf(b, {u32, s32});
  bindUniform(b, type, 3);
  if (part == "lo")
    b.handler(type == s32 ? ternary<U, S, S, U, low24Sum<S>> : ternary<U, U, U, U, low24Sum<U>>);
  else
    b.handler(type == s32 ? ternary<U, S, S, U, high24Sum<S>> : ternary<U, U, U, U, high24Sum<U>>);
}

void bindDp4a(Binder& b) {
  const ScalarType first = takeTypeOf(b, {u32, s32}), second = takeTypeOf(b, {u32, s32});
  bindDot(b, first, second);
  b.handler(forSigns(first, second, []<typename A, typename B>(TypeTag<A>, TypeTag<B>) -> Handler {
    return ternary<uint32_t, uint32_t, uint32_t, uint32_t,
                   dotOfBytes<WithSignOf<uint8_t, A>, WithSignOf<uint8_t, B>>>;
  }));
}

void bindDp2a(Binder& b) {
  const std::string_view part = b.takeOneOf({"lo", "hi"});
  if (part.empty()) b.unsupported("it needs .lo or .hi");
  const ScalarType first = takeTypeOf(b, {u32, s32}), second = takeTypeOf(b, {u32, s32});
  bindDot(b, first, second);
  b.handler(forSigns(first, second, [&]<typename A, typename B>(TypeTag<A>, TypeTag<B>) -> Handler {
    using Half = WithSignOf<uint16_t, A>;
    using Byte = WithSignOf<uint8_t, B>;
    return part == "hi" ? ternary<uint32_t, uint32_t, uint32_t, uint32_t, dotOfHalves<Half, Byte, true>>
                        : ternary<uint32_t, uint32_t, uint32_t, uint32_t, dotOfHalves<Half, Byte, false>>;
  }));
}

}  // namespace ptxopt::exec
