// Comparisons of integers: setp and set.
//
//     setp.CmpOp{.BoolOp}.type p{|q}, a, b{, c};    p = BoolOp(a CmpOp b, c), q = BoolOp(!(a CmpOp b), c)
//     set.CmpOp{.BoolOp}.dtype.type d, a, b{, c};   all ones or 1.0 where p would be true, otherwise 0
// Bit types know eq and ne; lo, ls, hi and hs are lt, le, gt and ge of unsigned types only.
#include "exec/instructions/compare.h"

#include "exec/instructions/integer_types.h"
#include "exec/instructions/lane_masks.h"

namespace ptxopt::exec {

namespace {

using enum ScalarType;

enum class Relation : uint8_t { Eq, Ne, Lt, Le, Gt, Ge };

template <Relation kRelation, typename T>
constexpr bool holds(T a, T b) {
  switch (kRelation) {
    case Relation::Eq: return a == b;
    case Relation::Ne: return a != b;
    case Relation::Lt: return a < b;
    case Relation::Le: return a <= b;
    case Relation::Gt: return a > b;
    case Relation::Ge: return a >= b;
  }
}

template <Relation kRelation, typename T>
Mask compareLanes(const Warp& w, const Arg& first, const Arg& second, Mask active) {
  const T* a = w.in<T>(first);
  const T* b = w.in<T>(second);
  return collectVectorized(active, [=](unsigned i) { return holds<kRelation>(a[i], b[i]); });
}

// args: a, b, p. What most comparisons are.
template <Relation kRelation, typename T>
Step setPredicate(Warp& w, const Op& op, Mask active) {
  w.setPredicate(op.args[2], compareLanes<kRelation, T>(w, op.args[0], op.args[1], active), active);
  return Step::Next;
}

// args: a, b, p, q, and c if small[0] is a BoolOp.
template <Relation kRelation, typename T>
Step setPredicates(Warp& w, const Op& op, Mask active) {
  const Mask result = compareLanes<kRelation, T>(w, op.args[0], op.args[1], active);
  const auto boolOp = static_cast<BoolOp>(op.small[0]);
  const Mask c = boolOp == BoolOp::None ? 0 : w.predicate(op.args[4]);
  w.setPredicate(op.args[2], combine(boolOp, result, c), active);
  w.setPredicate(op.args[3], combine(boolOp, ~result, c), active);
  return Step::Next;
}

// args: a, b, d, and c if small[0] is a BoolOp. data: what true is.
template <Relation kRelation, typename T>
Step setNumber(Warp& w, const Op& op, Mask active) {
  Mask result = compareLanes<kRelation, T>(w, op.args[0], op.args[1], active);
  const auto boolOp = static_cast<BoolOp>(op.small[0]);
  if (boolOp != BoolOp::None) result = combine(boolOp, result, w.predicate(op.args[3]));
  uint32_t* d = w.out<uint32_t>(op.args[2]);
  const uint32_t yes = *static_cast<const uint32_t*>(op.data);
  forEachLaneVectorized(active, [=](unsigned i) { d[i] = (result & kLaneBit[i]) != 0 ? yes : 0; });
  return Step::Next;
}

enum class Form : uint8_t { Predicate, Predicates, Number };

template <Relation kRelation, typename T>
Handler handlerFor(Form form) {
  switch (form) {
    case Form::Predicate: return setPredicate<kRelation, T>;
    case Form::Predicates: return setPredicates<kRelation, T>;
    case Form::Number: break;
  }
  return setNumber<kRelation, T>;
}

template <typename T>
Handler handlerFor(Form form, Relation relation) {
  switch (relation) {
    case Relation::Eq: return handlerFor<Relation::Eq, T>(form);
    case Relation::Ne: return handlerFor<Relation::Ne, T>(form);
    case Relation::Lt: return handlerFor<Relation::Lt, T>(form);
    case Relation::Le: return handlerFor<Relation::Le, T>(form);
    case Relation::Gt: return handlerFor<Relation::Gt, T>(form);
    case Relation::Ge: break;
  }
  return handlerFor<Relation::Ge, T>(form);
}

struct Comparison {
  Relation relation;
  bool ordered;       // not for bit types
  bool unsignedOnly;  // lo, ls, hi, hs
};

Comparison takeComparison(Binder& b) {
  static constexpr struct {
    std::string_view name;
    Comparison comparison;
  } kNames[] = {
      {"eq", {Relation::Eq, false, false}}, {"ne", {Relation::Ne, false, false}},
      {"lt", {Relation::Lt, true, false}},  {"le", {Relation::Le, true, false}},
      {"gt", {Relation::Gt, true, false}},  {"ge", {Relation::Ge, true, false}},
      {"lo", {Relation::Lt, true, true}},   {"ls", {Relation::Le, true, true}},
      {"hi", {Relation::Gt, true, true}},   {"hs", {Relation::Ge, true, true}},
  };
  for (const auto& n : kNames)
    if (b.take(n.name)) return n.comparison;
  b.unsupported("this comparison of integers");
}

bool isUnsigned(ScalarType type) { return type == u16 || type == u32 || type == u64; }
bool isBits(ScalarType type) { return type == b16 || type == b32 || type == b64; }

// The source type stands last.
bool comparesFloats(const Binder& b) {
  const std::string_view text = b.text();
  const std::string_view type = text.substr(text.rfind('.') + 1);
  return type == "f16" || type == "f16x2" || type == "bf16" || type == "bf16x2" || type == "f32" || type == "f64";
}

void bindCompare(Binder& b, bool isSet) {
  const Comparison comparison = takeComparison(b);
  const BoolOp boolOp = takeBoolOp(b);
  ScalarType dtype = None;
  if (isSet) dtype = takeTypeOf(b, {u32, s32, f32});
  const ScalarType type = takeTypeOf(b, {b16, b32, b64, u16, u32, u64, s16, s32, s64});
  if (comparison.ordered && isBits(type)) b.unsupported("only .eq and .ne know bit types");
  if (comparison.unsignedOnly && !isUnsigned(type)) b.unsupported("this comparison needs an unsigned type");

  b.source(1, type);
  b.source(2, type);
  Form form = Form::Number;
  if (isSet) {
    b.dest(0, dtype);
    b.data<uint32_t>(dtype == f32 ? 0x3F80'0000 : ~uint32_t{0});
  } else {
    form = bindPredicates(b, boolOp) ? Form::Predicates : Form::Predicate;
  }
  if (boolOp != BoolOp::None) b.predicate(3);
  b.op().small[0] = static_cast<uint8_t>(boolOp);
  b.handler(forInteger(b, type, [&]<typename T>(TypeTag<T>) { return handlerFor<T>(form, comparison.relation); }));
}

}  // namespace

void bindSetp(Binder& b) { comparesFloats(b) ? bindFloatCompare(b, false) : bindCompare(b, false); }
void bindSet(Binder& b) { comparesFloats(b) ? bindFloatCompare(b, true) : bindCompare(b, true); }

}  // namespace ptxopt::exec
