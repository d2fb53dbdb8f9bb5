// What atom, red, red.async and cp.reduce do to the value in memory.
//
// A combination is a function of the old word and the operand, chosen by operation and type:
//   inc  old >= b ? 0 : old + 1        dec  old == 0 || old > b ? b : old - 1
//   add of f32, f64, f16, bf16 rounds to nearest even; of f32 in global memory it flushes subnormal operands and
//   results to zeros of their sign, in shared memory it does not (PTX ISA, atom). The f16 and bf16 forms do not
//   flush. min and max of f16 and bf16 are those of the instructions min and max without .NaN.
// Packed types combine their halves apart.
//
// combine() makes one such step atomic for other host threads that run blocks of the same grid.
#pragma once

#include <cstring>
#include <string_view>

#include "exec/instructions/bitwise.h"
#include "exec/instructions/memory_operand.h"
#include "exec/value/float_nearest.h"
#include "exec/value/float_sign.h"
#include "exec/value/half_arithmetic.h"
#include "support/int128.h"

namespace ptxopt::exec {

namespace atomics {

template <typename T>
constexpr T exchange(T, T b) {
  return b;
}
template <typename T>
constexpr T sum(T old, T b) {
  return old + b;
}
template <typename T>
constexpr T increment(T old, T b) {
  return old >= b ? 0 : old + 1;
}
template <typename T>
constexpr T decrement(T old, T b) {
  return old == 0 || old > b ? b : old - 1;
}
template <typename T, typename Number>
constexpr T least(T old, T b) {
  return static_cast<Number>(b) < static_cast<Number>(old) ? b : old;
}
template <typename T, typename Number>
constexpr T greatest(T old, T b) {
  return static_cast<Number>(b) > static_cast<Number>(old) ? b : old;
}

inline uint32_t sumF32(uint32_t old, uint32_t b) {
  return std::bit_cast<uint32_t>(addNearest(std::bit_cast<float>(old), std::bit_cast<float>(b)));
}
inline uint32_t sumF32Flushed(uint32_t old, uint32_t b) {
  return F32::flush(sumF32(F32::flush(old), F32::flush(b)));
}
inline uint64_t sumF64(uint64_t old, uint64_t b) {
  return std::bit_cast<uint64_t>(addNearest(std::bit_cast<double>(old), std::bit_cast<double>(b)));
}
template <class Format>
uint16_t sumHalf(uint16_t old, uint16_t b) {
  return addHalf<Format>(old, b, {});
}
template <class Format, bool kMax>
uint16_t boundHalf(uint16_t old, uint16_t b) {
  return minMax<Format, kMax>(old, b, MinMaxMode{});
}
template <auto f>
uint32_t halves(uint32_t old, uint32_t b) {
  const uint32_t low = f(static_cast<uint16_t>(old), static_cast<uint16_t>(b));
  const uint32_t high = f(static_cast<uint16_t>(old >> 16), static_cast<uint16_t>(b >> 16));
  return low | high << 16;
}

// Replaces the word at `p` by f(old); returns old. `p` is aligned to its size.
template <typename T, typename F>
inline T combine(std::byte* p, F&& f) {
  T* const place = reinterpret_cast<T*>(p);
  T old = __atomic_load_n(place, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(place, &old, f(old), true, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
  }
  return old;
}

// The same for memory that only one host thread uses.
template <typename T, typename F>
inline T combineAlone(std::byte* p, F&& f) {
  T old;
  std::memcpy(&old, p, sizeof old);
  const T now = f(old);
  std::memcpy(p, &now, sizeof now);
  return old;
}

// Stores `desired` at `p`, which is aligned to 16, when `expected` is there; returns what was there.
UInt128 compareAndSwap128(std::byte* p, UInt128 expected, UInt128 desired);

// Calls use.operator()<T, f, g>() with the word, the combination for global memory, and the one for shared memory
// of an operation and a type. False when there is no such operation. Half-precision types need `noftz` for add.
template <typename Use>
bool withCombination(std::string_view op, ScalarType type, Use&& use) {
#define PTX_COMBINE(T, f) (use.template operator()<T, (f), (f)>(), true)
  switch (type) {
    case ScalarType::b32:
      if (op == "and") return PTX_COMBINE(uint32_t, bitAnd<uint32_t>);
      if (op == "or") return PTX_COMBINE(uint32_t, bitOr<uint32_t>);
      if (op == "xor") return PTX_COMBINE(uint32_t, bitXor<uint32_t>);
      if (op == "exch") return PTX_COMBINE(uint32_t, exchange<uint32_t>);
      return false;
    case ScalarType::b64:
      if (op == "and") return PTX_COMBINE(uint64_t, bitAnd<uint64_t>);
      if (op == "or") return PTX_COMBINE(uint64_t, bitOr<uint64_t>);
      if (op == "xor") return PTX_COMBINE(uint64_t, bitXor<uint64_t>);
      if (op == "exch") return PTX_COMBINE(uint64_t, exchange<uint64_t>);
      return false;
    case ScalarType::u32:
      if (op == "add") return PTX_COMBINE(uint32_t, sum<uint32_t>);
      if (op == "inc") return PTX_COMBINE(uint32_t, increment<uint32_t>);
      if (op == "dec") return PTX_COMBINE(uint32_t, decrement<uint32_t>);
      if (op == "min") return PTX_COMBINE(uint32_t, (least<uint32_t, uint32_t>));
      if (op == "max") return PTX_COMBINE(uint32_t, (greatest<uint32_t, uint32_t>));
      return false;
    case ScalarType::s32:
      if (op == "add") return PTX_COMBINE(uint32_t, sum<uint32_t>);
      if (op == "min") return PTX_COMBINE(uint32_t, (least<uint32_t, int32_t>));
      if (op == "max") return PTX_COMBINE(uint32_t, (greatest<uint32_t, int32_t>));
      return false;
    case ScalarType::u64:
      if (op == "add") return PTX_COMBINE(uint64_t, sum<uint64_t>);
      if (op == "min") return PTX_COMBINE(uint64_t, (least<uint64_t, uint64_t>));
      if (op == "max") return PTX_COMBINE(uint64_t, (greatest<uint64_t, uint64_t>));
      return false;
    case ScalarType::s64:
      if (op == "add") return PTX_COMBINE(uint64_t, sum<uint64_t>);
      if (op == "min") return PTX_COMBINE(uint64_t, (least<uint64_t, int64_t>));
      if (op == "max") return PTX_COMBINE(uint64_t, (greatest<uint64_t, int64_t>));
      return false;
    case ScalarType::f32:
      if (op == "add") return use.template operator()<uint32_t, sumF32Flushed, sumF32>(), true;
      return false;
    case ScalarType::f64:
      if (op == "add") return PTX_COMBINE(uint64_t, sumF64);
      return false;
    case ScalarType::f16:
      if (op == "add") return PTX_COMBINE(uint16_t, sumHalf<F16>);
      if (op == "min") return PTX_COMBINE(uint16_t, (boundHalf<F16, false>));
      if (op == "max") return PTX_COMBINE(uint16_t, (boundHalf<F16, true>));
      return false;
    case ScalarType::bf16:
      if (op == "add") return PTX_COMBINE(uint16_t, sumHalf<Bf16>);
      if (op == "min") return PTX_COMBINE(uint16_t, (boundHalf<Bf16, false>));
      if (op == "max") return PTX_COMBINE(uint16_t, (boundHalf<Bf16, true>));
      return false;
    case ScalarType::f16x2:
      if (op == "add") return PTX_COMBINE(uint32_t, halves<sumHalf<F16>>);
      if (op == "min") return PTX_COMBINE(uint32_t, (halves<boundHalf<F16, false>>));
      if (op == "max") return PTX_COMBINE(uint32_t, (halves<boundHalf<F16, true>>));
      return false;
    case ScalarType::bf16x2:
      if (op == "add") return PTX_COMBINE(uint32_t, halves<sumHalf<Bf16>>);
      if (op == "min") return PTX_COMBINE(uint32_t, (halves<boundHalf<Bf16, false>>));
      if (op == "max") return PTX_COMBINE(uint32_t, (halves<boundHalf<Bf16, true>>));
      return false;
    default: return false;
  }
#undef PTX_COMBINE
}

// Applies a combination to each element of a range: what is left of a bulk reduction at run time.
using Reducer = void (*)(std::byte* to, const std::byte* from, std::size_t bytes);

// nullptr when there is no such operation.
Reducer findReducer(std::string_view op, ScalarType type, bool toShared);

}  // namespace atomics

// The operation's modifier among and, or, ..., max, taken; .noftz with it. Empty when there is none.
std::string_view takeAtomicOperation(Binder& b, ScalarType type);

}  // namespace ptxopt::exec
