// Shifts: shl, shr, shf.
//
// Meaning from the PTX ISA's chapter on logic and shift instructions. Amounts are 32 bits wide and unsigned for
// every type, and what is shifted by its width or more is gone (or all sign). shf shifts a pair of registers, b
// above a, by an amount taken modulo 32 (.wrap) or at most 32 (.clamp), and keeps the upper (.l) or the lower (.r)
// half.
#include "exec/binder.h"
#include "exec/instructions/integer_types.h"
#include "exec/lanes.h"

namespace ptxopt::exec {

namespace {

using enum ScalarType;

template <typename U>
constexpr U shiftLeft(U a, uint32_t count) {
  return count < 8 * sizeof(U) ? static_cast<U>(a << count) : U{0};
}

template <typename T>
constexpr T shiftRight(T a, uint32_t count) {
  constexpr uint32_t kTop = 8 * sizeof(T) - 1;
  if constexpr (std::is_signed_v<T>)
    return static_cast<T>(a >> (count > kTop ? kTop : count));
  else
    return count > kTop ? T{0} : static_cast<T>(a >> count);
}

template <bool kLeft, bool kClamp>
constexpr uint32_t funnelShift(uint32_t low, uint32_t high, uint32_t count) {
  const uint64_t pair = uint64_t{high} << 32 | low;
  count = kClamp ? (count > 32 ? 32 : count) : count & 31;
  return static_cast<uint32_t>(kLeft ? (pair << count) >> 32 : pair >> count);
}

}  // namespace

void bindShl(Binder& b) {
  const ScalarType type = takeTypeOf(b, {b16, b32, b64});
  b.dest(0, type);
  b.source(1, type);
  b.source(2, u32);
  b.handler(
      forUnsigned(b, type, []<typename T>(TypeTag<T>) -> Handler { return binary<T, T, uint32_t, shiftLeft<T>>; }));
}

void bindShr(Binder& b) {
  const ScalarType type = takeTypeOf(b, {b16, u16, s16, b32, u32, s32, b64, u64, s64});
  b.dest(0, type);
  b.source(1, type);
  b.source(2, u32);
  b.handler(
      forInteger(b, type, []<typename T>(TypeTag<T>) -> Handler { return binary<T, T, uint32_t, shiftRight<T>>; }));
}

void bindShf(Binder& b) {
  const std::string_view direction = b.takeOneOf({"l", "r"}), mode = b.takeOneOf({"wrap", "clamp"});
  if (direction.empty() || mode.empty()) b.unsupported("it needs .l or .r, and .wrap or .clamp");
  bindUniform(b, takeTypeOf(b, {b32}), 3);
  using U = uint32_t;
  if (direction == "l")
    b.handler(mode == "clamp" ? ternary<U, U, U, U, funnelShift<true, true>>
                              : ternary<U, U, U, U, funnelShift<true, false>>);
  else
    b.handler(mode == "clamp" ? ternary<U, U, U, U, funnelShift<false, true>>
                              : ternary<U, U, U, U, funnelShift<false, false>>);
}

}  // namespace ptxopt::exec
