// Watching a launch: profiles and traces are made from these calls. An observed launch is slower.
#pragma once

#include <cstdint>

#include "exec/op.h"

namespace ptxopt::exec {

class Warp;
struct Routine;

class Observer {
 public:
  virtual ~Observer() = default;
  // Before an op is executed; `active` may be 0 (all guards false). `mask` are the lanes of the path.
  virtual void op(Warp& warp, const Routine& routine, const Op& op, Mask mask, Mask active) = 0;
  // After it, results written.
  virtual void after(Warp&, const Routine&, const Op&, Mask /*active*/) {}
};

}  // namespace ptxopt::exec
