// The bodies that calls may be replaced by, and the rule that says which calls.
//
// What:       before any pass changes a function, the functions that are called are copied, those first that
//             call no other: so the copies have the bodies of what they call in them, and may be read while
//             passes work on the functions themselves, in any order and on several threads.
// Rule:       a body of at most `inline-size` instructions goes to all calls, one of at most `inline-once-size`
//             where its caller has one call of it. Only those count that ptxas has work with: not moves,
//             branches, returns, and accesses of parameters and of the function's own frame, which
//             sroa takes away. A function grows to kMostInstructions.
// Cost:       nothing in a module without calls; else linear in what is called and in what is copied.
// Declines:   by callee: no-body, weak (where `inline-weak` is 0), recursive, calls (it calls what has no body to
//             put there, or through a pointer), register-parameters, narrow-number-store (ir/stored_numbers.h),
//             static-variable (of shared or global memory, which is there once), branch-table, prototype,
//             unknown-opcode, stack (alloca and what belongs to it), parameter-access (one that local memory does not
//             have), too-deep; by call: too-large, function-too-large, pointer (called through one), and the reasons of
//             call_inliner.h.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "ir/module.h"
#include "passes/manager/knobs.h"

namespace ptxopt {

// What a call of a function may be replaced by.
struct CallBody {
  std::shared_ptr<const Function> body;  // as it was before any pass, with the bodies of what it calls in it
  std::string_view whyNot;               // where there is none
  uint32_t size = 0;                     // instructions that ptxas has work with
};

// For all functions, by Function::index; empty in a module without calls.
struct CallBodies {
  std::vector<CallBody> functions;
};
CallBodies makeCallBodies(const Module& module, const Knobs& knobs);

// Replaces the calls of a function that the rule says; how many. `decline` is called for the others: why, and the
// callee.
using CallDecline = std::function<void(std::string_view why, NameId callee)>;
uint64_t replaceCalls(Function& f, const Module& module, const CallBodies& bodies, const Knobs& knobs,
                      const CallDecline& decline);

}  // namespace ptxopt
