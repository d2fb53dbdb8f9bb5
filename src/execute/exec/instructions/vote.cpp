// vote, match, redux, activemask, elect: what the lanes that run an instruction together agree on.
#include <algorithm>
#include <bit>
#include <cmath>

#include "exec/binder.h"
#include "exec/lanes.h"
#include "exec/warp.h"

namespace ptxopt::exec {

namespace {

template <typename T>
void broadcast(Warp& w, const Arg& d, T value, Mask active) {
  T* const out = w.out<T>(d);
  forEachLane(active, [&](unsigned i) { out[i] = value; });
}

enum class Vote : uint8_t { All, Any, Uniform, Ballot };

// args: d, predicate
template <Vote kind>
Step vote(Warp& w, const Op& op, Mask active) {
  const Mask held = w.predicate(op.args[1]) & active;
  if constexpr (kind == Vote::Ballot) {
    broadcast<uint32_t>(w, op.args[0], held, active);
  } else {
    const bool r = kind == Vote::All ? held == active : kind == Vote::Any ? held != 0 : held == 0 || held == active;
    w.setPredicate(op.args[0], r ? kAllLanes : 0, active);
  }
  return Step::Next;
}

// args: d, a
template <typename T>
Step matchAny(Warp& w, const Op& op, Mask active) {
  const T* const a = w.in<T>(op.args[1]);
  uint32_t r[kLanes] = {};
  for (Mask rest = active; rest != 0;) {
    const T value = a[std::countr_zero(rest)];
    const Mask same = collectMask(rest, [&](unsigned i) { return a[i] == value; });
    forEachLane(same, [&](unsigned i) { r[i] = same; });
    rest &= ~same;
  }
  uint32_t* const d = w.out<uint32_t>(op.args[0]);
  forEachLane(active, [&](unsigned i) { d[i] = r[i]; });
  return Step::Next;
}

// args: d, p, a
template <typename T>
Step matchAll(Warp& w, const Op& op, Mask active) {
  const T* const a = w.in<T>(op.args[2]);
  const T value = a[std::countr_zero(active)];
  const bool same = collectMask(active, [&](unsigned i) { return a[i] == value; }) == active;
  broadcast<uint32_t>(w, op.args[0], same ? active : 0, active);
  w.setPredicate(op.args[1], same ? kAllLanes : 0, active);
  return Step::Next;
}

// args: d, a
template <typename T, auto f>
Step reduce(Warp& w, const Op& op, Mask active) {
  const T* const a = w.in<T>(op.args[1]);
  T r = a[std::countr_zero(active)];
  forEachLane(active & (active - 1), [&](unsigned i) { r = static_cast<T>(f(r, a[i])); });
  broadcast<T>(w, op.args[0], r, active);
  return Step::Next;
}

constexpr auto kAdd = [](uint32_t a, uint32_t b) { return a + b; };
constexpr auto kAnd = [](uint32_t a, uint32_t b) { return a & b; };
constexpr auto kOr = [](uint32_t a, uint32_t b) { return a | b; };
constexpr auto kXor = [](uint32_t a, uint32_t b) { return a ^ b; };
template <typename T>
T least(T a, T b) {
  return std::min(a, b);
}
template <typename T>
T most(T a, T b) {
  return std::max(a, b);
}

// Without .NaN a NaN loses against a number; -0 is below +0. The result of nothing but NaNs is the canonical one.
template <bool isMax, bool absolute, bool keepsNan>
Step reduceFloat(Warp& w, const Op& op, Mask active) {
  const float* const a = w.in<float>(op.args[1]);
  const auto read = [&](unsigned i) { return absolute ? std::fabs(a[i]) : a[i]; };
  const auto canonical = std::bit_cast<float>(0x7fffffffu);
  float r = canonical;
  bool any = false, nan = false;
  forEachLane(active, [&](unsigned i) {
    const float v = read(i);
    if (std::isnan(v)) {
      nan = true;
      return;
    }
    const bool better = !any || (isMax ? v > r : v < r) ||
                        (v == r && std::signbit(v) != std::signbit(r) && std::signbit(v) != isMax);
    if (better) r = v;
    any = true;
  });
  if (keepsNan && nan) r = canonical;
  broadcast<float>(w, op.args[0], r, active);
  return Step::Next;
}

Step activeMask(Warp& w, const Op& op, Mask active) {
  broadcast<uint32_t>(w, op.args[0], active, active);
  return Step::Next;
}

// args: d, p
Step elect(Warp& w, const Op& op, Mask active) {
  const auto leader = static_cast<uint32_t>(std::countr_zero(active));
  broadcast<uint32_t>(w, op.args[0], leader, active);
  w.setPredicate(op.args[1], Mask{1} << leader, active);
  return Step::Next;
}

template <bool isMax, bool absolute>
Handler floatReduction(bool nan) {
  return nan ? reduceFloat<isMax, absolute, true> : reduceFloat<isMax, absolute, false>;
}

}  // namespace

void bindVote(Binder& b) {
  const bool sync = b.take("sync");
  const std::string_view kind = b.takeOneOf({"all", "any", "uni", "ballot"});
  const ScalarType type = b.takeType();
  if (type != (kind == "ballot" ? ScalarType::b32 : ScalarType::pred)) b.unsupported("this type");
  b.dest(0, type);
  b.predicate(1);
  if (sync) {
    b.source(2, ScalarType::b32);
    b.collective(2);
  }
  b.handler(kind == "all"      ? vote<Vote::All>
            : kind == "any"    ? vote<Vote::Any>
            : kind == "uni"    ? vote<Vote::Uniform>
            : kind == "ballot" ? vote<Vote::Ballot>
                               : nullptr);
}

void bindMatch(Binder& b) {
  if (!b.take("sync")) b.unsupported("without .sync");
  const std::string_view kind = b.takeOneOf({"any", "all"});
  const ScalarType type = b.takeType();
  if (type != ScalarType::b32 && type != ScalarType::b64) b.unsupported("this type");
  const bool wide = type == ScalarType::b64;
  if (kind == "any") {
    b.dest(0, ScalarType::b32);
    b.source(1, type);
    b.source(2, ScalarType::b32);
    b.collective(2);
    b.handler(wide ? matchAny<uint64_t> : matchAny<uint32_t>);
  } else {
    b.pairDest(0, ScalarType::b32);
    b.pairPredicate(0);
    b.source(1, type);
    b.source(2, ScalarType::b32);
    b.collective(3);
    b.handler(kind != "all" ? nullptr : wide ? matchAll<uint64_t> : matchAll<uint32_t>);
  }
}

void bindRedux(Binder& b) {
  if (!b.take("sync")) b.unsupported("without .sync");
  const std::string_view kind = b.takeOneOf({"add", "min", "max", "and", "or", "xor"});
  const bool absolute = b.take("abs"), nan = b.take("NaN");
  const ScalarType type = b.takeType();
  b.dest(0, type);
  b.source(1, type);
  b.source(2, ScalarType::b32);
  b.collective(2);
  const bool isFloat = type == ScalarType::f32, isSigned = type == ScalarType::s32;
  if ((absolute || nan) && !isFloat) b.unsupported("this type");
  if (!isFloat && !isSigned && type != ScalarType::u32 && type != ScalarType::b32) b.unsupported("this type");
  Handler h = nullptr;
  if (isFloat) {
    if (kind == "min") h = absolute ? floatReduction<false, true>(nan) : floatReduction<false, false>(nan);
    if (kind == "max") h = absolute ? floatReduction<true, true>(nan) : floatReduction<true, false>(nan);
  } else if (kind == "add") {
    h = reduce<uint32_t, kAdd>;
  } else if (kind == "and") {
    h = reduce<uint32_t, kAnd>;
  } else if (kind == "or") {
    h = reduce<uint32_t, kOr>;
  } else if (kind == "xor") {
    h = reduce<uint32_t, kXor>;
  } else if (kind == "min") {
    h = isSigned ? reduce<int32_t, least<int32_t>> : reduce<uint32_t, least<uint32_t>>;
  } else if (kind == "max") {
    h = isSigned ? reduce<int32_t, most<int32_t>> : reduce<uint32_t, most<uint32_t>>;
  }
  b.handler(h);
}

void bindActivemask(Binder& b) {
  if (b.takeType() != ScalarType::b32) b.unsupported("this type");
  b.dest(0, ScalarType::b32);
  b.handler(activeMask);
}

void bindElect(Binder& b) {
  if (!b.take("sync")) b.unsupported("without .sync");
  b.pairDest(0, ScalarType::b32);
  b.pairPredicate(0);
  b.source(1, ScalarType::b32);
  b.collective(2);
  b.handler(elect);
}

}  // namespace ptxopt::exec
