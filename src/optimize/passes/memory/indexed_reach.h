// Which bytes of local variables the accesses with an index may touch.
//
// What:       for each variable the bytes that its indexed accesses may reach; the other bytes may become
//             registers. Unoptimized code keeps its loop counters in memory too, and an index is known only
//             once the counters are in registers. So the result is assumed first, and then checked.
// Algorithm:  the caller puts all bytes into registers that no access is known to reach yet, in a copy of the
//             function. `widen` asks there, by ranges of the added values (value_range.h, scalar_evolution.h),
//             where each access goes. If none goes further than was assumed, that holds for the function itself:
//             up to a first access that goes further both compute the same, so the copy would show it, too.
//             Otherwise the reached bytes grow, and the caller starts again.
// Invariants: the reached bytes only grow. An access outside of its variable has no defined meaning, so they end
//             at the variable's end.
// Cost:       nothing without such accesses; else the analyses of a function, for each iteration in which part of a
//             variable is not known to be reached.
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
  // Whether more of the variable may become known to be reached.
  bool isOpen(VariableId v) const;
  bool add(VariableId v, Bytes bytes);
  Bytes bytesOf(const IndexedAccess& access, Analyses& analyses) const;

  const LocalAddresses& addresses_;
  const PassContext& context_;
  std::vector<std::vector<Bytes>> reached_;  // by VariableId; apart, in no order
};

}  // namespace ptxopt
