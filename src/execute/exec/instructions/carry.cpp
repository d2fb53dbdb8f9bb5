// Arithmetic that reads or writes the carry flag: add.cc addc sub.cc subc mad.cc madc, of 32 and 64 bits.
//
// The flag is a predicate of the function, a bit for each lane, and as the machine has it: the carry out of a sum,
// where a - b is a + ~b + 1. So after a subtraction it is set when nothing was borrowed, and subc borrows when it
// is clear. The PTX ISA speaks of a borrow instead, which says the same of chains of additions and of chains of
// subtractions; where sub.cc is followed by addc, or add.cc by subc, what ptxas makes is this (it passes one
// predicate on, inverted nowhere). A mad's flag is the carry of its addition, with the half of the product that .lo
// or .hi takes as one summand. Declines .sat and 16-bit types, as ptxas does.
#include "exec/instructions/carry.h"

#include "exec/instructions/integer_types.h"
#include "exec/instructions/lane_masks.h"
#include "exec/warp.h"

namespace ptxopt::exec {

namespace {

using enum ScalarType;

// d = f(a, b, carry in, carry out) with args d, flag, sources...
template <typename U, bool kCarryIn, bool kCarryOut, bool kSubtract>
Step addWithCarry(Warp& w, const Op& op, Mask active) {
  U* d = w.out<U>(op.args[0]);
  const Mask flag = *w.in<Mask>(op.args[1]);
  const U* a = w.in<U>(op.args[2]);
  const U* b = w.in<U>(op.args[3]);
  const Mask carry = collectVectorized(active, [=](unsigned i) {
    const U in = kCarryIn && (flag & kLaneBit[i]) != 0 ? 1 : 0;
    const U x = a[i], y = b[i];
    if constexpr (kSubtract) {
      const U borrow = kCarryIn ? 1 - in : 0;
      const U partial = x - y;
      d[i] = partial - borrow;
      return (x >= y) & (partial >= borrow);
    } else {
      const U partial = x + y;
      const U sum = partial + in;
      d[i] = sum;
      return (partial < x) | (sum < partial);
    }
  });
  if (kCarryOut) w.setPredicate(op.args[1], carry, active);
  return Step::Next;
}

// d = half of a * b, plus c. T has the factors' sign, which matters for kHigh only.
template <typename T, bool kHigh, bool kCarryIn, bool kCarryOut>
Step madWithCarry(Warp& w, const Op& op, Mask active) {
  using U = std::make_unsigned_t<T>;
  U* d = w.out<U>(op.args[0]);
  const Mask flag = *w.in<Mask>(op.args[1]);
  const T* a = w.in<T>(op.args[2]);
  const T* b = w.in<T>(op.args[3]);
  const U* c = w.in<U>(op.args[4]);
  const Mask carry = collectVectorized(active, [=](unsigned i) {
    U product;
    if constexpr (kHigh)
      product = static_cast<U>((static_cast<Wide<T>>(a[i]) * static_cast<Wide<T>>(b[i])) >> (8 * sizeof(T)));
    else
      product = static_cast<U>(a[i]) * static_cast<U>(b[i]);
    const U in = kCarryIn && (flag & kLaneBit[i]) != 0 ? 1 : 0;
    const U partial = product + c[i];
    const U sum = partial + in;
    d[i] = sum;
    return (partial < product) | (sum < partial);
  });
  if (kCarryOut) w.setPredicate(op.args[1], carry, active);
  return Step::Next;
}

template <typename U, bool kSubtract>
Handler addHandler(bool carryIn, bool carryOut) {
  if (!carryIn) return addWithCarry<U, false, true, kSubtract>;
  return carryOut ? addWithCarry<U, true, true, kSubtract> : addWithCarry<U, true, false, kSubtract>;
}

template <typename T, bool kHigh>
Handler madHandler(bool carryIn, bool carryOut) {
  if (!carryIn) return madWithCarry<T, kHigh, false, true>;
  return carryOut ? madWithCarry<T, kHigh, true, true> : madWithCarry<T, kHigh, true, false>;
}

void bindOperands(Binder& b, ScalarType type, std::size_t sources) {
  b.dest(0, type);
  b.append(b.carry());
  for (std::size_t i = 1; i <= sources; ++i) b.source(i, type);
}

void bindAddition(Binder& b, bool subtract, bool carryIn) {
  const bool carryOut = b.take("cc");
  const ScalarType type = takeTypeOf(b, {u32, s32, u64, s64});
  bindOperands(b, type, 2);
  if (info(type).bits == 64)
    b.handler(subtract ? addHandler<uint64_t, true>(carryIn, carryOut)
                       : addHandler<uint64_t, false>(carryIn, carryOut));
  else
    b.handler(subtract ? addHandler<uint32_t, true>(carryIn, carryOut)
                       : addHandler<uint32_t, false>(carryIn, carryOut));
}

void bindProduct(Binder& b, bool carryIn) {
  const bool carryOut = b.take("cc");
  const std::string_view part = b.takeOneOf({"lo", "hi"});
  if (part.empty()) b.unsupported("it needs .lo or .hi");
  const ScalarType type = takeTypeOf(b, {u32, s32, u64, s64});
  bindOperands(b, type, 3);
  b.handler(forInteger(b, type, [&]<typename T>(TypeTag<T>) -> Handler {
    if constexpr (sizeof(T) == 2)
      return nullptr;
    else
      return part == "hi" ? madHandler<T, true>(carryIn, carryOut)
                          : madHandler<std::make_unsigned_t<T>, false>(carryIn, carryOut);
  }));
}

}  // namespace

void bindAddWithCarryOut(Binder& b) { bindAddition(b, false, false); }
void bindSubWithCarryOut(Binder& b) { bindAddition(b, true, false); }
void bindMadWithCarryOut(Binder& b) { bindProduct(b, false); }

void bindAddc(Binder& b) { bindAddition(b, false, true); }
void bindSubc(Binder& b) { bindAddition(b, true, true); }
void bindMadc(Binder& b) { bindProduct(b, true); }

}  // namespace ptxopt::exec
