// The numbers of a width, signed or unsigned, as whole numbers: what wraps and what does not is said of these.
#pragma once

#include "analysis/values/integer_range.h"

namespace ptxopt {

struct NumberDomain {
  __extension__ using Wide = __int128;  // holds all of them, and sums

  unsigned width;
  bool isSigned;
  Wide least() const { return isSigned ? -(Wide{1} << (width - 1)) : 0; }
  Wide most() const { return isSigned ? (Wide{1} << (width - 1)) - 1 : (Wide{1} << width) - 1; }
  Wide low(const IntegerRange& r) const {
    return r.width() == 0 || r.isEmpty() ? least() : isSigned ? Wide{r.smallest()} : Wide{r.least()};
  }
  Wide high(const IntegerRange& r) const {
    return r.width() == 0 || r.isEmpty() ? most() : isSigned ? Wide{r.largest()} : Wide{r.most()};
  }
  IntegerRange range(Wide low, Wide high) const {
    if (low < least() || high > most() || low > high) return IntegerRange::full(width);
    return isSigned ? IntegerRange::ofSigned(width, static_cast<int64_t>(low), static_cast<int64_t>(high))
                    : IntegerRange::ofUnsigned(width, static_cast<uint64_t>(low), static_cast<uint64_t>(high));
  }
};

}  // namespace ptxopt
