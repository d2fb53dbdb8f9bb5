// The test at the entry of a kernel that has several bodies.
#pragma once

#include <optional>

#include "analysis/manager/analyses.h"
#include "ir/kernel_version.h"
#include "ir/module.h"
#include "passes/manager/knobs.h"

namespace ptxopt {

// A condition of memory that a body may rely on: `condition` tests it, `pointers`, by the kernel's parameters in their order,
// is what it shows. Of parameters of which it shows nothing the entry is empty.
struct MemoryCondition {
  EntryCondition condition;
  std::vector<PointerFact> pointers;
};

// What finds such a condition; none where there is none worth a test. `f` is the kernel before ApplyFacts.
using MemoryConditionFinder = std::optional<MemoryCondition> (*)(const Module& module, const Function& f,
                                                                 Analyses& analyses, const Knobs& knobs,
                                                                 const LaunchClass& launches);

// Puts the test before `where`, at the entry of the kernel; the predicate is true where a launch has what the test says.
// The test is not empty.
RegId emitEntryTest(const Module& module, Function& f, InstrId where, const EntryTest& test);

// Whether the test shows that some number is exact.
bool hasExactNumber(const EntryTest& test);
// Code in a body that is reached by the test alone: a register of 32 bits that is 0, of which ptxas does not know it.
RegId emitZero(const Module& module, Function& f, InstrId where, const EntryTest& test);

}  // namespace ptxopt
