// Floating-point abs, neg, min, max, and copysign and testp, which have no integer forms.
//
//     abs, neg{.ftz}.{f16, f16x2, f32}, abs, neg.{bf16, bf16x2, f64}
//     min, max{.ftz}{.NaN}{.xorsign.abs}.{f16, f16x2, f32}, the same without .ftz for bf16, bf16x2; min, max.f64
//     min, max{.ftz}{.NaN}{.abs}.f32 d, a, b, c
//     copysign.{f32, f64}, testp.{finite, infinite, number, notanumber, normal, subnormal}.{f32, f64}
// What the results are, NaN and signed zeros included: float_sign.h.
#include "exec/value/float_sign.h"

#include "exec/instructions/float.h"
#include "exec/instructions/float_lanes.h"
#include "exec/instructions/lane_masks.h"

namespace ptxopt::exec {

namespace {

template <class Format, unsigned kPerLane, bool kFtz>
Step magnitudes(Warp& w, const Op& op, Mask active) {
  using Word = typename Format::Word;
  return mapNumbers<1, kPerLane, Word>(w, op, active, [](Word a) { return absFloat<Format>(a, kFtz); });
}

template <class Format, unsigned kPerLane, bool kFtz>
Step negatives(Warp& w, const Op& op, Mask active) {
  using Word = typename Format::Word;
  return mapNumbers<1, kPerLane, Word>(w, op, active, [](Word a) { return negFloat<Format>(a, kFtz); });
}

void bindSign(Binder& b, bool isNeg) {
  const bool ftz = b.take("ftz");
  const FloatType type = needFloatType(b);
  if (ftz && (type.kind == FloatKind::Bfloat || type.kind == FloatKind::Double))
    b.unsupported(".ftz with this type");
  if (type.operand == ScalarType::b64) b.unsupported("type .f32x2");
  bindFloats(b, type, 1);
  b.handler(forFormat(type.kind, [&]<class Format>(FormatTag<Format>) -> Handler {
    if (type.perLane == 2) {
      if (isNeg) return ftz ? negatives<Format, 2, true> : negatives<Format, 2, false>;
      return ftz ? magnitudes<Format, 2, true> : magnitudes<Format, 2, false>;
    }
    if (isNeg) return ftz ? negatives<Format, 1, true> : negatives<Format, 1, false>;
    return ftz ? magnitudes<Format, 1, true> : magnitudes<Format, 1, false>;
  }));
}

// .ftz and .NaN are what most have; the rest is read from small[0].
constexpr uint8_t kAbs = 1, kXorSign = 2, kFlush = 4, kNaNWins = 8;

template <class Format, bool kMax, unsigned kPerLane, bool kFtz, bool kNan>
Step extremes(Warp& w, const Op& op, Mask active) {
  using Word = typename Format::Word;
  return mapNumbers<2, kPerLane, Word>(w, op, active, [](Word a, Word b) {
    return minMax<Format, kMax>(a, b, MinMaxMode{.ftz = kFtz, .nan = kNan, .abs = false, .xorSign = false});
  });
}

template <class Format, bool kMax, unsigned kPerLane, unsigned kOperands>
Step modifiedExtremes(Warp& w, const Op& op, Mask active) {
  using Word = typename Format::Word;
  const uint8_t bits = op.small[0];
  const MinMaxMode mode{.ftz = (bits & kFlush) != 0,
                        .nan = (bits & kNaNWins) != 0,
                        .abs = (bits & kAbs) != 0,
                        .xorSign = (bits & kXorSign) != 0};
  return mapNumbers<kOperands, kPerLane, Word>(w, op, active,
                                               [mode](auto... x) { return minMax<Format, kMax>(x..., mode); });
}

template <class Format, bool kMax, unsigned kPerLane>
Handler handlerForExtremes(uint8_t bits, bool three) {
  if constexpr (std::is_same_v<Format, F32> && kPerLane == 1)
    if (three) return modifiedExtremes<Format, kMax, kPerLane, 3>;
  if ((bits & (kAbs | kXorSign)) != 0) return modifiedExtremes<Format, kMax, kPerLane, 2>;
  const bool nan = (bits & kNaNWins) != 0;
  if ((bits & kFlush) != 0)
    return nan ? extremes<Format, kMax, kPerLane, true, true> : extremes<Format, kMax, kPerLane, true, false>;
  return nan ? extremes<Format, kMax, kPerLane, false, true> : extremes<Format, kMax, kPerLane, false, false>;
}

template <bool kMax>
void bindExtremes(Binder& b) {
  uint8_t bits = 0;
  if (b.take("ftz")) bits |= kFlush;
  if (b.take("NaN")) bits |= kNaNWins;
  if (b.take("xorsign")) bits |= kXorSign;
  if (b.take("abs")) bits |= kAbs;
  const FloatType type = needFloatType(b);
  const bool three = b.operands() == 4;
  if (type.operand == ScalarType::b64) b.unsupported("type .f32x2");
  if (three && type.kind != FloatKind::Single) b.unsupported("three operands of this type");
  // .xorsign goes with .abs and two operands; .abs alone with three.
  const uint8_t signs = bits & (kAbs | kXorSign);
  if (signs != 0 && signs != (three ? kAbs : kAbs | kXorSign)) b.unsupported(".abs and .xorsign in this way");
  if (type.kind == FloatKind::Double && bits != 0) b.unsupported("these modifiers with this type");
  if (type.kind == FloatKind::Bfloat && (bits & kFlush) != 0) b.unsupported(".ftz with this type");
  bindFloats(b, type, three ? 3 : 2);
  b.op().small[0] = bits;
  b.handler(forFormat(type.kind, [&]<class Format>(FormatTag<Format>) {
    return type.perLane == 2 ? handlerForExtremes<Format, kMax, 2>(bits, three)
                             : handlerForExtremes<Format, kMax, 1>(bits, three);
  }));
}

template <class Format>
Step signsCopied(Warp& w, const Op& op, Mask active) {
  using Word = typename Format::Word;
  return mapNumbers<2, 1, Word>(w, op, active, [](Word a, Word b) { return copySign<Format>(a, b); });
}

// args: p, a
template <class Format>
Step tested(Warp& w, const Op& op, Mask active) {
  const auto property = static_cast<FloatProperty>(op.small[0]);
  const auto* a = w.in<typename Format::Word>(op.args[1]);
  w.setPredicate(op.args[0], collectMask(active, [=](unsigned i) { return testFloat<Format>(property, a[i]); }),
                 active);
  return Step::Next;
}

// f32 or f64: testp and copysign have no others.
bool takeDouble(Binder& b) { return takeTypeOf(b, {ScalarType::f32, ScalarType::f64}) == ScalarType::f64; }

}  // namespace

void bindFloatAbs(Binder& b) { bindSign(b, false); }
void bindFloatNeg(Binder& b) { bindSign(b, true); }
void bindFloatMin(Binder& b) { bindExtremes<false>(b); }
void bindFloatMax(Binder& b) { bindExtremes<true>(b); }

void bindCopysign(Binder& b) {
  const bool isDouble = takeDouble(b);
  bindUniform(b, isDouble ? ScalarType::f64 : ScalarType::f32, 2);
  b.handler(isDouble ? signsCopied<F64> : signsCopied<F32>);
}

void bindTestp(Binder& b) {
  static constexpr std::pair<std::string_view, FloatProperty> kProperties[] = {
      {"finite", FloatProperty::Finite}, {"infinite", FloatProperty::Infinite},
      {"number", FloatProperty::Number}, {"notanumber", FloatProperty::NotANumber},
      {"normal", FloatProperty::Normal}, {"subnormal", FloatProperty::Subnormal},
  };
  const auto* chosen = std::end(kProperties);
  for (const auto& p : kProperties)
    if (b.take(p.first)) chosen = &p;
  if (chosen == std::end(kProperties)) b.unsupported("this property");
  b.op().small[0] = static_cast<uint8_t>(chosen->second);
  const bool isDouble = takeDouble(b);
  b.predicateDest(0);
  b.source(1, isDouble ? ScalarType::f64 : ScalarType::f32);
  b.handler(isDouble ? tested<F64> : tested<F32>);
}

}  // namespace ptxopt::exec
