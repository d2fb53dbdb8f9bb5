// Floating-point add, sub, mul, fma, mad and div.
//
//     op{.rnd}{.ftz}{.sat}.f32, op{.rnd}.f64, op{.rnd}{.ftz}.f32x2
//     op{.rn}{.ftz}{.sat}.f16{x2}, op{.rn}.bf16{x2}; fma also .relu
//     add, sub, fma{.rnd}{.sat}.f32.{f16, bf16}: the first operands are halves, the last and the result f32
//     div.{approx, full}{.ftz}.f32
// mad is fma. What is rounded to nearest goes through loops that the compiler vectorizes, everything else number by
// number through float_arithmetic.h. An opcode without a rounding rounds to nearest and is not contracted with its
// neighbours. Declines: fma.oob, whose result depends on a notion of out-of-bounds inputs; forms without a rounding
// where PTX demands one.
#include "exec/instructions/float.h"

#include "exec/instructions/float_lanes.h"
#include "exec/value/approximate.h"
#include "exec/value/float_nearest.h"

namespace ptxopt::exec {

namespace {

enum class FloatOp : uint8_t { Add, Sub, Mul, Fma, Div };

constexpr unsigned operandsOf(FloatOp op) { return op == FloatOp::Fma ? 3 : 2; }

// For float or double, to nearest.
template <FloatOp kOp, typename T, typename... C>
inline T nearest(T a, T b, C... c) {
  if constexpr (kOp == FloatOp::Add) return addNearest(a, b);
  if constexpr (kOp == FloatOp::Sub) return subNearest(a, b);
  if constexpr (kOp == FloatOp::Mul) return mulNearest(a, b);
  if constexpr (kOp == FloatOp::Fma) return fmaNearest(a, b, c...);
  if constexpr (kOp == FloatOp::Div) return divNearest(a, b);
}

template <FloatOp kOp, typename T, typename Mode, typename... C>
inline T directed(Mode mode, T a, T b, C... c) {
  if constexpr (kOp == FloatOp::Add) return exec::add(a, b, mode);
  if constexpr (kOp == FloatOp::Sub) return exec::sub(a, b, mode);
  if constexpr (kOp == FloatOp::Mul) return exec::mul(a, b, mode);
  if constexpr (kOp == FloatOp::Fma) return exec::fma(a, b, c..., mode);
  if constexpr (kOp == FloatOp::Div) return exec::div(a, b, mode);
}

template <FloatOp kOp, class Format, typename... C>
inline uint16_t half(HalfMode mode, uint16_t a, uint16_t b, C... c) {
  if constexpr (kOp == FloatOp::Add) return addHalf<Format>(a, b, mode);
  if constexpr (kOp == FloatOp::Sub) return subHalf<Format>(a, b, mode);
  if constexpr (kOp == FloatOp::Mul) return mulHalf<Format>(a, b, mode);
  if constexpr (kOp == FloatOp::Fma) return fmaHalf<Format>(a, b, c..., mode);
}

template <FloatOp kOp, unsigned kPerLane, bool kFtz, bool kSaturate>
Step nearestSingles(Warp& w, const Op& op, Mask active) {
  return mapNumbers<operandsOf(kOp), kPerLane, float>(w, op, active, [](auto... x) {
    float r = nearest<kOp>((kFtz ? flushSubnormal(x) : x)...);
    if constexpr (kFtz) r = flushSubnormal(r);
    return kSaturate ? saturate(r) : r;
  });
}

template <FloatOp kOp, unsigned kPerLane>
Step directedSingles(Warp& w, const Op& op, Mask active) {
  const FloatMode mode = floatMode(op);
  return mapNumbers<operandsOf(kOp), kPerLane, float>(w, op, active,
                                                      [mode](auto... x) { return directed<kOp>(mode, x...); });
}

template <FloatOp kOp>
Step nearestDoubles(Warp& w, const Op& op, Mask active) {
  return mapNumbers<operandsOf(kOp), 1, double>(w, op, active, [](auto... x) { return nearest<kOp>(x...); });
}

template <FloatOp kOp>
Step directedDoubles(Warp& w, const Op& op, Mask active) {
  const Rounding rounding = floatMode(op).rounding;
  return mapNumbers<operandsOf(kOp), 1, double>(w, op, active,
                                                [rounding](auto... x) { return directed<kOp>(rounding, x...); });
}

template <FloatOp kOp, class Format, unsigned kPerLane>
Step plainHalves(Warp& w, const Op& op, Mask active) {
  return mapNumbers<operandsOf(kOp), kPerLane, uint16_t>(w, op, active,
                                                         [](auto... x) { return half<kOp, Format>({}, x...); });
}

template <FloatOp kOp, class Format, unsigned kPerLane>
Step modifiedHalves(Warp& w, const Op& op, Mask active) {
  const HalfMode mode = halfMode(op);
  return mapNumbers<operandsOf(kOp), kPerLane, uint16_t>(
      w, op, active, [mode](auto... x) { return half<kOp, Format>(mode, x...); });
}

// The halves are widened exactly, so the operation is that of f32. args: d, a, c or d, a, b, c.
template <FloatOp kOp, class Format>
Step mixed(Warp& w, const Op& op, Mask active) {
  const FloatMode mode = floatMode(op);
  float* d = w.out<float>(op.args[0]);
  const uint16_t* a = w.in<uint16_t>(op.args[1]);
  if constexpr (kOp == FloatOp::Fma) {
    const uint16_t* b = w.in<uint16_t>(op.args[2]);
    const float* c = w.in<float>(op.args[3]);
    forEachLane(active, [=](unsigned i) { d[i] = fmaMixed<Format>(a[i], b[i], c[i], mode); });
  } else {
    const float* c = w.in<float>(op.args[2]);
    forEachLane(active, [=](unsigned i) {
      d[i] = kOp == FloatOp::Add ? addMixed<Format>(a[i], c[i], mode) : subMixed<Format>(a[i], c[i], mode);
    });
  }
  return Step::Next;
}

template <float (*f)(float, float, bool)>
Step approximateQuotients(Warp& w, const Op& op, Mask active) {
  const bool ftz = op.small[1] != 0;
  return mapNumbers<2, 1, float>(w, op, active, [ftz](float a, float b) { return f(a, b, ftz); });
}

// ---- choosing ----

template <FloatOp kOp, unsigned kPerLane>
Handler handlerForSingles(FloatMode mode) {
  if (mode.rounding != Rounding::Nearest) return directedSingles<kOp, kPerLane>;
  if (mode.ftz)
    return mode.sat ? nearestSingles<kOp, kPerLane, true, true> : nearestSingles<kOp, kPerLane, true, false>;
  return mode.sat ? nearestSingles<kOp, kPerLane, false, true> : nearestSingles<kOp, kPerLane, false, false>;
}

template <FloatOp kOp, class Format>
Handler handlerForHalves(bool plain, bool pair) {
  if (plain) return pair ? plainHalves<kOp, Format, 2> : plainHalves<kOp, Format, 1>;
  return pair ? modifiedHalves<kOp, Format, 2> : modifiedHalves<kOp, Format, 1>;
}

void setMode(Binder& b, Rounding rounding, bool ftz, bool sat, bool relu) {
  b.op().small[0] = static_cast<uint8_t>(rounding);
  b.op().small[1] = ftz;
  b.op().small[2] = static_cast<uint8_t>((sat ? kSat : 0) | (relu ? kRelu : 0));
}

template <FloatOp kOp>
void bindMixed(Binder& b, const FloatType& from, FloatMode mode) {
  if (!from.isHalf() || from.perLane != 1) b.unsupported("these two types");
  if (mode.ftz) b.unsupported(".ftz together with two types");
  b.dest(0, ScalarType::f32);
  for (unsigned i = 1; i < operandsOf(kOp); ++i) b.source(i, from.operand);
  b.source(operandsOf(kOp), ScalarType::f32);
  setMode(b, mode.rounding, false, mode.sat, false);
  b.handler(from.kind == FloatKind::Half ? mixed<kOp, F16> : mixed<kOp, Bf16>);
}

// Everything but div. `needsRounding`: the opcode may not leave it out.
template <FloatOp kOp>
void bindArithmetic(Binder& b, bool needsRounding, bool halves) {
  const std::optional<Rounding> given = takeRounding(b);
  if (needsRounding && !given) b.unsupported("a rounding (.rn, .rz, .rm, .rp) is needed");
  const Rounding rounding = given.value_or(Rounding::Nearest);
  const bool ftz = b.take("ftz"), sat = b.take("sat");
  const bool relu = kOp == FloatOp::Fma && b.take("relu");
  const FloatType type = needFloatType(b);
  if constexpr (kOp != FloatOp::Mul) {
    if (halves && type.kind == FloatKind::Single && type.perLane == 1 && !relu)
      if (const std::optional<FloatType> from = takeFloatType(b))
        return bindMixed<kOp>(b, *from, {rounding, ftz, sat});
  }
  if (type.isHalf() ? !halves || rounding != Rounding::Nearest : relu)
    b.unsupported("these modifiers with this type");
  if (ftz && (type.kind == FloatKind::Bfloat || type.kind == FloatKind::Double))
    b.unsupported(".ftz with this type");
  if (sat &&
      (type.kind == FloatKind::Bfloat || type.kind == FloatKind::Double || relu || type.operand == ScalarType::b64))
    b.unsupported(".sat with this type or .relu");
  if (!halves && type.perLane != 1) b.unsupported("packed types");
  bindFloats(b, type, operandsOf(kOp));
  setMode(b, rounding, ftz, sat, relu);
  const FloatMode mode{rounding, ftz, sat};
  const bool pair = type.perLane == 2;
  switch (type.kind) {
    case FloatKind::Half: return b.handler(handlerForHalves<kOp, F16>(!ftz && !sat && !relu, pair));
    case FloatKind::Bfloat: return b.handler(handlerForHalves<kOp, Bf16>(!relu, pair));
    case FloatKind::Single:
      return b.handler(pair ? handlerForSingles<kOp, 2>(mode) : handlerForSingles<kOp, 1>(mode));
    case FloatKind::Double:
      return b.handler(rounding == Rounding::Nearest ? nearestDoubles<kOp> : directedDoubles<kOp>);
  }
}

}  // namespace

void bindFloatAdd(Binder& b) { bindArithmetic<FloatOp::Add>(b, false, true); }
void bindFloatSub(Binder& b) { bindArithmetic<FloatOp::Sub>(b, false, true); }
void bindFloatMul(Binder& b) { bindArithmetic<FloatOp::Mul>(b, false, true); }
void bindFloatMad(Binder& b) { bindArithmetic<FloatOp::Fma>(b, true, false); }
void bindFloatFma(Binder& b) {
  if (b.has("oob")) b.unsupported(".oob");
  bindArithmetic<FloatOp::Fma>(b, true, true);
}

void bindFloatDiv(Binder& b) {
  const std::string_view approximate = b.takeOneOf({"approx", "full"});
  const std::optional<Rounding> rounding = takeRounding(b);
  if (approximate.empty() == !rounding.has_value()) b.unsupported("one of .approx, .full or a rounding is needed");
  const bool ftz = b.take("ftz");
  const FloatType type = needFloatType(b);
  bindFloats(b, type, 2);
  if (type.kind == FloatKind::Single && type.perLane == 1) {
    setMode(b, rounding.value_or(Rounding::Nearest), ftz, false, false);
    if (approximate == "approx") return b.handler(approximateQuotients<divApprox>);
    if (approximate == "full") return b.handler(approximateQuotients<divFull>);
    return b.handler(handlerForSingles<FloatOp::Div, 1>({*rounding, ftz, false}));
  }
  if (type.kind != FloatKind::Double || ftz || !rounding) b.unsupported("these modifiers with this type");
  setMode(b, *rounding, false, false, false);
  b.handler(*rounding == Rounding::Nearest ? nearestDoubles<FloatOp::Div> : directedDoubles<FloatOp::Div>);
}

}  // namespace ptxopt::exec
