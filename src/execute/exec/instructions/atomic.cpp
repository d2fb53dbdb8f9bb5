// atom and red: read, combine and write in one step, in global and shared memory.
//
// The lanes of a warp go in ascending order; the ISA leaves the order open. Blocks of a grid may run on several
// host threads, so that what may be global memory is changed by compare-and-swap of the host; the blocks of a
// cluster run on one, so shared memory needs none. Each element of a vector is changed on its own, as the ISA allows.
// atom yields, because spin locks are made of it.
// Declines: multimem.red and what ptxas refuses, such as .exch of f32.
#include "exec/instructions/atomic_operations.h"

#include <cstring>

#include "exec/block.h"
#include "exec/instructions/async_copy.h"
#include "exec/instructions/bitwise.h"
#include "exec/launch.h"
#include "exec/value/float_nearest.h"
#include "exec/value/float_sign.h"
#include "exec/value/half_arithmetic.h"

namespace ptxopt::exec {

namespace atomics {
namespace {

template <typename T>
constexpr T exchange(T, T b) {
  return b;
}
template <typename T>
constexpr T sum(T old, T b) {
  return old + b;
}
template <typename T>
constexpr T increment(T old, T b) {
  return old >= b ? 0 : old + 1;
}
template <typename T>
constexpr T decrement(T old, T b) {
  return old == 0 || old > b ? b : old - 1;
}
template <typename T, typename Number>
constexpr T least(T old, T b) {
  return static_cast<Number>(b) < static_cast<Number>(old) ? b : old;
}
template <typename T, typename Number>
constexpr T greatest(T old, T b) {
  return static_cast<Number>(b) > static_cast<Number>(old) ? b : old;
}

uint32_t sumF32(uint32_t old, uint32_t b) {
  return std::bit_cast<uint32_t>(addNearest(std::bit_cast<float>(old), std::bit_cast<float>(b)));
}
uint32_t sumF32Flushed(uint32_t old, uint32_t b) { return F32::flush(sumF32(F32::flush(old), F32::flush(b))); }
uint64_t sumF64(uint64_t old, uint64_t b) {
  return std::bit_cast<uint64_t>(addNearest(std::bit_cast<double>(old), std::bit_cast<double>(b)));
}
template <class Format>
uint16_t sumHalf(uint16_t old, uint16_t b) {
  return addHalf<Format>(old, b, {});
}
template <class Format, bool kMax>
uint16_t boundHalf(uint16_t old, uint16_t b) {
  return minMax<Format, kMax>(old, b, MinMaxMode{});
}
template <auto f>
uint32_t halves(uint32_t old, uint32_t b) {
  const uint32_t low = f(static_cast<uint16_t>(old), static_cast<uint16_t>(b));
  const uint32_t high = f(static_cast<uint16_t>(old >> 16), static_cast<uint16_t>(b >> 16));
  return low | high << 16;
}

template <typename T, auto f>
uint64_t change(std::byte* p, uint64_t operand, bool isConcurrent) {
  const auto b = static_cast<T>(operand);
  T old;
  if (!isConcurrent) {
    std::memcpy(&old, p, sizeof old);
    const T now = f(old, b);
    std::memcpy(p, &now, sizeof now);
    return old;
  }
  T* const place = reinterpret_cast<T*>(p);
  old = __atomic_load_n(place, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(place, &old, f(old, b), true, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
  }
  return old;
}

template <typename T, auto f, auto inShared = f>
constexpr Combination of() {
  return {sizeof(T), change<T, f>, change<T, inShared>};
}

using enum ScalarType;

struct Row {
  ScalarType type;
  std::string_view op;
  Combination combination;
};

constexpr Row kCombinations[] = {
    {b32, "and", of<uint32_t, bitAnd<uint32_t>>()},
    {b32, "or", of<uint32_t, bitOr<uint32_t>>()},
    {b32, "xor", of<uint32_t, bitXor<uint32_t>>()},
    {b32, "exch", of<uint32_t, exchange<uint32_t>>()},
    {b64, "and", of<uint64_t, bitAnd<uint64_t>>()},
    {b64, "or", of<uint64_t, bitOr<uint64_t>>()},
    {b64, "xor", of<uint64_t, bitXor<uint64_t>>()},
    {b64, "exch", of<uint64_t, exchange<uint64_t>>()},
    {u32, "add", of<uint32_t, sum<uint32_t>>()},
    {u32, "inc", of<uint32_t, increment<uint32_t>>()},
    {u32, "dec", of<uint32_t, decrement<uint32_t>>()},
    {u32, "min", of<uint32_t, least<uint32_t, uint32_t>>()},
    {u32, "max", of<uint32_t, greatest<uint32_t, uint32_t>>()},
    {s32, "add", of<uint32_t, sum<uint32_t>>()},
    {s32, "min", of<uint32_t, least<uint32_t, int32_t>>()},
    {s32, "max", of<uint32_t, greatest<uint32_t, int32_t>>()},
    {u64, "add", of<uint64_t, sum<uint64_t>>()},
    {u64, "min", of<uint64_t, least<uint64_t, uint64_t>>()},
    {u64, "max", of<uint64_t, greatest<uint64_t, uint64_t>>()},
    {s64, "add", of<uint64_t, sum<uint64_t>>()},
    {s64, "min", of<uint64_t, least<uint64_t, int64_t>>()},
    {s64, "max", of<uint64_t, greatest<uint64_t, int64_t>>()},
    {f32, "add", of<uint32_t, sumF32Flushed, sumF32>()},
    {f64, "add", of<uint64_t, sumF64>()},
    {f16, "add", of<uint16_t, sumHalf<F16>>()},
    {f16, "min", of<uint16_t, boundHalf<F16, false>>()},
    {f16, "max", of<uint16_t, boundHalf<F16, true>>()},
    {bf16, "add", of<uint16_t, sumHalf<Bf16>>()},
    {bf16, "min", of<uint16_t, boundHalf<Bf16, false>>()},
    {bf16, "max", of<uint16_t, boundHalf<Bf16, true>>()},
    {f16x2, "add", of<uint32_t, halves<sumHalf<F16>>>()},
    {f16x2, "min", of<uint32_t, halves<boundHalf<F16, false>>>()},
    {f16x2, "max", of<uint32_t, halves<boundHalf<F16, true>>>()},
    {bf16x2, "add", of<uint32_t, halves<sumHalf<Bf16>>>()},
    {bf16x2, "min", of<uint32_t, halves<boundHalf<Bf16, false>>>()},
    {bf16x2, "max", of<uint32_t, halves<boundHalf<Bf16, true>>>()},
};

}  // namespace

Combination findCombination(std::string_view op, ScalarType type) {
  for (const Row& row : kCombinations)
    if (row.type == type && row.op == op) return row.combination;
  return {};
}

__attribute__((target("cx16"))) UInt128 compareAndSwap128(std::byte* p, UInt128 expected, UInt128 desired) {
  return __sync_val_compare_and_swap(reinterpret_cast<UInt128*>(p), expected, desired);
}

void Reducer::operator()(std::byte* to, const std::byte* from, std::size_t size) const {
  for (std::size_t at = 0; at + bytes <= size; at += bytes) {
    uint64_t operand = 0;
    std::memcpy(&operand, from + at, bytes);
    change(to + at, operand, isConcurrent);
  }
}

Reducer findReducer(std::string_view op, ScalarType type, bool toShared) {
  const Combination c = findCombination(op, type);
  return {c.bytes, toShared ? c.inShared : c.inGlobal, !toShared};
}

}  // namespace atomics

std::string_view takeAtomicOperation(Binder& b, ScalarType type) {
  const std::string_view op = b.takeOneOf({"and", "or", "xor", "exch", "add", "inc", "dec", "min", "max"});
  const bool isHalf = type == ScalarType::f16 || type == ScalarType::bf16 || type == ScalarType::f16x2 ||
                      type == ScalarType::bf16x2;
  if (isHalf) b.take("noftz");
  return op;
}

namespace {

using namespace atomics;

constexpr unsigned kMostElements = 8;

struct AtomicAccess {
  Location place;
  unsigned count = 1;  // elements
  Combination combination;
};

// args: kResult ? d...; address; b...
template <typename T, bool kResult, bool kSingle>
Step combineLanes(Warp& w, const Op& op, Mask active) {
  const AtomicAccess& a = *static_cast<const AtomicAccess*>(op.data);
  const Combination combination = a.combination;
  const Space space = a.place.space;
  const OwnShared own(w);
  const bool parallel = w.block().launch().isParallel();
  const unsigned count = kSingle ? 1 : a.count, bytes = count * sizeof(T);
  T* results[kMostElements];
  const T* operands[kMostElements];
  for (unsigned e = 0; e < count; ++e) {
    if (kResult) results[e] = w.out<T>(op.args[e]);
    operands[e] = w.in<T>(op.args[(kResult ? count : 0) + 1 + e]);
  }
  forEachLane(active, [&](unsigned i) {
    const uint64_t address = a.place.address(w, i);
    std::byte* p = space == Space::Shared ? own.memory(i, address, bytes, bytes, Access::Atomic)
                                          : w.memory(space, i, address, bytes, bytes, Access::Atomic);
    const bool shared = isShared(space, address);
    const Change change = shared ? combination.inShared : combination.inGlobal;
    T b[kMostElements];  // all are read before a result is written: a register may be both
    for (unsigned e = 0; e < count; ++e) b[e] = operands[e][i];
    for (unsigned e = 0; e < count; ++e) {
      const auto old = static_cast<T>(change(p + e * sizeof(T), b[e], parallel && !shared));
      if (kResult) results[e][i] = old;
    }
  });
  return kResult ? Step::Yield : Step::Next;
}

// args: d, address, compare, swap
template <typename T>
Step compareAndSwap(Warp& w, const Op& op, Mask active) {
  const AtomicAccess& a = *static_cast<const AtomicAccess*>(op.data);
  forEachLane(active, [&](unsigned i) {
    std::byte* p = w.memory(a.place.space, i, a.place.address(w, i), sizeof(T), sizeof(T), Access::Atomic);
    T expected, desired;
    std::memcpy(&expected, w.in<T>(op.args[2]) + i, sizeof(T));
    std::memcpy(&desired, w.in<T>(op.args[3]) + i, sizeof(T));
    T old = expected;
    if constexpr (sizeof(T) == 16)
      old = compareAndSwap128(p, expected, desired);
    else
      __atomic_compare_exchange_n(reinterpret_cast<T*>(p), &old, desired, false, __ATOMIC_ACQ_REL,
                                  __ATOMIC_ACQUIRE);
    std::memcpy(w.out<T>(op.args[0]) + i, &old, sizeof(T));
  });
  return Step::Yield;
}

// args: d, address, b
Step exchange128(Warp& w, const Op& op, Mask active) {
  const AtomicAccess& a = *static_cast<const AtomicAccess*>(op.data);
  forEachLane(active, [&](unsigned i) {
    std::byte* p = w.memory(a.place.space, i, a.place.address(w, i), 16, 16, Access::Atomic);
    UInt128 b, seen = 0;
    std::memcpy(&b, w.in<UInt128>(op.args[2]) + i, sizeof b);
    for (;;) {
      const UInt128 old = compareAndSwap128(p, seen, b);
      if (old == seen) break;
      seen = old;
    }
    std::memcpy(w.out<UInt128>(op.args[0]) + i, &seen, sizeof seen);
  });
  return Step::Yield;
}

template <bool kResult, bool kSingle>
Handler chooseCombination(unsigned bytes) {
  switch (bytes) {
    case 2: return combineLanes<uint16_t, kResult, kSingle>;
    case 4: return combineLanes<uint32_t, kResult, kSingle>;
    case 8: return combineLanes<uint64_t, kResult, kSingle>;
    default: return nullptr;
  }
}

template <bool kResult>
Handler chooseCombination(unsigned bytes, unsigned count) {
  return count == 1 ? chooseCombination<kResult, true>(bytes) : chooseCombination<kResult, false>(bytes);
}

// Vectors of halves have up to eight elements, those of 32 bits up to four.
bool isVector(ScalarType type, unsigned count) {
  switch (type) {
    case f16:
    case bf16: return count <= kMostElements;
    case f16x2:
    case bf16x2:
    case f32: return count <= 4;
    default: return count == 1;
  }
}

void bind(Binder& b, bool hasResult) {
  takeOrdering(b);
  const Space space = takeSpace(b);
  if (space != Space::Global && space != Space::Shared && space != Space::Generic)
    b.unsupported("atomic access to this state space");
  const bool hasPolicy = takeCaching(b);
  const unsigned count = b.takeVector();
  const ScalarType type = b.takeType();
  const bool isCas = b.take("cas");
  const std::string_view operation = isCas ? std::string_view{} : takeAtomicOperation(b, type);

  std::size_t next = 0;
  if (hasResult) {
    std::size_t results = b.dests(next++, type).size();
    // `_` stands for a whole vector, too.
    if (results == 1 && b.shape(0) == Shape::Sink)
      for (; results < count; ++results) b.append(b.sink(static_cast<uint8_t>(memoryBytes(type))));
    if (results != count) b.unsupported("this number of results");
  }
  AtomicAccess access;
  access.place = Location(b.address(next++, space));
  if (b.sources(next++, type).size() != count) b.unsupported("this number of operands");
  if (isCas) b.source(next++, type);
  if (hasPolicy) b.ignore(next++);
  access.count = count;
  if (isVector(type, count)) access.combination = findCombination(operation, type);
  b.data(access);

  if (isCas) {
    if (!hasResult || count != 1) return;
    if (type == ScalarType::b16) b.handler(compareAndSwap<uint16_t>);
    if (type == ScalarType::b32) b.handler(compareAndSwap<uint32_t>);
    if (type == ScalarType::b64) b.handler(compareAndSwap<uint64_t>);
    if (type == ScalarType::b128) b.handler(compareAndSwap<UInt128>);
  } else if (type == ScalarType::b128) {
    if (operation == "exch" && hasResult && count == 1) b.handler(exchange128);
  } else {
    const unsigned bytes = access.combination.bytes;
    b.handler(hasResult             ? chooseCombination<true>(bytes, count)
              : operation == "exch" ? nullptr
                                    : chooseCombination<false>(bytes, count));
  }
}

}  // namespace

void bindAtom(Binder& b) { bind(b, true); }

void bindRed(Binder& b) {
  if (!b.take("async")) return bind(b, false);
  if (b.has("mmio")) return bind(b, false);  // no mbarrier says when: done at once
  bindAsyncReduction(b);
}

}  // namespace ptxopt::exec
