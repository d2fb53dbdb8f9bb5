// Which bytes of local variables the accesses with an index may touch.
//
// What:       of each variable the bytes that indexed accesses of it may reach: what is apart from them may
//             become registers. Indexes of code that keeps its counters in memory are known only once those are
//             in registers, so the answer is found by assuming it.
// Algorithm:  the caller makes registers of all that no access is known to reach yet, and `widen` looks at the
//             result: ranges of the values that are added (value_range.h, scalar_evolution.h) say where each
//             access goes. When no access goes further than was assumed, that holds for the function itself: up
//             to the first access that went further, both would have computed the same, so that its address was
//             one of these. Else more is taken as reached, and the caller starts again.
// Invariants: what is reached only grows. An access outside of its variable has no meaning, so nothing goes
//             beyond.
// Cost:       nothing without such accesses; else the analyses of a function, for each round.
#pragma once

#include "analysis/addresses/local_addresses.h"
#include "passes/manager/pass.h"

namespace ptxopt {

class IndexedReach {
 public:
  // All must live as long as this.
  IndexedReach(const LocalAddresses& addresses, const PassContext& context, std::size_t variables)
      : addresses_(addresses), context_(context), reached_(variables) {}

  bool touches(VariableId v, int64_t begin, int64_t end) const;
  bool touchesAny(VariableId v) const { return !reached_[v.value].empty(); }
  // Whether accesses reach more than was known, as `f` is; then that is known.
  bool widen(const Function& f);
  // All bytes of variables with such accesses; whether that is more than was known.
  bool takeAll();

 private:
  struct Bytes {
    int64_t begin = 0, end = 0;
  };
  bool isOpen(VariableId v) const { return addresses_.whyPinned(v).empty(); }
  bool add(VariableId v, Bytes bytes);
  Bytes bytesOf(const IndexedAccess& access, Analyses& analyses) const;

  const LocalAddresses& addresses_;
  const PassContext& context_;
  std::vector<std::vector<Bytes>> reached_;  // by VariableId; apart, in no order
};

}  // namespace ptxopt
