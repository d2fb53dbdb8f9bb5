// What a coalescing pass reports of the copies of a function: how many there were and went, by family, and why the
// others stay.
#pragma once

#include <array>

#include "passes/coalescing/coalescer.h"

namespace ptxopt {

class CopyReport {
 public:
  // An iteration begins that looks at all copies anew; `copies` are those of the first one.
  void startIteration(std::span<const Copy> copies);
  void removed(const Copy& copy);
  void kept(const Copy& copy, Verdict why);
  // In the iteration.
  bool anyRemoved() const { return removedInIteration_ != 0; }
  // Counters `copies-FAMILY`, `removed-FAMILY` and `kept-REASON`, those that are not zero.
  void finish(PassContext& context) const;

 private:
  std::array<std::size_t, kCopyFamilies> before_{}, removed_{};
  std::array<std::size_t, kVerdicts> kept_{};
  std::size_t removedInIteration_ = 0;
  bool isFirst_ = true;
};

}  // namespace ptxopt
