// Choosing values and bytes: selp, slct, prmt.
//
// Meaning from the PTX ISA. slct takes its first source where the selector is not negative: -0.0 is not, a NaN
// counts as negative, and .ftz makes a negative subnormal -0.0. prmt takes four bytes out of the eight of b:a, each
// by a selector of four bits whose top bit asks for the byte's sign in all its bits, or by one of six patterns.
#include <array>

#include "exec/binder.h"
#include "exec/instructions/integer_types.h"
#include "exec/instructions/lane_masks.h"
#include "exec/lanes.h"

namespace ptxopt::exec {

namespace {

using enum ScalarType;

template <typename T>
Step selectByPredicate(Warp& w, const Op& op, Mask active) {
  T* d = w.out<T>(op.args[0]);
  const T* a = w.in<T>(op.args[1]);
  const T* b = w.in<T>(op.args[2]);
  const Mask p = w.predicate(op.args[3]);
  forEachLaneVectorized(active, [=](unsigned i) {
    const T x = a[i], y = b[i];
    d[i] = (p & kLaneBit[i]) != 0 ? x : y;
  });
  return Step::Next;
}

template <typename T>
constexpr T selectByInteger(T a, T b, int32_t c) {
  return c >= 0 ? a : b;
}
template <typename T, bool kFlush>
constexpr T selectByFloat(T a, T b, uint32_t c) {
  const uint32_t magnitude = c & 0x7FFF'FFFF;
  const bool isNan = magnitude > 0x7F80'0000;
  const bool isZero = kFlush ? magnitude < 0x0080'0000 : magnitude == 0;
  return !isNan && (c == magnitude || isZero) ? a : b;
}

using U = uint32_t;

constexpr uint32_t permuteBytes(uint32_t a, uint32_t b, uint32_t selectors) {
  const uint64_t bytes = uint64_t{b} << 32 | a;
  uint32_t result = 0;
  for (unsigned k = 0; k < 4; ++k) {
    const uint32_t s = selectors >> (4 * k) & 15;
    const auto byte = static_cast<uint8_t>(bytes >> (8 * (s & 7)));
    const uint8_t value = (s & 8) == 0 ? byte : (byte & 0x80) != 0 ? 0xFF : 0;
    result |= uint32_t{value} << (8 * k);
  }
  return result;
}

// The selectors that stand for each value of the two low bits of c.
struct Pattern {
  std::string_view name;
  std::array<uint16_t, 4> selectors;
};
constexpr Pattern kPatterns[] = {
    {"f4e", {0x3210, 0x4321, 0x5432, 0x6543}},   // four bytes on, forwards
    {"b4e", {0x5670, 0x6701, 0x7012, 0x0123}},   // four bytes on, backwards
    {"rc8", {0x0000, 0x1111, 0x2222, 0x3333}},   // one byte in all places
    {"ecl", {0x3210, 0x3211, 0x3222, 0x3333}},   // nothing below byte c
    {"ecr", {0x0000, 0x1110, 0x2210, 0x3210}},   // nothing above byte c
    {"rc16", {0x1010, 0x3232, 0x1010, 0x3232}},  // one half in both places
};

Step permuteByPattern(Warp& w, const Op& op, Mask active) {
  uint32_t* d = w.out<uint32_t>(op.args[0]);
  const uint32_t* a = w.in<uint32_t>(op.args[1]);
  const uint32_t* b = w.in<uint32_t>(op.args[2]);
  const uint32_t* c = w.in<uint32_t>(op.args[3]);
  const Pattern& pattern = *static_cast<const Pattern*>(op.data);
  forEachLane(active, [&](unsigned i) { d[i] = permuteBytes(a[i], b[i], pattern.selectors[c[i] & 3]); });
  return Step::Next;
}

// For a constant selector: which source each byte comes from, and how far to shift it, is the same in all lanes.
struct ConstantSelector {
  struct Byte {
    uint32_t fromA, fromB;  // all ones for the one to take
    uint32_t shift;         // right, down to the lowest byte
    uint32_t sign;          // all ones for the sign instead of the byte
  };
  std::array<Byte, 4> bytes;

  explicit ConstantSelector(uint32_t selectors) {
    for (unsigned k = 0; k < 4; ++k) {
      const uint32_t s = selectors >> (4 * k) & 15;
      bytes[k].fromB = (s & 4) != 0 ? ~uint32_t{0} : 0;
      bytes[k].fromA = ~bytes[k].fromB;
      bytes[k].shift = 8 * (s & 3);
      bytes[k].sign = (s & 8) != 0 ? ~uint32_t{0} : 0;
    }
  }
};

Step permuteByConstant(Warp& w, const Op& op, Mask active) {
  uint32_t* d = w.out<uint32_t>(op.args[0]);
  const uint32_t* a = w.in<uint32_t>(op.args[1]);
  const uint32_t* b = w.in<uint32_t>(op.args[2]);
  const ConstantSelector selector = *static_cast<const ConstantSelector*>(op.data);
  forEachLaneVectorized(active, [=](unsigned i) {
    uint32_t result = 0;
    for (unsigned k = 0; k < 4; ++k) {
      const ConstantSelector::Byte& s = selector.bytes[k];
      const uint32_t byte = ((a[i] & s.fromA) | (b[i] & s.fromB)) >> s.shift & 0xFF;
      const uint32_t sign = (0 - (byte >> 7)) & 0xFF;
      result |= ((byte & ~s.sign) | (sign & s.sign)) << (8 * k);
    }
    d[i] = result;
  });
  return Step::Next;
}

}  // namespace

void bindSelp(Binder& b) {
  const ScalarType type = takeTypeOf(b, {b16, u16, s16, b32, u32, s32, f32, b64, u64, s64, f64});
  bindUniform(b, type, 2);
  b.predicate(3);
  b.handler(forUnsigned(b, type, []<typename T>(TypeTag<T>) -> Handler { return selectByPredicate<T>; }));
}

void bindSlct(Binder& b) {
  const bool flush = b.take("ftz");
  const ScalarType type = takeTypeOf(b, {b16, u16, s16, b32, u32, s32, f32, b64, u64, s64, f64});
  const ScalarType selector = takeTypeOf(b, {s32, f32});
  if (flush && selector != f32) b.unsupported(".ftz needs a selector of type .f32");
  bindUniform(b, type, 2);
  b.source(3, selector);
  b.handler(forUnsigned(b, type, [&]<typename T>(TypeTag<T>) -> Handler {
    if (selector == s32) return ternary<T, T, T, int32_t, selectByInteger<T>>;
    return flush ? ternary<T, T, T, uint32_t, selectByFloat<T, true>>
                 : ternary<T, T, T, uint32_t, selectByFloat<T, false>>;
  }));
}

void bindPrmt(Binder& b) {
  takeTypeOf(b, {b32});
  for (const Pattern& pattern : kPatterns) {
    if (!b.take(pattern.name)) continue;
    b.data(pattern);
    bindUniform(b, b32, 3);
    return b.handler(permuteByPattern);
  }
  if (b.isImmediate(3)) {
    bindUniform(b, b32, 2);
    b.data(ConstantSelector(static_cast<uint32_t>(b.immediate(3))));
    return b.handler(permuteByConstant);
  }
  bindUniform(b, b32, 3);
  b.handler(ternary<U, U, U, U, permuteBytes>);
}

}  // namespace ptxopt::exec
