// The test at the entry of a kernel that has several bodies.
#pragma once

#include "ir/kernel_version.h"
#include "ir/module.h"

namespace ptxopt {

// Puts the test before `where`, at the entry of the kernel; the predicate is true where a launch has what the test says.
// The test is not empty.
RegId emitEntryTest(const Module& module, Function& f, InstrId where, const EntryTest& test);

// Whether the test shows that some number is exact.
bool hasExactNumber(const EntryTest& test);
// Code in a body that is reached by the test alone: a register of 32 bits that is 0 without ptxas knowing it.
RegId emitZero(const Module& module, Function& f, InstrId where, const EntryTest& test);

}  // namespace ptxopt
