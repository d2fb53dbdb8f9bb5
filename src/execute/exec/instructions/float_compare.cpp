// Comparisons of floating-point numbers: setp and set.
//
//     setp.CmpOp{.BoolOp}{.ftz}.{f16, bf16, f32, f64} p{|q}, a, b{, c};   p, q as in compare.cpp
//     setp.CmpOp{.BoolOp}{.ftz}.{f16x2, bf16x2} p|q, a, b{, c};           p of the lower halves, q of the upper
//     ones set.CmpOp{.BoolOp}{.ftz}.dtype.stype d, a, b{, c};
// set writes all ones of the destination's width or 0, or 1.0 or 0.0 where dtype is a floating-point type; for the
// packed types each half by itself. lo, ls, hi and hs are for integers and declined.
#include "exec/value/float_compare.h"

#include "exec/instructions/compare.h"
#include "exec/instructions/float_lanes.h"
#include "exec/instructions/lane_masks.h"

namespace ptxopt::exec {

namespace {

using Comparison = FloatComparison;

// Lanes where the numbers in half kPart of kPerLane compare so.
template <class Format, Comparison kComparison, bool kFtz, unsigned kPerLane = 1, unsigned kPart = 0>
Mask compareLanes(const Warp& w, const Op& op, Mask active) {
  using Word = typename Format::Word;
  const Word* a = w.in<Word>(op.args[0]) + kPart;
  const Word* b = w.in<Word>(op.args[1]) + kPart;
  const auto holds = [=](unsigned i) {
    const Word x = a[i * kPerLane], y = b[i * kPerLane];
    if constexpr (kFtz) return compareFloat<Format, kComparison>(Format::flush(x), Format::flush(y));
    return compareFloat<Format, kComparison>(x, y);
  };
  if (active != kAllLanes) return collectMask(active, holds);
  // Without a branch, which collectVectorized has: float comparisons do not become selects by themselves.
  Mask result = 0;
  for (unsigned i = 0; i < kLanes; ++i) result |= (Mask{0} - static_cast<Mask>(holds(i))) & kLaneBit[i];
  return result;
}

// small[0] is the BoolOp; the predicate c, if there is one, is the last argument.
Mask combined(const Warp& w, const Op& op, Mask result) {
  const auto boolOp = static_cast<BoolOp>(op.small[0]);
  return boolOp == BoolOp::None ? result : combine(boolOp, result, w.predicate(op.args[op.argCount - 1]));
}

// args: a, b, p.
template <class Format, Comparison kComparison, bool kFtz>
Step setPredicate(Warp& w, const Op& op, Mask active) {
  w.setPredicate(op.args[2], compareLanes<Format, kComparison, kFtz>(w, op, active), active);
  return Step::Next;
}

// args: a, b, p, q, and c. p may be the same register as c.
template <class Format, Comparison kComparison, bool kFtz>
Step setPredicates(Warp& w, const Op& op, Mask active) {
  const Mask result = compareLanes<Format, kComparison, kFtz>(w, op, active);
  const Mask p = combined(w, op, result), q = combined(w, op, ~result);
  w.setPredicate(op.args[2], p, active);
  w.setPredicate(op.args[3], q, active);
  return Step::Next;
}

template <class Format, Comparison kComparison, bool kFtz>
Step setPredicatesOfHalves(Warp& w, const Op& op, Mask active) {
  const Mask p = combined(w, op, compareLanes<Format, kComparison, kFtz, 2, 0>(w, op, active));
  const Mask q = combined(w, op, compareLanes<Format, kComparison, kFtz, 2, 1>(w, op, active));
  w.setPredicate(op.args[2], p, active);
  w.setPredicate(op.args[3], q, active);
  return Step::Next;
}

// args: a, b, d, and c. data: what true is.
template <class Format, Comparison kComparison, bool kFtz, typename Result>
Step setNumber(Warp& w, const Op& op, Mask active) {
  const Mask result = combined(w, op, compareLanes<Format, kComparison, kFtz>(w, op, active));
  Result* d = w.out<Result>(op.args[2]);
  const auto yes = static_cast<Result>(*static_cast<const uint32_t*>(op.data));
  forEachLaneVectorized(active, [=](unsigned i) { d[i] = (result & kLaneBit[i]) != 0 ? yes : Result{0}; });
  return Step::Next;
}

template <class Format, Comparison kComparison, bool kFtz>
Step setHalves(Warp& w, const Op& op, Mask active) {
  const Mask low = combined(w, op, compareLanes<Format, kComparison, kFtz, 2, 0>(w, op, active));
  const Mask high = combined(w, op, compareLanes<Format, kComparison, kFtz, 2, 1>(w, op, active));
  uint32_t* d = w.out<uint32_t>(op.args[2]);
  const uint32_t yes = *static_cast<const uint32_t*>(op.data);
  forEachLaneVectorized(active, [=](unsigned i) {
    d[i] = ((low & kLaneBit[i]) != 0 ? yes : 0u) | ((high & kLaneBit[i]) != 0 ? yes << 16 : 0u);
  });
  return Step::Next;
}

enum class Form : uint8_t { Predicate, Predicates, PredicatesOfHalves, Word, Short, Halves };

template <class Format, Comparison kComparison, bool kFtz>
Handler handlerFor(Form form) {
  constexpr bool kHasHalves = sizeof(typename Format::Word) == 2;
  switch (form) {
    case Form::Predicate: return setPredicate<Format, kComparison, kFtz>;
    case Form::Predicates: return setPredicates<Format, kComparison, kFtz>;
    case Form::Word: return setNumber<Format, kComparison, kFtz, uint32_t>;
    case Form::Short: return setNumber<Format, kComparison, kFtz, uint16_t>;
    case Form::PredicatesOfHalves:
      if constexpr (kHasHalves) return setPredicatesOfHalves<Format, kComparison, kFtz>;
      break;
    case Form::Halves:
      if constexpr (kHasHalves) return setHalves<Format, kComparison, kFtz>;
      break;
  }
  return nullptr;
}

template <class Format>
Handler handlerFor(Form form, Comparison comparison, bool ftz) {
  return withComparison(comparison, [&](auto c) {
    if constexpr (std::is_same_v<Format, F16> || std::is_same_v<Format, F32>)
      if (ftz) return handlerFor<Format, decltype(c)::value, true>(form);
    return handlerFor<Format, decltype(c)::value, false>(form);
  });
}

Comparison takeComparison(Binder& b) {
  static constexpr std::pair<std::string_view, Comparison> kNames[] = {
      {"eq", Comparison::Eq},   {"ne", Comparison::Ne},   {"lt", Comparison::Lt},   {"le", Comparison::Le},
      {"gt", Comparison::Gt},   {"ge", Comparison::Ge},   {"equ", Comparison::Equ}, {"neu", Comparison::Neu},
      {"ltu", Comparison::Ltu}, {"leu", Comparison::Leu}, {"gtu", Comparison::Gtu}, {"geu", Comparison::Geu},
      {"num", Comparison::Num}, {"nan", Comparison::Nan},
  };
  for (const auto& n : kNames)
    if (b.take(n.first)) return n.second;
  b.unsupported("this comparison of floating-point numbers");
}

// Takes set's destination type, the first of the two, and says what true is there.
Form bindResult(Binder& b, const FloatType& from, ScalarType to) {
  using enum ScalarType;
  const bool pair = from.perLane == 2;
  if (pair && to != u32 && to != s32 && to != from.operand) b.unsupported("this destination type");
  b.dest(0, to);
  uint32_t& yes = b.data<uint32_t>(pair ? 0xFFFF : ~uint32_t{0});
  switch (to) {
    case u32:
    case s32: return pair ? Form::Halves : Form::Word;
    case f32: yes = 0x3F80'0000; return Form::Word;
    case u16:
    case s16: return Form::Short;
    case f16: yes = 0x3C00; return Form::Short;
    case bf16: yes = 0x3F80; return Form::Short;
    case f16x2: yes = 0x3C00; return Form::Halves;
    case bf16x2: yes = 0x3F80; return Form::Halves;
    default: b.unsupported("this destination type");
  }
}

}  // namespace

void bindFloatCompare(Binder& b, bool isSet) {
  const Comparison comparison = takeComparison(b);
  const BoolOp boolOp = takeBoolOp(b);
  const bool ftz = b.take("ftz");
  const ScalarType to = isSet ? b.takeType() : ScalarType::None;
  const FloatType from = needFloatType(b);
  if (ftz && (from.kind == FloatKind::Bfloat || from.kind == FloatKind::Double))
    b.unsupported(".ftz with this type");
  b.source(1, from.operand);
  b.source(2, from.operand);
  Form form = Form::Predicate;
  if (isSet) {
    form = bindResult(b, from, to);
  } else if (from.perLane == 2) {
    form = Form::PredicatesOfHalves;
    b.pairFirstPredicate(0);
    b.pairPredicate(0);
  } else {
    form = bindPredicates(b, boolOp) ? Form::Predicates : Form::Predicate;
  }
  if (boolOp != BoolOp::None) b.predicate(3);
  b.op().small[0] = static_cast<uint8_t>(boolOp);
  b.handler(forFormat(from.kind,
                      [&]<class Format>(FormatTag<Format>) { return handlerFor<Format>(form, comparison, ftz); }));
}

}  // namespace ptxopt::exec
