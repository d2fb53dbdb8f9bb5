// atom and red: read, combine and write in one step, in global and shared memory.
//
// The lanes of a warp go in ascending order; the ISA leaves the order open. Blocks of a grid may run on several
// host threads, so that what may be global memory is changed by compare-and-swap of the host; the blocks of a
// cluster run on one, so shared memory needs none. Each element of a vector is changed on its own, as the ISA allows.
// atom yields, because spin locks are made of it.
// Declines: multimem.red and what ptxas refuses, such as .exch of f32.
#include "exec/block.h"
#include "exec/instructions/async_copy.h"
#include "exec/instructions/atomic_operations.h"
#include "exec/launch.h"
#include "support/int128.h"

namespace ptxopt::exec {

namespace atomics {

__attribute__((target("cx16"))) UInt128 compareAndSwap128(std::byte* p, UInt128 expected, UInt128 desired) {
  return __sync_val_compare_and_swap(reinterpret_cast<UInt128*>(p), expected, desired);
}

Reducer findReducer(std::string_view op, ScalarType type, bool toShared) {
  Reducer result = nullptr;
  withCombination(
      op, type, [&]<typename T, auto f, auto g>() {
        if (toShared) {
          result = [](std::byte* to, const std::byte* from, std::size_t bytes) {
            for (std::size_t at = 0; at + sizeof(T) <= bytes; at += sizeof(T)) {
              T b;
              std::memcpy(&b, from + at, sizeof b);
              combineAlone<T>(to + at, [b](T old) { return g(old, b); });
            }
          };
        } else {
          result = [](std::byte* to, const std::byte* from, std::size_t bytes) {
            for (std::size_t at = 0; at + sizeof(T) <= bytes; at += sizeof(T)) {
              T b;
              std::memcpy(&b, from + at, sizeof b);
              combine<T>(to + at, [b](T old) { return f(old, b); });
            }
          };
        }
      });
  return result;
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
};

// args: kResult ? d...; address; b...
template <typename T, auto fGlobal, auto fShared, unsigned kCount, bool kResult>
Step combineLanes(Warp& w, const Op& op, Mask active) {
  const AtomicAccess& a = *static_cast<const AtomicAccess*>(op.data);
  const Space space = a.place.space;
  const OwnShared own(w);
  const bool parallel = w.block().launch().isParallel();
  const Arg* d = op.args;
  const Arg* s = op.args + (kResult ? kCount : 0) + 1;
  forEachLane(active, [&](unsigned i) {
    const uint64_t address = a.place.address(w, i);
    constexpr unsigned kBytes = sizeof(T) * kCount;
    std::byte* p = space == Space::Shared ? own.memory(i, address, kBytes, kBytes, Access::Atomic)
                                          : w.memory(space, i, address, kBytes, kBytes, Access::Atomic);
    const bool shared = isShared(space, address);
    T b[kCount];
    for (unsigned e = 0; e < kCount; ++e) b[e] = w.in<T>(s[e])[i];
    for (unsigned e = 0; e < kCount; ++e) {
      const T operand = b[e];
      std::byte* const element = p + e * sizeof(T);
      const T old = shared     ? combineAlone<T>(element, [operand](T x) { return fShared(x, operand); })
                    : parallel ? combine<T>(element, [operand](T x) { return fGlobal(x, operand); })
                               : combineAlone<T>(element, [operand](T x) { return fGlobal(x, operand); });
      if constexpr (kResult) w.out<T>(d[e])[i] = old;
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

template <bool kResult>
Handler chooseCombination(std::string_view op, ScalarType type, unsigned count) {
  Handler h = nullptr;
  withCombination(
      op, type, [&]<typename T, auto f, auto g>() {
        if (count == 1) h = combineLanes<T, f, g, 1, kResult>;
        if (type == ScalarType::f16 || type == ScalarType::bf16) {
          if (count == 2) h = combineLanes<T, f, g, 2, kResult>;
          if (count == 4) h = combineLanes<T, f, g, 4, kResult>;
          if (count == 8) h = combineLanes<T, f, g, 8, kResult>;
        } else if (type == ScalarType::f16x2 || type == ScalarType::bf16x2 || type == ScalarType::f32) {
          if (count == 2) h = combineLanes<T, f, g, 2, kResult>;
          if (count == 4) h = combineLanes<T, f, g, 4, kResult>;
        }
      });
  return h;
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
    b.handler(hasResult             ? chooseCombination<true>(operation, type, count)
              : operation == "exch" ? nullptr
                                    : chooseCombination<false>(operation, type, count));
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
