// All operations go through RangeHalves, one interval for each value of the sign bit; the range is made of the halves
// again at the end.
#include "analysis/values/integer_range.h"

#include <fmt/format.h>

#include "analysis/values/range_halves.h"

namespace ptxopt {

// ---- making and asking ----

IntegerRange IntegerRange::empty(unsigned width) { return RangeHalves::empty(width); }

IntegerRange IntegerRange::constant(unsigned width, uint64_t bits) {
  if (width == 0) return {};
  return ofUnsigned(width, bits & maskOf(width), bits & maskOf(width));
}

IntegerRange IntegerRange::ofUnsigned(unsigned width, uint64_t least, uint64_t most) {
  RangeHalves halves(width);
  halves.put(least, most);
  return halves.range();
}

IntegerRange IntegerRange::ofSigned(unsigned width, int64_t smallest, int64_t largest) {
  RangeHalves halves(width);
  halves.foldSigned(smallest, largest);
  return halves.range();
}

bool IntegerRange::isFull() const { return width_ == 0 || *this == full(width_); }

bool IntegerRange::contains(uint64_t bits) const {
  if (width_ == 0) return true;
  const int64_t number = signExtended(bits, width_);
  return least_ <= bits && bits <= most_ && smallest_ <= number && number <= largest_;
}

bool IntegerRange::contains(const IntegerRange& other) const { return join(other) == *this; }

IntegerRange IntegerRange::join(const IntegerRange& other) const {
  if (width_ == 0 || width_ != other.width_) return full(width_);
  RangeHalves halves(*this);
  halves.join(RangeHalves(other));
  return halves.range();
}

IntegerRange IntegerRange::meet(const IntegerRange& other) const {
  if (width_ == 0 || width_ != other.width_) return *this;
  RangeHalves halves(*this);
  halves.meet(RangeHalves(other));
  return halves.range();
}

std::string IntegerRange::toString() const {
  if (isFull()) return fmt::format("{}: full", width_);
  if (isEmpty()) return fmt::format("{}: empty", width_);
  const bool hasUnsigned = least_ != 0 || most_ != maskOf(width_);
  const bool isHigh = least_ >= topOf(width_);
  std::string out = fmt::format("{}:", width_);
  if (hasUnsigned && !isHigh) out += fmt::format(" [{}, {}]", least_, most_);
  if (most_ >= topOf(width_) && (isHigh || smallest_ != signExtended(topOf(width_), width_) ||
                                 static_cast<uint64_t>(largest_) != maskOf(width_) >> 1))
    out += fmt::format(" signed [{}, {}]", smallest_, largest_);
  return out;
}

}  // namespace ptxopt
