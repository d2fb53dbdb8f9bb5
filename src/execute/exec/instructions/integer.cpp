// Integer sums, differences, quotients and extremes: add, sub, div, rem, abs, neg, min, max, sad.
//
// Meaning from the PTX ISA's chapter on integer arithmetic. Everything wraps, but for .sat. What the ISA leaves
// open is as in the code that ptxas makes: quotient and remainder by zero are all ones (it replaces both by the
// complement of the divisor, and folds both to -1 when the divisor is a constant 0), unless the launch asks for
// something else (LaunchConfig::unwritten). The most negative number divided by -1, or its absolute value, is
// itself.
//
// Computed in unsigned types, because overflow of signed ones is undefined in C++; narrow types are widened by hand
// for the same reason (the product of two uint16_t is an int).
//
// Declines forms that ptxas does not take, such as .sat of anything but s32. Floating-point types go to float.h's
// binders, .cc to carry.h's.
#include <cstring>

#include "exec/binder.h"
#include "exec/block.h"
#include "exec/instructions/carry.h"
#include "exec/instructions/float.h"
#include "exec/instructions/integer_types.h"
#include "exec/lanes.h"
#include "exec/launch.h"

namespace ptxopt::exec {

namespace {

using enum ScalarType;

template <typename T>
constexpr T sum(T a, T b) {
  return static_cast<T>(a + b);
}
template <typename T>
constexpr T difference(T a, T b) {
  return static_cast<T>(a - b);
}
constexpr uint32_t sumOfHalves(uint32_t a, uint32_t b) { return eachHalf<uint16_t>(a, b, sum<uint16_t>); }

constexpr int32_t saturatedSum(int32_t a, int32_t b) { return saturate<int32_t>(int64_t{a} + b); }
constexpr int32_t saturatedDifference(int32_t a, int32_t b) { return saturate<int32_t>(int64_t{a} - b); }

template <typename T>
constexpr T quotient(T a, T b) {
  if (b == 0) return static_cast<T>(~T{0});
  if constexpr (std::is_signed_v<T>)
    if (b == -1) return static_cast<T>(-static_cast<std::make_unsigned_t<T>>(a));
  return static_cast<T>(a / b);
}

template <typename T>
constexpr T remainder(T a, T b) {
  if (b == 0) return static_cast<T>(~T{0});
  if constexpr (std::is_signed_v<T>)
    if (b == -1) return 0;
  return static_cast<T>(a % b);
}

// A quotient or remainder; args are d, a, b.
template <typename T, auto f>
Step dividing(Warp& w, const Op& op, Mask active) {
  const T* const divisors = w.in<T>(op.args[2]);
  const Mask zeros = collectMask(active, [=](unsigned i) { return divisors[i] == 0; });
  const LaunchConfig& config = w.block().launch().config();
  binary<T, T, T, f>(w, op, active);
  if (zeros == 0 || config.unwritten == std::byte{0}) return Step::Next;
  T open;
  std::memset(&open, ~std::to_integer<int>(config.unwritten), sizeof open);
  T* const results = w.out<T>(op.args[0]);
  forEachLane(zeros, [=](unsigned i) { results[i] = open; });
  return Step::Next;
}

template <typename T>
constexpr T negated(T a) {
  return static_cast<T>(-static_cast<std::make_unsigned_t<T>>(a));
}
template <typename T>
constexpr T absolute(T a) {
  return a < 0 ? negated(a) : a;
}

template <typename T>
constexpr T smaller(T a, T b) {
  return a < b ? a : b;
}
template <typename T>
constexpr T larger(T a, T b) {
  return a > b ? a : b;
}
// .relu: what is negative becomes 0.
template <typename T>
constexpr T smallerNotNegative(T a, T b) {
  return larger<T>(smaller(a, b), 0);
}
template <typename T>
constexpr T largerNotNegative(T a, T b) {
  return larger<T>(larger(a, b), 0);
}

template <typename T, auto f>
constexpr uint32_t halves(uint32_t a, uint32_t b) {
  return eachHalf<T>(a, b, f);
}

// c + |a - b|
template <typename T>
constexpr T sumOfDifference(T a, T b, T c) {
  using U = std::make_unsigned_t<T>;
  const U distance =
      static_cast<U>(a < b ? static_cast<U>(b) - static_cast<U>(a) : static_cast<U>(a) - static_cast<U>(b));
  return static_cast<T>(static_cast<U>(c) + distance);
}

// u16x2 or s16x2, taken; the types have no entry of their own in types.def. None when there is neither.
ScalarType takePairOfHalves(Binder& b) {
  if (b.take("u16x2")) return u16;
  return b.take("s16x2") ? s16 : None;
}

// Chooses between handlers for a type and its packed form.
struct MinMax {
  bool isMax, relu;

  template <typename T>
  Handler scalar() const {
    if constexpr (std::is_same_v<T, int32_t>)
      if (relu) return isMax ? binary<T, T, T, largerNotNegative<T>> : binary<T, T, T, smallerNotNegative<T>>;
    return isMax ? binary<T, T, T, larger<T>> : binary<T, T, T, smaller<T>>;
  }
  template <typename T>
  Handler packed() const {
    using P = uint32_t;
    if constexpr (std::is_signed_v<T>)
      if (relu)
        return isMax ? binary<P, P, P, halves<T, largerNotNegative<T>>>
                     : binary<P, P, P, halves<T, smallerNotNegative<T>>>;
    return isMax ? binary<P, P, P, halves<T, larger<T>>> : binary<P, P, P, halves<T, smaller<T>>>;
  }
};

void bindMinMax(Binder& b, bool isMax) {
  const MinMax choice{isMax, b.take("relu")};
  if (const ScalarType half = takePairOfHalves(b); half != None) {
    if (choice.relu && half != s16) b.unsupported(".relu needs a signed type");
    bindUniform(b, b32, 2);
    b.handler(half == s16 ? choice.packed<int16_t>() : choice.packed<uint16_t>());
    return;
  }
  const ScalarType type = takeInteger(b);
  if (choice.relu && type != s32) b.unsupported(".relu needs .s32 or .s16x2");
  bindUniform(b, type, 2);
  b.handler(forInteger(b, type, [&]<typename T>(TypeTag<T>) { return choice.scalar<T>(); }));
}

}  // namespace

void bindAdd(Binder& b) {
  if (hasFloatType(b)) return bindFloatAdd(b);
  if (b.has("cc")) return bindAddWithCarryOut(b);
  if (takePairOfHalves(b) != None) {
    bindUniform(b, b32, 2);
    return b.handler(binary<uint32_t, uint32_t, uint32_t, sumOfHalves>);
  }
  if (b.take("sat")) {
    bindUniform(b, takeTypeOf(b, {s32}), 2);
    return b.handler(binary<int32_t, int32_t, int32_t, saturatedSum>);
  }
  const ScalarType type = takeInteger(b);
  bindUniform(b, type, 2);
  b.handler(forUnsigned(b, type, []<typename T>(TypeTag<T>) -> Handler { return binary<T, T, T, sum<T>>; }));
}

void bindSub(Binder& b) {
  if (hasFloatType(b)) return bindFloatSub(b);
  if (b.has("cc")) return bindSubWithCarryOut(b);
  if (b.take("sat")) {
    bindUniform(b, takeTypeOf(b, {s32}), 2);
    return b.handler(binary<int32_t, int32_t, int32_t, saturatedDifference>);
  }
  const ScalarType type = takeInteger(b);
  bindUniform(b, type, 2);
  b.handler(forUnsigned(b, type, []<typename T>(TypeTag<T>) -> Handler { return binary<T, T, T, difference<T>>; }));
}

void bindDiv(Binder& b) {
  if (hasFloatType(b)) return bindFloatDiv(b);
  const ScalarType type = takeInteger(b);
  bindUniform(b, type, 2);
  b.handler(forInteger(b, type, []<typename T>(TypeTag<T>) -> Handler { return dividing<T, quotient<T>>; }));
}

void bindRem(Binder& b) {
  const ScalarType type = takeInteger(b);
  bindUniform(b, type, 2);
  b.handler(forInteger(b, type, []<typename T>(TypeTag<T>) -> Handler { return dividing<T, remainder<T>>; }));
}

void bindAbs(Binder& b) {
  if (hasFloatType(b)) return bindFloatAbs(b);
  const ScalarType type = takeTypeOf(b, {s16, s32, s64});
  bindUniform(b, type, 1);
  b.handler(forInteger(b, type, []<typename T>(TypeTag<T>) -> Handler { return unary<T, T, absolute<T>>; }));
}

void bindNeg(Binder& b) {
  if (hasFloatType(b)) return bindFloatNeg(b);
  const ScalarType type = takeTypeOf(b, {s16, s32, s64});
  bindUniform(b, type, 1);
  b.handler(forInteger(b, type, []<typename T>(TypeTag<T>) -> Handler { return unary<T, T, negated<T>>; }));
}

void bindMin(Binder& b) {
  if (hasFloatType(b)) return bindFloatMin(b);
  bindMinMax(b, false);
}

void bindMax(Binder& b) {
  if (hasFloatType(b)) return bindFloatMax(b);
  bindMinMax(b, true);
}

void bindSad(Binder& b) {
  const ScalarType type = takeInteger(b);
  bindUniform(b, type, 3);
  b.handler(forInteger(b, type,
                       []<typename T>(TypeTag<T>) -> Handler { return ternary<T, T, T, T, sumOfDifference<T>>; }));
}

}  // namespace ptxopt::exec
