// PTX abs, neg, copysign, testp, min and max on bit patterns of any format.
//
// NaN: abs and neg of f16, bf16 and f32 give the canonical NaN, as the ISA leaves the pattern open and the hardware
// does it by an addition. f64: abs passes NaN through unchanged, as the ISA says; neg, which it leaves open,
// changes the sign bit. min and max give a NaN only where the ISA does: the canonical one, f64 the first operand's,
// made quiet. -0 is less than +0 in min and max.
#pragma once

#include <cstdint>
#include <type_traits>

#include "exec/value/float_format.h"

namespace ptxopt::exec {

template <class Format>
inline typename Format::Word absFloat(typename Format::Word x, bool ftz = false) {
  using Word = typename Format::Word;
  if (ftz) x = Format::flush(x);
  if (Format::isNaN(x)) return std::is_same_v<Format, F64> ? x : Format::kNaN;
  return static_cast<Word>(x & Format::kMagnitude);
}

template <class Format>
inline typename Format::Word negFloat(typename Format::Word x, bool ftz = false) {
  using Word = typename Format::Word;
  if (ftz) x = Format::flush(x);
  if (Format::isNaN(x) && !std::is_same_v<Format, F64>) return Format::kNaN;
  return static_cast<Word>(x ^ Format::kSign);
}

// copysign d, a, b: b with the sign of a.
template <class Format>
inline typename Format::Word copySign(typename Format::Word a, typename Format::Word b) {
  return static_cast<typename Format::Word>((a & Format::kSign) | (b & Format::kMagnitude));
}

// .normal holds for zeros too.
enum class FloatProperty : uint8_t { Finite, Infinite, Number, NotANumber, Normal, Subnormal };

template <class Format>
inline bool testFloat(FloatProperty property, typename Format::Word x) {
  switch (property) {
    case FloatProperty::Finite: return Format::isFinite(x);
    case FloatProperty::Infinite: return Format::isInfinite(x);
    case FloatProperty::Number: return !Format::isNaN(x);
    case FloatProperty::NotANumber: return Format::isNaN(x);
    case FloatProperty::Normal: return Format::isFinite(x) && !Format::isSubnormal(x);
    case FloatProperty::Subnormal: return Format::isSubnormal(x);
  }
  return false;
}

struct MinMaxMode {
  bool ftz = false;
  bool nan = false;      // .NaN: NaN if any operand is
  bool abs = false;      // .abs: of the magnitudes
  bool xorSign = false;  // .xorsign, with .abs and two operands only: the result's sign is the xor of theirs
};

namespace detail {

template <class Format, bool kMax>
inline typename Format::Word minMaxOfTwo(typename Format::Word a, typename Format::Word b, bool nan) {
  using Word = typename Format::Word;
  using Signed = typename Format::Signed;
  const bool aNaN = Format::isNaN(a), bNaN = Format::isNaN(b);
  // Order of sign and magnitude as order of integers; -0 comes just before +0.
  auto key = [](Word x) {
    return static_cast<Signed>(x ^ (static_cast<Word>(-(x >> (Format::kBits - 1))) & Format::kMagnitude));
  };
  const bool first = kMax ? key(a) > key(b) : key(a) < key(b);
  const Word number = bNaN || (!aNaN && first) ? a : b;
  Word none = Format::kNaN;
  if constexpr (std::is_same_v<Format, F64>) none = static_cast<Word>((aNaN ? a : b) | Format::kQuiet);
  return (nan ? aNaN || bNaN : aNaN && bNaN) ? none : number;
}

}  // namespace detail

template <class Format, bool kMax>
inline typename Format::Word minMax(typename Format::Word a, typename Format::Word b, MinMaxMode mode) {
  using Word = typename Format::Word;
  if (mode.ftz) a = Format::flush(a), b = Format::flush(b);
  const Word sign = static_cast<Word>((a ^ b) & Format::kSign);
  if (mode.abs) a = static_cast<Word>(a & Format::kMagnitude), b = static_cast<Word>(b & Format::kMagnitude);
  const Word r = detail::minMaxOfTwo<Format, kMax>(a, b, mode.nan);
  return mode.xorSign && !Format::isNaN(r) ? static_cast<Word>((r & Format::kMagnitude) | sign) : r;
}

// Three operands: min(min(a, b), c).
template <class Format, bool kMax>
inline typename Format::Word minMax(typename Format::Word a, typename Format::Word b, typename Format::Word c,
                                    MinMaxMode mode) {
  using Word = typename Format::Word;
  if (mode.ftz) a = Format::flush(a), b = Format::flush(b), c = Format::flush(c);
  if (mode.abs) {
    a = static_cast<Word>(a & Format::kMagnitude), b = static_cast<Word>(b & Format::kMagnitude);
    c = static_cast<Word>(c & Format::kMagnitude);
  }
  return detail::minMaxOfTwo<Format, kMax>(detail::minMaxOfTwo<Format, kMax>(a, b, mode.nan), c, mode.nan);
}

}  // namespace ptxopt::exec
