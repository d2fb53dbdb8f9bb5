#include "verify/fields.h"

#include <optional>

#include "verify/field_facts.h"

namespace ptxopt::verify {
namespace {

// Nothing where loads seem to bring too many pointers.
std::optional<KernelUse> findUse(const FieldContext& context, bool followsLoads) {
  FieldFacts facts;
  const auto& routines = context.program.routines();
  for (const auto& r : routines) facts.functions.try_emplace(r->function, *r->function);
  for (const auto& r : routines) collectReads(context, *r->function, facts);
  if (!propagateFields(context, followsLoads, facts)) return std::nullopt;
  for (const auto& r : routines) findAccesses(context, *r->function, facts);
  return resultOf(context, facts);
}

}  // namespace

KernelUse findUse(const Module& module, const Function& kernel, const exec::Program& program) {
  const FieldContext context{module, kernel, program};
  if (auto use = findUse(context, true)) return *std::move(use);
  return findUse(context, false).value();
}

}  // namespace ptxopt::verify
