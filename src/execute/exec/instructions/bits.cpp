// Bit counts and bit fields: popc, clz, bfind, fns, brev, bfe, bfi, bmsk, szext.
//
// Meaning from the PTX ISA's chapter on integer arithmetic. Positions and lengths of bfe and bfi are a byte each, also of
// 64 bits, where the code that ptxas makes takes all of them. A field may hang over the end. fns with a base beyond 31 finds nothing, which the ISA leaves open.
#include <bit>

#include "exec/binder.h"
#include "exec/instructions/integer_types.h"
#include "exec/lanes.h"

namespace ptxopt::exec {

namespace {

using enum ScalarType;

template <typename T>
constexpr unsigned kBits = 8 * sizeof(T);

// Sums in ever wider fields: without the machine's own instruction, std::popcount is a call for each lane.
template <typename T>
constexpr uint32_t onesIn(T a) {
  constexpr auto kAll = static_cast<T>(~T{0});
  a -= a >> 1 & kAll / 3;
  a = (a & kAll / 5) + (a >> 2 & kAll / 5);
  a = (a + (a >> 4)) & kAll / 17;
  return static_cast<uint32_t>(static_cast<T>(a * (kAll / 255)) >> (kBits<T> - 8));
}
template <typename T>
constexpr uint32_t leadingZeros(T a) {
  return static_cast<uint32_t>(std::countl_zero(a));
}

// Position of the highest bit that differs from the sign, or all ones. kShift: how far to shift left to bring it to
// the top, instead.
template <typename T, bool kShift>
constexpr uint32_t highestBit(T a) {
  using U = std::make_unsigned_t<T>;
  const U bits = static_cast<U>(a < 0 ? ~a : a);
  if (bits == 0) return ~uint32_t{0};
  const uint32_t shift = leadingZeros(bits);
  return kShift ? shift : kBits<T> - 1 - shift;
}

// The position of the n-th set bit, counted from `base` upwards (n > 0) or downwards (n < 0), base included.
constexpr uint32_t nthSetBit(uint32_t mask, uint32_t base, int32_t n) {
  if (base > 31) return ~uint32_t{0};
  if (n == 0) return mask >> base & 1 ? base : ~uint32_t{0};
  uint32_t left = n < 0 ? 0 - static_cast<uint32_t>(n) : static_cast<uint32_t>(n);
  for (int32_t i = static_cast<int32_t>(base); i >= 0 && i < 32; i += n < 0 ? -1 : 1)
    if ((mask >> i & 1) != 0 && --left == 0) return static_cast<uint32_t>(i);
  return ~uint32_t{0};
}

template <typename T>
constexpr T reversedBits(T a) {
  uint64_t x = a;
  x = (x >> 1 & 0x5555'5555'5555'5555) | (x & 0x5555'5555'5555'5555) << 1;
  x = (x >> 2 & 0x3333'3333'3333'3333) | (x & 0x3333'3333'3333'3333) << 2;
  x = (x >> 4 & 0x0F0F'0F0F'0F0F'0F0F) | (x & 0x0F0F'0F0F'0F0F'0F0F) << 4;
  return static_cast<T>(__builtin_bswap64(x) >> (64 - kBits<T>));
}

// `count` ones, from the right.
template <typename U>
constexpr U ones(uint32_t count) {
  return count >= kBits<U> ? static_cast<U>(~U{0}) : static_cast<U>((U{1} << count) - 1);
}

template <typename T>
constexpr T extractField(T a, uint32_t position, uint32_t length) {
  using U = std::make_unsigned_t<T>;
  position &= 0xFF;
  length &= 0xFF;
  constexpr uint32_t kTop = kBits<T> - 1;
  // A field of a signed value that hangs over the end, or lies beyond it, is filled with the sign.
  if constexpr (std::is_signed_v<T>) {
    if (length == 0) return 0;
    const T shifted = static_cast<T>(a >> (position > kTop ? kTop : position));
    if (uint64_t{position} + length > kTop) return shifted;
    const uint32_t unused = kBits<T> - length;
    return static_cast<T>(static_cast<T>(static_cast<U>(shifted) << unused) >> unused);
  } else {
    return position > kTop ? 0 : static_cast<T>(a >> position & ones<U>(length));
  }
}

template <typename U>
constexpr U insertField(U field, U into, uint32_t position, uint32_t length) {
  position &= 0xFF;
  length &= 0xFF;
  if (position >= kBits<U>) return into;
  const U mask = static_cast<U>(ones<U>(length) << position);
  return static_cast<U>((into & ~mask) | (static_cast<U>(field << position) & mask));
}

// `width` ones from bit `position`, cut off at bit 31.
template <bool kClamp>
constexpr uint32_t runOfOnes(uint32_t position, uint32_t width) {
  if (kClamp) {
    if (position > 31) return 0;
    if (width > 32) width = 32;
  } else {
    position &= 31;
    width &= 31;
  }
  return ones<uint32_t>(width) << position;
}

// The low `width` bits, extended with zeros or their sign.
template <typename T, bool kClamp>
constexpr T extended(T a, uint32_t width) {
  if (kClamp && width > 31) return a;
  width &= 31;
  if (width == 0) return 0;
  const uint32_t unused = 32 - width;
  return static_cast<T>(static_cast<T>(static_cast<uint32_t>(a) << unused) >> unused);
}

template <typename U>
Step bitFieldInsert(Warp& w, const Op& op, Mask active) {
  U* d = w.out<U>(op.args[0]);
  const U* a = w.in<U>(op.args[1]);
  const U* b = w.in<U>(op.args[2]);
  const uint32_t* position = w.in<uint32_t>(op.args[3]);
  const uint32_t* length = w.in<uint32_t>(op.args[4]);
  forEachLaneVectorized(active, [=](unsigned i) { d[i] = insertField(a[i], b[i], position[i], length[i]); });
  return Step::Next;
}

// .clamp or .wrap; there must be one.
bool takeClamp(Binder& b) {
  const std::string_view mode = b.takeOneOf({"clamp", "wrap"});
  if (mode.empty()) b.unsupported("it needs .clamp or .wrap");
  return mode == "clamp";
}

}  // namespace

void bindPopc(Binder& b) {
  const ScalarType type = takeTypeOf(b, {b32, b64});
  b.dest(0, u32);
  b.source(1, type);
  b.handler(type == b64 ? unary<uint32_t, uint64_t, onesIn<uint64_t>>
                        : unary<uint32_t, uint32_t, onesIn<uint32_t>>);
}

void bindClz(Binder& b) {
  const ScalarType type = takeTypeOf(b, {b32, b64});
  b.dest(0, u32);
  b.source(1, type);
  b.handler(type == b64 ? unary<uint32_t, uint64_t, leadingZeros<uint64_t>>
                        : unary<uint32_t, uint32_t, leadingZeros<uint32_t>>);
}

void bindBfind(Binder& b) {
  const bool shift = b.take("shiftamt");
  const ScalarType type = takeTypeOf(b, {u32, s32, u64, s64});
  b.dest(0, u32);
  b.source(1, type);
  b.handler(forInteger(b, type, [&]<typename T>(TypeTag<T>) -> Handler {
    return shift ? unary<uint32_t, T, highestBit<T, true>> : unary<uint32_t, T, highestBit<T, false>>;
  }));
}

void bindFns(Binder& b) {
  takeTypeOf(b, {b32});
  b.dest(0, b32);
  b.source(1, b32);
  b.source(2, b32);
  b.source(3, s32);
  b.handler(ternary<uint32_t, uint32_t, uint32_t, int32_t, nthSetBit>);
}

void bindBrev(Binder& b) {
  const ScalarType type = takeTypeOf(b, {b32, b64});
  bindUniform(b, type, 1);
  b.handler(type == b64 ? unary<uint64_t, uint64_t, reversedBits<uint64_t>>
                        : unary<uint32_t, uint32_t, reversedBits<uint32_t>>);
}

void bindBfe(Binder& b) {
  const ScalarType type = takeTypeOf(b, {u32, s32, u64, s64});
  b.dest(0, type);
  b.source(1, type);
  b.source(2, u32);
  b.source(3, u32);
  b.handler(forInteger(b, type, []<typename T>(TypeTag<T>) -> Handler {
    return ternary<T, T, uint32_t, uint32_t, extractField<T>>;
  }));
}

void bindBfi(Binder& b) {
  const ScalarType type = takeTypeOf(b, {b32, b64});
  bindUniform(b, type, 2);
  b.source(3, u32);
  b.source(4, u32);
  b.handler(type == b64 ? bitFieldInsert<uint64_t> : bitFieldInsert<uint32_t>);
}

void bindBmsk(Binder& b) {
  const bool clamp = takeClamp(b);
  bindUniform(b, takeTypeOf(b, {b32}), 2);
  b.handler(clamp ? binary<uint32_t, uint32_t, uint32_t, runOfOnes<true>>
                  : binary<uint32_t, uint32_t, uint32_t, runOfOnes<false>>);
}

void bindSzext(Binder& b) {
  const bool clamp = takeClamp(b);
  const ScalarType type = takeTypeOf(b, {u32, s32});
  b.dest(0, type);
  b.source(1, type);
  b.source(2, u32);
  using U = uint32_t;
  using S = int32_t;
  if (type == s32)
    b.handler(clamp ? binary<S, S, U, extended<S, true>> : binary<S, S, U, extended<S, false>>);
  else
    b.handler(clamp ? binary<U, U, U, extended<U, true>> : binary<U, U, U, extended<U, false>>);
}

}  // namespace ptxopt::exec
