// Loops over lanes: how a handler applies a function of values to the 32 lanes of its operands.
//
// Results are computed for all lanes when all are active, in a loop that the compiler vectorizes, and one by one
// otherwise. A destination may be one of the sources; lanes do not depend on each other, so that is fine, and
// `ivdep` says so. The functions must be defined for every value (inactive lanes hold anything, but are not
// computed).
#pragma once

#include <bit>

#include "exec/op.h"
#include "exec/warp.h"

namespace ptxopt::exec {

// Calls f(lane) for each active lane, lowest first.
template <typename F>
inline void forEachLane(Mask active, F&& f) {
  if (active == kAllLanes) {
    for (unsigned i = 0; i < kLanes; ++i) f(i);
    return;
  }
  for (; active != 0; active &= active - 1) f(static_cast<unsigned>(std::countr_zero(active)));
}

// The same for functions that the compiler may run in any order.
template <typename F>
inline void forEachLaneVectorized(Mask active, F&& f) {
  if (active == kAllLanes) {
#pragma GCC ivdep
    for (unsigned i = 0; i < kLanes; ++i) f(i);
    return;
  }
  for (; active != 0; active &= active - 1) f(static_cast<unsigned>(std::countr_zero(active)));
}

// d = f(a), of types D and A; args are d, a.
template <typename D, typename A, auto f>
Step unary(Warp& w, const Op& op, Mask active) {
  D* d = w.out<D>(op.args[0]);
  const A* a = w.in<A>(op.args[1]);
  forEachLaneVectorized(active, [=](unsigned i) { d[i] = static_cast<D>(f(a[i])); });
  return Step::Next;
}

// d = f(a, b); args are d, a, b.
template <typename D, typename A, typename B, auto f>
Step binary(Warp& w, const Op& op, Mask active) {
  D* d = w.out<D>(op.args[0]);
  const A* a = w.in<A>(op.args[1]);
  const B* b = w.in<B>(op.args[2]);
  forEachLaneVectorized(active, [=](unsigned i) { d[i] = static_cast<D>(f(a[i], b[i])); });
  return Step::Next;
}

// d = f(a, b, c); args are d, a, b, c.
template <typename D, typename A, typename B, typename C, auto f>
Step ternary(Warp& w, const Op& op, Mask active) {
  D* d = w.out<D>(op.args[0]);
  const A* a = w.in<A>(op.args[1]);
  const B* b = w.in<B>(op.args[2]);
  const C* c = w.in<C>(op.args[3]);
  forEachLaneVectorized(active, [=](unsigned i) { d[i] = static_cast<D>(f(a[i], b[i], c[i])); });
  return Step::Next;
}

// The lanes for which f(lane) holds, among the active ones.
template <typename F>
inline Mask collectMask(Mask active, F&& f) {
  Mask result = 0;
  if (active == kAllLanes) {
    for (unsigned i = 0; i < kLanes; ++i) result |= static_cast<Mask>(static_cast<bool>(f(i))) << i;
    return result;
  }
  for (; active != 0; active &= active - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(active));
    result |= static_cast<Mask>(static_cast<bool>(f(i))) << i;
  }
  return result;
}

}  // namespace ptxopt::exec
