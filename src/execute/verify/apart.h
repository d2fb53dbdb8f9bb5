// Inputs like another one on which threads race less.
//
// A kernel in which every thread stores to the same place, or every block, leaves what the last of them computed: a
// difference there says nothing, because they race. One block, or one thread, may not race, and computes what the
// one that differed did if arrays begin with that one's elements. And a size of zero or one keeps threads from
// reading what others write.
#pragma once

#include <optional>
#include <vector>

#include "verify/input.h"
#include "verify/verify.h"

namespace ptxopt::verify {

// What is changed of an input.
struct Apart {
  bool oneThread = false;        // one block of one thread; otherwise one block
  std::size_t field = SIZE_MAX;  // of KernelUse::fields, a scalar that gets the value `bits`
  uint64_t bits = 0;
};

// Those for a kernel, the likely ones first.
std::vector<Apart> waysApart(const KernelUse& use, const VerifyOptions& options);

// False, and no change, where the trial is so already, or directives or the options do not allow it.
bool setApart(Trial& trial, const Apart& apart, const ShapeLimits& limits, const VerifyOptions& options);

// The trial changed in each of these ways; and with one thread that has what `writer` had.
std::vector<Trial> apartTrials(const Trial& trial, const std::vector<Apart>& ways,
                               const std::optional<TrialMemory::Writer>& writer, const ShapeLimits& limits,
                               const VerifyOptions& options);

}  // namespace ptxopt::verify
