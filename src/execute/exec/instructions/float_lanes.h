// What the handlers of floating-point instructions share: types, roundings and loops over the numbers of lanes.
//
// A lane holds one number, or two in the packed types (.f16x2, .bf16x2, .f32x2), the first in the lower half. The
// lanes of a packed register are thus 64 numbers in a row, and one loop serves both kinds.
#pragma once

#include <optional>
#include <type_traits>

#include "exec/binder.h"
#include "exec/instructions/integer_types.h"
#include "exec/lanes.h"
#include "exec/value/float_arithmetic.h"
#include "exec/value/half_arithmetic.h"

namespace ptxopt::exec {

// Calls f(index of a number) for the kPerLane numbers of each active lane, in any order.
template <unsigned kPerLane, typename F>
inline void forEachNumber(Mask active, F&& f) {
  if (active == kAllLanes) {
#pragma GCC ivdep
    for (unsigned i = 0; i < kLanes * kPerLane; ++i) f(i);
    return;
  }
  for (; active != 0; active &= active - 1) {
    const unsigned first = static_cast<unsigned>(std::countr_zero(active)) * kPerLane;
    for (unsigned i = first; i < first + kPerLane; ++i) f(i);
  }
}

// d = f(a), f(a, b) or f(a, b, c), number by number; args are d, a, b, c.
template <unsigned kOperands, unsigned kPerLane, typename T, typename F>
inline Step mapNumbers(const Warp& w, const Op& op, Mask active, F f) {
  T* d = w.out<T>(op.args[0]);
  const T* a = w.in<T>(op.args[1]);
  if constexpr (kOperands == 1) {
    forEachNumber<kPerLane>(active, [=](unsigned i) { d[i] = f(a[i]); });
  } else if constexpr (kOperands == 2) {
    const T* b = w.in<T>(op.args[2]);
    forEachNumber<kPerLane>(active, [=](unsigned i) { d[i] = f(a[i], b[i]); });
  } else {
    const T* b = w.in<T>(op.args[2]);
    const T* c = w.in<T>(op.args[3]);
    forEachNumber<kPerLane>(active, [=](unsigned i) { d[i] = f(a[i], b[i], c[i]); });
  }
  return Step::Next;
}

// Op::small of these handlers: the rounding, .ftz, and .sat or .relu as bits.
inline constexpr uint8_t kSat = 1, kRelu = 2;
inline FloatMode floatMode(const Op& op) {
  return {static_cast<Rounding>(op.small[0]), op.small[1] != 0, (op.small[2] & kSat) != 0};
}
inline HalfMode halfMode(const Op& op) {
  return {op.small[1] != 0, (op.small[2] & kSat) != 0, (op.small[2] & kRelu) != 0};
}

enum class FloatKind : uint8_t { Half, Bfloat, Single, Double };

struct FloatType {
  FloatKind kind;
  unsigned perLane;
  ScalarType operand;  // the type of a register that holds it

  bool isHalf() const { return kind == FloatKind::Half || kind == FloatKind::Bfloat; }
};

// The next modifier that is a floating-point type, taken. nullopt when there is none.
inline std::optional<FloatType> takeFloatType(Binder& b) {
  // Not an entry of types.def.
  if (b.take("f32x2")) return FloatType{FloatKind::Single, 2, ScalarType::b64};
  switch (const ScalarType type = b.takeType()) {
    case ScalarType::f16: return FloatType{FloatKind::Half, 1, type};
    case ScalarType::f16x2: return FloatType{FloatKind::Half, 2, type};
    case ScalarType::bf16: return FloatType{FloatKind::Bfloat, 1, type};
    case ScalarType::bf16x2: return FloatType{FloatKind::Bfloat, 2, type};
    case ScalarType::f32: return FloatType{FloatKind::Single, 1, type};
    case ScalarType::f64: return FloatType{FloatKind::Double, 1, type};
    default: return std::nullopt;
  }
}

inline FloatType needFloatType(Binder& b) {
  const std::optional<FloatType> type = takeFloatType(b);
  if (!type) b.unsupported("it has no floating-point type");
  return *type;
}

// .rn, .rz, .rm, .rp.
inline std::optional<Rounding> takeRounding(Binder& b) {
  const std::string_view name = b.takeOneOf({"rn", "rz", "rm", "rp"});
  if (name == "rn") return Rounding::Nearest;
  if (name == "rz") return Rounding::Zero;
  if (name == "rm") return Rounding::Down;
  if (name == "rp") return Rounding::Up;
  return std::nullopt;
}

// The word of a format: F16 and Bf16 are stored as integers, the others as numbers of the host.
template <class Format>
using FormatTag = TypeTag<Format>;

// f(FormatTag<Format>) for the format of a type.
template <typename F>
Handler forFormat(FloatKind kind, F&& f) {
  switch (kind) {
    case FloatKind::Half: return f(FormatTag<F16>{});
    case FloatKind::Bfloat: return f(FormatTag<Bf16>{});
    case FloatKind::Single: return f(FormatTag<F32>{});
    case FloatKind::Double: break;
  }
  return f(FormatTag<F64>{});
}

// Operands 1.. as sources of `type`, after the destination.
inline void bindFloats(Binder& b, const FloatType& type, std::size_t sources) {
  b.dest(0, type.operand);
  for (std::size_t i = 1; i <= sources; ++i) b.source(i, type.operand);
}

}  // namespace ptxopt::exec
