// cvt: conversions of numbers, of pairs and of quadruples of them.
//
//     cvt{.rnd}{.ftz}{.sat}{.relu}{.satfinite}.dtype.stype d, a;
//     cvt.rnd{.relu}{.satfinite}.{f16x2, bf16x2, fp8x2, fp6x2, e2m1x2, ue8m0x2}.f32 d, a, b;   and packed to packed
//     cvt.rs{.relu}{.satfinite}.{f16x2, bf16x2}.f32 d, a, b, rbits;
//     cvt.rs{.relu}.satfinite.{fp8x4, fp6x4, e2m1x4}.f32 d, {a, b, e, f}, rbits;
//     cvt.pack.sat.{u, s}{2, 4, 8, 16}.s32{.b32} d, a, b{, c};
// Registers may be wider than the types: of a source the low bits count, and a result is extended to the register,
// by its sign where its type is signed. What the conversions give is said in exec/value/convert*.h; those that
// programs do most have loops of their own here. Declines: what these functions decline; a rounding left out where
// the result may be inexact; .s2f6x2 and scaled forms.
#include "exec/value/convert.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "exec/binder.h"
#include "exec/lanes.h"
#include "exec/value/convert_fast.h"
#include "exec/value/convert_narrow.h"

namespace ptxopt::exec {

namespace {

using F = ScalarFormat;

// A type as it stands in the opcode: how many numbers, their format, and the type of their register.
struct ConvertType {
  std::string_view name;
  F format;
  unsigned count;
  ScalarType registerType;
};

constexpr ConvertType kTypes[] = {
    {"u8", F::U8, 1, ScalarType::u8},          {"s8", F::S8, 1, ScalarType::s8},
    {"u16", F::U16, 1, ScalarType::u16},       {"s16", F::S16, 1, ScalarType::s16},
    {"u32", F::U32, 1, ScalarType::u32},       {"s32", F::S32, 1, ScalarType::s32},
    {"u64", F::U64, 1, ScalarType::u64},       {"s64", F::S64, 1, ScalarType::s64},
    {"f16", F::F16, 1, ScalarType::f16},       {"bf16", F::BF16, 1, ScalarType::bf16},
    {"f32", F::F32, 1, ScalarType::f32},       {"f64", F::F64, 1, ScalarType::f64},
    {"tf32", F::TF32, 1, ScalarType::b32},     {"f16x2", F::F16, 2, ScalarType::b32},
    {"bf16x2", F::BF16, 2, ScalarType::b32},   {"e4m3x2", F::E4M3, 2, ScalarType::b16},
    {"e5m2x2", F::E5M2, 2, ScalarType::b16},   {"e2m3x2", F::E2M3, 2, ScalarType::b16},
    {"e3m2x2", F::E3M2, 2, ScalarType::b16},   {"e2m1x2", F::E2M1, 2, ScalarType::b8},
    {"ue8m0x2", F::UE8M0, 2, ScalarType::b16}, {"e4m3x4", F::E4M3, 4, ScalarType::b32},
    {"e5m2x4", F::E5M2, 4, ScalarType::b32},   {"e2m3x4", F::E2M3, 4, ScalarType::b32},
    {"e3m2x4", F::E3M2, 4, ScalarType::b32},   {"e2m1x4", F::E2M1, 4, ScalarType::b16},
};

const ConvertType& typeOf(const Binder& b, std::string_view name) {
  for (const ConvertType& t : kTypes)
    if (t.name == name) return t;
  b.unsupported(fmt::format(".{} is not a type it converts", name));
}

// f(T{}) for the unsigned type of a register's width.
template <typename Use>
Handler forWidth(const Binder& b, const Arg& a, Use&& use) {
  switch (a.bytes) {
    case 1: return use(uint8_t{});
    case 2: return use(uint16_t{});
    case 4: return use(uint32_t{});
    case 8: return use(uint64_t{});
    default: b.unsupported("a register of this width");
  }
}

// ---- scalars ----

struct Conversion {
  ConvertFunction function;
  ConvertMode mode;
};

template <typename D, typename S>
Step general(Warp& w, const Op& op, Mask active) {
  const auto& c = *static_cast<const Conversion*>(op.data);
  D* d = w.out<D>(op.args[0]);
  const S* a = w.in<S>(op.args[1]);
  forEachLane(active, [&](unsigned i) { d[i] = static_cast<D>(c.function(a[i], c.mode)); });
  return Step::Next;
}

template <typename N, typename S>
constexpr N narrowed(S a) {
  return static_cast<N>(a);
}

// Between integers without .sat: the low bits, as an N, extended by its sign.
template <typename N>
Handler integerHandler(const Binder& b, const Arg& to, const Arg& from) {
  return forWidth(b, to, [&](auto d) {
    return forWidth(b, from, [&](auto s) -> Handler {
      using D = decltype(d);
      using S = decltype(s);
      if constexpr (sizeof(N) > sizeof(D) || sizeof(N) > sizeof(S)) return nullptr;
      return unary<D, S, narrowed<N, S>>;
    });
  });
}

Handler integerHandler(const Binder& b, const ConvertType& to, const ConvertType& from, const Arg& d,
                       const Arg& s) {
  const unsigned toBits = integerBits(to.format), fromBits = integerBits(from.format);
  // A negative number of a narrow type is extended to an unsigned type, and that by zeros to the register.
  if (toBits > fromBits && isSigned(from.format) && !isSigned(to.format) && d.bytes * 8u > toBits) return nullptr;
  switch (toBits <= fromBits ? to.format : from.format) {
    case F::U8: return integerHandler<uint8_t>(b, d, s);
    case F::S8: return integerHandler<int8_t>(b, d, s);
    case F::U16: return integerHandler<uint16_t>(b, d, s);
    case F::S16: return integerHandler<int16_t>(b, d, s);
    case F::U32: return integerHandler<uint32_t>(b, d, s);
    case F::S32: return integerHandler<int32_t>(b, d, s);
    default: return integerHandler<uint64_t>(b, d, s);
  }
}

// A loop of its own for the commonest conversions of registers that are as wide as the types, otherwise nullptr.
Handler fastHandler(F to, F from, const ConvertMode& m) {
  if (m.ftz || m.sat || m.relu || m.satfinite || m.tiesAway) return nullptr;
  const std::pair types{to, from};
  const auto is = [&](F t, F f) { return types == std::pair{t, f}; };
  if (m.toIntegral) {
    if (m.rounding != Rounding::Zero) return nullptr;
    if (is(F::S32, F::F32)) return unary<int32_t, float, truncatedToS32>;
    if (is(F::U32, F::F32)) return unary<uint32_t, float, truncatedToU32>;
    return nullptr;
  }
  if (is(F::F32, F::F16)) return unary<uint32_t, uint16_t, floatFromHalf>;
  if (is(F::F32, F::BF16)) return unary<uint32_t, uint16_t, floatFromBfloat>;
  if (is(F::F64, F::F32)) return unary<double, float, widened>;
  if (is(F::F64, F::S32)) return unary<double, int32_t, static_cast<double (*)(int32_t)>(exactDouble)>;
  if (is(F::F64, F::U32)) return unary<double, uint32_t, static_cast<double (*)(uint32_t)>(exactDouble)>;
  if (m.rounding != Rounding::Nearest) return nullptr;
  if (is(F::F32, F::F64)) return unary<float, double, narrowedNearest>;
  if (is(F::F32, F::S32)) return unary<float, int32_t, static_cast<float (*)(int32_t)>(nearestFloat)>;
  if (is(F::F32, F::U32)) return unary<float, uint32_t, static_cast<float (*)(uint32_t)>(nearestFloat)>;
  if (is(F::F16, F::F32)) return unary<uint16_t, uint32_t, halfFromFloat>;
  if (is(F::BF16, F::F32)) return unary<uint16_t, uint32_t, bfloatFromFloat>;
  return nullptr;
}

// Whether PTX wants a rounding to be written. (Between f16 and bf16 ptxas does not.)
bool needsRounding(F to, F from) {
  if (isInteger(to)) return !isInteger(from);
  if (isInteger(from)) return true;
  const auto rank = [](F f) { return f == F::F64 ? 2 : f == F::F32 ? 1 : 0; };
  return !isWideFloat(to) || rank(to) < rank(from);
}

void bindScalar(Binder& b, const ConvertType& to, const ConvertType& from, const ConvertMode& mode, bool rounded) {
  if (!rounded && needsRounding(to.format, from.format)) b.unsupported("a rounding is needed");
  const ConvertFunction function = resolveConversion(from.format, to.format, mode);
  if (function == nullptr) b.unsupported("these modifiers with these types");
  const Arg d = b.looseDest(0, to.registerType);
  const Arg s = b.looseSource(1, from.registerType);
  if (isInteger(to.format) && isInteger(from.format) && !mode.sat)
    if (const Handler handler = integerHandler(b, to, from, d, s)) return b.handler(handler);
  if (d.bytes * 8u == info(to.registerType).bits && s.bytes * 8u == info(from.registerType).bits)
    if (const Handler handler = fastHandler(to.format, from.format, mode)) return b.handler(handler);
  b.data<Conversion>({function, mode});
  b.handler(forWidth(b, d, [&](auto dWord) {
    return forWidth(b, s, [&](auto sWord) -> Handler { return general<decltype(dWord), decltype(sWord)>; });
  }));
}

// ---- pairs and quadruples ----

// args: d, a, b.
template <typename D>
Step pairs(Warp& w, const Op& op, Mask active) {
  const auto& c = *static_cast<const PackedConversion*>(op.data);
  D* d = w.out<D>(op.args[0]);
  const uint32_t* a = w.in<uint32_t>(op.args[1]);
  const uint32_t* b = w.in<uint32_t>(op.args[2]);
  forEachLane(active, [&](unsigned i) { d[i] = static_cast<D>(c.pair(a[i], b[i])); });
  return Step::Next;
}

template <typename D, typename S>
Step packed(Warp& w, const Op& op, Mask active) {
  const auto& c = *static_cast<const PackedConversion*>(op.data);
  D* d = w.out<D>(op.args[0]);
  const S* a = w.in<S>(op.args[1]);
  forEachLane(active, [&](unsigned i) { d[i] = static_cast<D>(c.packed(a[i])); });
  return Step::Next;
}

uint32_t halves(uint32_t a, uint32_t b) { return static_cast<uint32_t>(halfFromFloat(a)) << 16 | halfFromFloat(b); }
uint32_t bfloats(uint32_t a, uint32_t b) {
  return static_cast<uint32_t>(bfloatFromFloat(a)) << 16 | bfloatFromFloat(b);
}

void bindPacked(Binder& b, const ConvertType& to, const ConvertType& from, const ConvertMode& mode, bool rounded) {
  if (!rounded) b.unsupported("a rounding is needed");
  const auto conversion = PackedConversion::resolve(from.format, to.format, mode);
  if (!conversion || from.count != (conversion->takesPair() ? 1 : 2))
    b.unsupported("these modifiers with these types");
  const Arg d = b.looseDest(0, to.registerType);
  if (conversion->takesPair()) {
    b.source(1, from.registerType);
    b.source(2, from.registerType);
    const bool plain = mode.rounding == Rounding::Nearest && !mode.relu && !mode.satfinite && d.bytes == 4;
    if (plain && to.format == F::F16) return b.handler(binary<uint32_t, uint32_t, uint32_t, halves>);
    if (plain && to.format == F::BF16) return b.handler(binary<uint32_t, uint32_t, uint32_t, bfloats>);
    b.data<PackedConversion>(*conversion);
    return b.handler(forWidth(b, d, [](auto word) -> Handler { return pairs<decltype(word)>; }));
  }
  const Arg s = b.source(1, from.registerType);
  b.data<PackedConversion>(*conversion);
  b.handler(forWidth(b, d, [&](auto dWord) {
    return forWidth(b, s, [&](auto sWord) -> Handler {
      if constexpr (sizeof(sWord) <= 4) return packed<decltype(dWord), decltype(sWord)>;
      return nullptr;
    });
  }));
}

struct Stochastic {
  F to;
  bool relu, satfinite;
};

// args: d, a, b, rbits.
Step stochasticPairs(Warp& w, const Op& op, Mask active) {
  const auto c = *static_cast<const Stochastic*>(op.data);
  const uint32_t* a = w.in<uint32_t>(op.args[1]);
  const uint32_t* b = w.in<uint32_t>(op.args[2]);
  const uint32_t* random = w.in<uint32_t>(op.args[3]);
  forEachLane(active, [&](unsigned i) {
    w.setValue(op.args[0], i, convertStochasticPair(c.to, a[i], b[i], random[i], c.relu, c.satfinite));
  });
  return Step::Next;
}

// args: d, a, b, e, f, rbits.
Step stochasticQuads(Warp& w, const Op& op, Mask active) {
  const auto c = *static_cast<const Stochastic*>(op.data);
  std::array<const uint32_t*, 4> from;
  for (unsigned k = 0; k < 4; ++k) from[k] = w.in<uint32_t>(op.args[1 + k]);
  const uint32_t* random = w.in<uint32_t>(op.args[5]);
  forEachLane(active, [&](unsigned i) {
    const std::array<uint32_t, 4> abef = {from[0][i], from[1][i], from[2][i], from[3][i]};
    w.setValue(op.args[0], i, convertStochasticQuad(c.to, abef, random[i], c.relu));
  });
  return Step::Next;
}

void bindStochastic(Binder& b, const ConvertType& to, const ConvertType& from, const ConvertMode& mode) {
  const bool half = to.format == F::F16 || to.format == F::BF16;
  const bool quad = to.count == 4 && isNarrowFloat(to.format) && mode.satfinite;
  if (from.format != F::F32 || mode.ftz || mode.sat || !(quad || (half && to.count == 2)))
    b.unsupported("these modifiers with these types");
  b.data<Stochastic>({to.format, mode.relu, mode.satfinite});
  b.looseDest(0, to.registerType);
  if (!quad) {
    b.source(1, from.registerType);
    b.source(2, from.registerType);
    b.source(3, ScalarType::b32);
    return b.handler(stochasticPairs);
  }
  if (b.sources(1, from.registerType).size() != 4) b.unsupported("four numbers are needed");
  b.source(2, ScalarType::b32);
  b.handler(stochasticQuads);
}

// ---- cvt.pack ----

// args: d, a, b, c.
template <unsigned kBits, bool kSigned>
Step packIntegers(Warp& w, const Op& op, Mask active) {
  uint32_t* d = w.out<uint32_t>(op.args[0]);
  const int32_t* a = w.in<int32_t>(op.args[1]);
  const int32_t* b = w.in<int32_t>(op.args[2]);
  const uint32_t* c = w.in<uint32_t>(op.args[3]);
  forEachLaneVectorized(active, [=](unsigned i) { d[i] = convertPack(a[i], b[i], c[i], kBits, kSigned); });
  return Step::Next;
}

void bindPack(Binder& b) {
  static constexpr struct {
    std::string_view name;
    Handler handler;
  } kForms[] = {{"u2", packIntegers<2, false>},   {"s2", packIntegers<2, true>},  {"u4", packIntegers<4, false>},
                {"s4", packIntegers<4, true>},    {"u8", packIntegers<8, false>}, {"s8", packIntegers<8, true>},
                {"u16", packIntegers<16, false>}, {"s16", packIntegers<16, true>}};
  if (!b.take("sat")) b.unsupported(".sat is needed");
  const std::vector<std::string_view> types = b.takeRest();
  const bool merges = types.size() == 3 && types[2] == "b32";
  if ((types.size() != 2 && !merges) || types[1] != "s32") b.unsupported("these types");
  for (const auto& form : kForms) {
    if (form.name != types[0]) continue;
    const bool wide = form.name.size() == 3;
    if (wide == merges) b.unsupported("these types");
    b.dest(0, ScalarType::b32);
    b.source(1, ScalarType::s32);
    b.source(2, ScalarType::s32);
    if (merges)
      b.source(3, ScalarType::b32);
    else
      b.append(b.constant(0, 4));
    return b.handler(form.handler);
  }
  b.unsupported("these types");
}

}  // namespace

void bindCvt(Binder& b) {
  if (b.take("pack")) return bindPack(b);
  static constexpr struct {
    std::string_view name;
    Rounding rounding;
    bool toIntegral, tiesAway;
  } kRoundings[] = {
      {"rn", Rounding::Nearest, false, false}, {"rz", Rounding::Zero, false, false},
      {"rm", Rounding::Down, false, false},    {"rp", Rounding::Up, false, false},
      {"rni", Rounding::Nearest, true, false}, {"rzi", Rounding::Zero, true, false},
      {"rmi", Rounding::Down, true, false},    {"rpi", Rounding::Up, true, false},
      {"rna", Rounding::Nearest, false, true},
  };
  ConvertMode mode;
  bool rounded = false;
  for (const auto& r : kRoundings) {
    if (!b.take(r.name)) continue;
    if (rounded) b.unsupported("two roundings");
    rounded = true;
    mode.rounding = r.rounding;
    mode.toIntegral = r.toIntegral;
    mode.tiesAway = r.tiesAway;
  }
  const bool stochastic = b.take("rs");
  mode.ftz = b.take("ftz");
  mode.sat = b.take("sat");
  mode.relu = b.take("relu");
  mode.satfinite = b.take("satfinite");
  const std::vector<std::string_view> types = b.takeRest();
  if (types.size() != 2) b.unsupported("this modifier");
  const ConvertType& to = typeOf(b, types[0]);
  const ConvertType& from = typeOf(b, types[1]);
  if (stochastic) {
    if (rounded) b.unsupported("two roundings");
    return bindStochastic(b, to, from, mode);
  }
  if (to.count == 1 && from.count == 1) return bindScalar(b, to, from, mode, rounded);
  if (to.count != 2) b.unsupported("these types");
  bindPacked(b, to, from, mode, rounded);
}

}  // namespace ptxopt::exec
