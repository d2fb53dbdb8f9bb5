// What a pass that moves or replaces the values of one function asks for first: the base of its class.
#pragma once

#include "passes/manager/pass.h"

namespace ptxopt {

class FunctionPass {
 protected:
  FunctionPass(Function& f, PassContext& context)
      : f_(f),
        context_(context),
        module_(context.module),
        cfg_(context.analyses.cfg()),
        slots_(context.analyses.slotIndexes()) {}

  Function& f_;
  PassContext& context_;
  const Module& module_;
  const Cfg& cfg_;
  const SlotIndexes& slots_;
};

// With live intervals, which cost more than all of these.
class IntervalPass : protected FunctionPass {
 protected:
  IntervalPass(Function& f, PassContext& context)
      : FunctionPass(f, context), intervals_(context.analyses.liveIntervals()) {}

  const LiveIntervals& intervals_;
};

}  // namespace ptxopt
