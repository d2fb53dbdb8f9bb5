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
using CompareLanes = Mask (*)(const Warp& w, const Op& op, Mask active);

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

struct FloatComparisonData {
  CompareLanes compare = nullptr;  // the numbers, or the lower halves
  CompareLanes upper = nullptr;    // the upper halves, of packed types
  uint32_t yes = 0;                // set: what true is
};

const FloatComparisonData& dataOf(const Op& op) { return *static_cast<const FloatComparisonData*>(op.data); }

// small[0] is the BoolOp; the predicate c, if there is one, is the last argument.
Mask combined(const Warp& w, const Op& op, Mask result) {
  const auto boolOp = static_cast<BoolOp>(op.small[0]);
  return boolOp == BoolOp::None ? result : combine(boolOp, result, w.predicate(op.args[op.argCount - 1]));
}

// args: a, b, p.
Step setPredicate(Warp& w, const Op& op, Mask active) {
  w.setPredicate(op.args[2], dataOf(op).compare(w, op, active), active);
  return Step::Next;
}

// args: a, b, p, q, and c. p may be the same register as c.
Step setPredicates(Warp& w, const Op& op, Mask active) {
  const Mask result = dataOf(op).compare(w, op, active);
  const Mask p = combined(w, op, result), q = combined(w, op, ~result);
  w.setPredicate(op.args[2], p, active);
  w.setPredicate(op.args[3], q, active);
  return Step::Next;
}

Step setPredicatesOfHalves(Warp& w, const Op& op, Mask active) {
  const Mask p = combined(w, op, dataOf(op).compare(w, op, active));
  const Mask q = combined(w, op, dataOf(op).upper(w, op, active));
  w.setPredicate(op.args[2], p, active);
  w.setPredicate(op.args[3], q, active);
  return Step::Next;
}

// args: a, b, d, and c.
template <typename Result>
Step setNumber(Warp& w, const Op& op, Mask active) {
  const FloatComparisonData& c = dataOf(op);
  const Mask result = combined(w, op, c.compare(w, op, active));
  Result* d = w.out<Result>(op.args[2]);
  const auto yes = static_cast<Result>(c.yes);
  forEachLaneVectorized(active, [=](unsigned i) { d[i] = (result & kLaneBit[i]) != 0 ? yes : Result{0}; });
  return Step::Next;
}

Step setHalves(Warp& w, const Op& op, Mask active) {
  const FloatComparisonData& c = dataOf(op);
  const Mask low = combined(w, op, c.compare(w, op, active));
  const Mask high = combined(w, op, c.upper(w, op, active));
  uint32_t* d = w.out<uint32_t>(op.args[2]);
  const uint32_t yes = c.yes;
  forEachLaneVectorized(active, [=](unsigned i) {
    d[i] = ((low & kLaneBit[i]) != 0 ? yes : 0u) | ((high & kLaneBit[i]) != 0 ? yes << 16 : 0u);
  });
  return Step::Next;
}

template <class Format, bool kFtz>
void chooseComparison(FloatComparisonData& result, Comparison comparison, bool packed) {
  withComparison(comparison, [&](auto c) {
    constexpr Comparison kComparison = decltype(c)::value;
    if constexpr (sizeof(typename Format::Word) == 2) {
      if (packed) {
        result.compare = compareLanes<Format, kComparison, kFtz, 2, 0>;
        result.upper = compareLanes<Format, kComparison, kFtz, 2, 1>;
        return;
      }
    }
    result.compare = compareLanes<Format, kComparison, kFtz>;
  });
}

template <class Format>
void chooseComparison(FloatComparisonData& result, Comparison comparison, bool packed, bool ftz) {
  if constexpr (std::is_same_v<Format, F16> || std::is_same_v<Format, F32>)
    if (ftz) return chooseComparison<Format, true>(result, comparison, packed);
  chooseComparison<Format, false>(result, comparison, packed);
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
Handler bindResult(Binder& b, const FloatType& from, ScalarType to, uint32_t& yes) {
  using enum ScalarType;
  const bool pair = from.perLane == 2;
  const bool toPair = to == f16x2 || to == bf16x2;
  if (pair ? to != u32 && to != s32 && to != from.operand : toPair) b.unsupported("this destination type");
  b.dest(0, to);
  yes = pair ? 0xFFFF : ~uint32_t{0};
  switch (to) {
    case u32:
    case s32: return pair ? setHalves : setNumber<uint32_t>;
    case f32: yes = 0x3F80'0000; return setNumber<uint32_t>;
    case u16:
    case s16: return setNumber<uint16_t>;
    case f16: yes = 0x3C00; return setNumber<uint16_t>;
    case bf16: yes = 0x3F80; return setNumber<uint16_t>;
    case f16x2: yes = 0x3C00; return setHalves;
    case bf16x2: yes = 0x3F80; return setHalves;
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
  FloatComparisonData& comparing = b.data(FloatComparisonData{});
  Handler handler = setPredicate;
  if (isSet) {
    handler = bindResult(b, from, to, comparing.yes);
  } else if (from.perLane == 2) {
    handler = setPredicatesOfHalves;
    b.pairFirstPredicate(0);
    b.pairPredicate(0);
  } else if (bindPredicates(b, boolOp)) {
    handler = setPredicates;
  }
  if (boolOp != BoolOp::None) b.predicate(3);
  b.op().small[0] = static_cast<uint8_t>(boolOp);
  b.handler(forFormat(from.kind, [&]<class Format>(FormatTag<Format>) {
    chooseComparison<Format>(comparing, comparison, from.perLane == 2, ftz);
    return handler;
  }));
}

}  // namespace ptxopt::exec
