// Floating-point functions of one operand: rcp, sqrt, rsqrt, sin, cos, lg2, ex2, tanh.
//
//     rcp, sqrt.{approx, rnd}{.ftz}.f32, rcp, sqrt.rnd.f64, rcp.approx.ftz.f64
//     rsqrt.approx{.ftz}.{f32, f64}, sin, cos, lg2, ex2.approx{.ftz}.f32, tanh.approx.f32
//     ex2.approx.{f16, f16x2}, ex2.approx.ftz.{bf16, bf16x2}, tanh.approx.{f16, f16x2, bf16, bf16x2}
// What the approximate ones give is said in approximate.h.
#include "exec/instructions/float_lanes.h"
#include "exec/value/approximate.h"
#include "exec/value/float_nearest.h"

namespace ptxopt::exec {

namespace {

template <float (*f)(float, bool)>
Step approximateSingles(Warp& w, const Op& op, Mask active) {
  const bool ftz = op.small[1] != 0;
  return mapNumbers<1, 1, float>(w, op, active, [ftz](float a) { return f(a, ftz); });
}

template <unsigned kPerLane, auto f>
Step mapped(Warp& w, const Op& op, Mask active) {
  using Number = decltype(f({}));
  return mapNumbers<1, kPerLane, Number>(w, op, active, [](Number a) { return f(a); });
}

template <float (*f)(float, FloatMode)>
Step roundedSingles(Warp& w, const Op& op, Mask active) {
  const FloatMode mode = floatMode(op);
  return mapNumbers<1, 1, float>(w, op, active, [mode](float a) { return f(a, mode); });
}

template <double (*f)(double, Rounding)>
Step roundedDoubles(Warp& w, const Op& op, Mask active) {
  const Rounding rounding = floatMode(op).rounding;
  return mapNumbers<1, 1, double>(w, op, active, [rounding](double a) { return f(a, rounding); });
}

// The commonest: 1 / a to nearest and its like.
inline float reciprocal(float a) { return divNearest(1.0f, a); }
inline float root(float a) { return sqrtNearest(a); }

struct Opcode {
  bool approximate;
  std::optional<Rounding> rounding;
  bool ftz;
  FloatType type;
  bool isPlainNearest() const { return rounding == Rounding::Nearest && !ftz; }
};

// Everything that these opcodes are made of; operands and Op::small too.
Opcode bindOpcode(Binder& b) {
  const bool approximate = b.take("approx");
  const std::optional<Rounding> rounding = takeRounding(b);
  const bool ftz = b.take("ftz");
  const Opcode opcode{approximate, rounding, ftz, needFloatType(b)};
  if (approximate == rounding.has_value()) b.unsupported("either .approx or a rounding is needed");
  b.op().small[0] = static_cast<uint8_t>(rounding.value_or(Rounding::Nearest));
  b.op().small[1] = ftz;
  bindFloats(b, opcode.type, 1);
  return opcode;
}

bool isSingle(const Opcode& o) { return o.type.kind == FloatKind::Single && o.type.perLane == 1; }
bool isDouble(const Opcode& o) { return o.type.kind == FloatKind::Double; }

[[noreturn]] void refuse(Binder& b) { b.unsupported("these modifiers with this type"); }

template <float (*f)(float, bool)>
void bindApproximate(Binder& b) {
  const Opcode o = bindOpcode(b);
  if (!isSingle(o) || !o.approximate) refuse(b);
  b.handler(approximateSingles<f>);
}

}  // namespace

void bindRcp(Binder& b) {
  const Opcode o = bindOpcode(b);
  if (isSingle(o)) {
    if (o.approximate) return b.handler(approximateSingles<rcpApprox>);
    return b.handler(o.isPlainNearest() ? mapped<1, reciprocal> : roundedSingles<exec::rcp>);
  }
  if (!isDouble(o) || o.approximate != o.ftz) refuse(b);
  b.handler(o.approximate ? mapped<1, rcpApproxFtz> : roundedDoubles<exec::rcp>);
}

void bindSqrt(Binder& b) {
  const Opcode o = bindOpcode(b);
  if (isSingle(o)) {
    if (o.approximate) return b.handler(approximateSingles<sqrtApprox>);
    return b.handler(o.isPlainNearest() ? mapped<1, root> : roundedSingles<exec::sqrt>);
  }
  if (!isDouble(o) || o.approximate || o.ftz) refuse(b);
  b.handler(roundedDoubles<exec::sqrt>);
}

void bindRsqrt(Binder& b) {
  const Opcode o = bindOpcode(b);
  if (!o.approximate || (!isSingle(o) && !isDouble(o))) refuse(b);
  if (isSingle(o)) return b.handler(approximateSingles<rsqrtApprox>);
  b.handler(o.ftz ? mapped<1, rsqrtApproxFtz> : mapped<1, static_cast<double (*)(double)>(rsqrtApprox)>);
}

void bindSin(Binder& b) { bindApproximate<sinApprox>(b); }
void bindCos(Binder& b) { bindApproximate<cosApprox>(b); }
void bindLg2(Binder& b) { bindApproximate<lg2Approx>(b); }

void bindEx2(Binder& b) {
  const Opcode o = bindOpcode(b);
  if (!o.approximate) refuse(b);
  if (isSingle(o)) return b.handler(approximateSingles<ex2Approx>);
  const bool pair = o.type.perLane == 2;
  if (o.type.kind == FloatKind::Half && !o.ftz)
    return b.handler(pair ? mapped<2, ex2ApproxF16> : mapped<1, ex2ApproxF16>);
  if (o.type.kind != FloatKind::Bfloat || !o.ftz) refuse(b);
  b.handler(pair ? mapped<2, ex2ApproxFtzBf16> : mapped<1, ex2ApproxFtzBf16>);
}

void bindTanh(Binder& b) {
  const Opcode o = bindOpcode(b);
  if (!o.approximate || o.ftz) refuse(b);
  if (isSingle(o)) return b.handler(mapped<1, tanhApprox>);
  const bool pair = o.type.perLane == 2;
  if (o.type.kind == FloatKind::Half) return b.handler(pair ? mapped<2, tanhApproxF16> : mapped<1, tanhApproxF16>);
  if (o.type.kind != FloatKind::Bfloat) refuse(b);
  b.handler(pair ? mapped<2, tanhApproxBf16> : mapped<1, tanhApproxBf16>);
}

}  // namespace ptxopt::exec
