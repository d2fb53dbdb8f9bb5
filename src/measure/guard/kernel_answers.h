// The figures of kernels, each kept for itself: a file with one changed kernel asks ptxas about that one.
//
// ptxas compiles each function by itself (tests/cli/guard/cut.py), so that the figures of a kernel and of the functions
// that it reaches depend on these, on what stands outside of functions, and on how ptxas is called. That does not hold
// where an address of a function is taken: who asks by kernel asks for that (guard.cpp). The key is a digest of that:
// of functions the text, of the rest its tokens, since comments there may name other functions; and what is called that
// another file has, since ptxas compiles all as relocatable code then. The cache has a checksum
// of each entry (ptxas/cache.h).
// Cost: linear in the text and in what the kernels reach.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ptxas/assemble.h"
#include "ptxopt/ptxopt.h"
#include "support/bit_vector.h"

namespace ptxopt::guard {

class KernelAnswers {
 public:
  // `functions` with their places in `text`; those that are left out are of no interest.
  KernelAnswers(std::string_view text, const std::vector<FunctionOutcome>& functions, const BitVector& isLeftOut,
                std::string_view architecture, const ptxas::PtxasSettings& settings);

  bool haveAll() const { return missing_ == 0; }
  // By function: the kernels whose figures are known.
  const BitVector& known() const { return isKnown_; }
  // Keeps the figures of the other kernels.
  void keep(const ptxas::Measures& measures) const;
  // Adds those that are known, instead of what a text gave in which they were cut.
  void addTo(ptxas::Measures& measures) const;

 private:
  ptxas::Measures figuresOf(uint32_t kernel, const ptxas::Measures& all) const;

  const std::vector<FunctionOutcome>& functions_;
  ptxas::Cache& cache_;
  std::vector<std::string> keys_;               // by function; empty: no kernel of interest
  std::vector<std::vector<uint32_t>> reached_;  // likewise: itself and what it reaches, in order
  BitVector isKnown_;
  std::vector<ptxas::FunctionMeasures> found_;  // by name, each once
  std::size_t missing_ = 0;
};

}  // namespace ptxopt::guard
