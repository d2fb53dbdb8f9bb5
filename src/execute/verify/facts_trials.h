// Trials that keep to what the user says of launches.
#pragma once

#include "ir/module.h"
#include "verify/input.h"

namespace ptxopt::verify {

// Moves sizes and scalars of a trial to where the facts on the kernel hold (Module::facts); without facts it stays as it is.
// A size that does not divide by the cluster takes the cluster with it, unless the kernel states that.
void keepToFacts(Trial& trial, const Module& module, const Function& kernel, const KernelUse& use,
                 const ShapeLimits& limits);

}  // namespace ptxopt::verify
