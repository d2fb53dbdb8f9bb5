// divide: divisions in terms of cheaper operations.
//
// ptxas makes 14 to 25 machine instructions of a division of 32 bits, also by a constant, and calls routines for 16
// and 64 bits and for floats. First the divisions that can be replaced one by one (divide/by_constants.h), then
// those that share a reciprocal (divide/by_reciprocals.h), to which the first step adds: those of 16 and 64 bits
// that fit in 32. Declines: too-large; constant, zero-divisor, variable-divisor, no-power-of-two,
// subnormal-reciprocal; single-division, invariant-dividend, divisor-not-available, no-preheader,
// register-pressure, too-many.
#include "passes/arithmetic/divide/by_constants.h"
#include "passes/arithmetic/divide/by_reciprocals.h"
#include "passes/arithmetic/divide/division.h"
#include "passes/manager/pass.h"

namespace ptxopt {
namespace {

bool dividesAnywhere(const Module& module, const Function& f) {
  for (const InstrId id : f)
    if (f[id].isInstruction() && division::isDivision(module.form(f[id]))) return true;
  return false;
}

}  // namespace

bool divide(Function& f, PassContext& context) {
  if (!dividesAnywhere(context.module, f)) return false;
  if (!context.hasUsableIntervals()) return false;
  const bool changed = division::replaceSingle(f, context);
  if (changed) context.analyses.invalidate();
  return division::replaceByReciprocals(f, context) || changed;
}

}  // namespace ptxopt
