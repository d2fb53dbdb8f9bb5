// Ranges of integers: every operation against all values, for all ranges of a few bits.
#include "analysis/values/integer_range.h"

#include <doctest/doctest.h>

#include <functional>
#include <optional>
#include <vector>

using namespace ptxopt;

namespace {

constexpr uint64_t maskOf(unsigned width) { return (uint64_t{1} << width) - 1; }
int64_t toSigned(uint64_t bits, unsigned width) {
  const uint64_t top = uint64_t{1} << (width - 1);
  return (bits & top) != 0 ? static_cast<int64_t>(bits) - (int64_t{1} << width) : static_cast<int64_t>(bits);
}

// The tightest range around some values: an interval of those below the half and one of the others.
IntegerRange hull(unsigned width, const std::vector<uint64_t>& values) {
  IntegerRange result = IntegerRange::empty(width);
  for (const uint64_t v : values) result = result.join(IntegerRange::constant(width, v));
  return result;
}

std::vector<uint64_t> valuesOf(const IntegerRange& r) {
  std::vector<uint64_t> values;
  for (uint64_t v = 0; v <= maskOf(r.width()); ++v)
    if (r.contains(v)) values.push_back(v);
  return values;
}

// All there are: any interval of the lower half, or none, with any of the upper half, or none.
std::vector<IntegerRange> allRanges(unsigned width) {
  const uint64_t top = uint64_t{1} << (width - 1);
  std::vector<IntegerRange> lower{IntegerRange::empty(width)}, upper = lower, all;
  for (uint64_t lo = 0; lo < top; ++lo)
    for (uint64_t hi = lo; hi < top; ++hi) {
      lower.push_back(IntegerRange::ofUnsigned(width, lo, hi));
      upper.push_back(IntegerRange::ofUnsigned(width, top + lo, top + hi));
    }
  for (const IntegerRange& l : lower)
    for (const IntegerRange& u : upper) all.push_back(l.join(u));
  return all;
}

// Unsigned and signed intervals only, which are fewer.
std::vector<IntegerRange> intervals(unsigned width) {
  std::vector<IntegerRange> all;
  const int64_t top = int64_t{1} << (width - 1);
  for (uint64_t lo = 0; lo <= maskOf(width); ++lo)
    for (uint64_t hi = lo; hi <= maskOf(width); ++hi) all.push_back(IntegerRange::ofUnsigned(width, lo, hi));
  for (int64_t lo = -top; lo < 0; ++lo)
    for (int64_t hi = 0; hi < top; ++hi) all.push_back(IntegerRange::ofSigned(width, lo, hi));
  return all;
}

// What an operation makes of one pair of values: bits that may be above `width`; none where anything may come out.
using Concrete = std::optional<uint64_t> (*)(uint64_t a, uint64_t b, unsigned width);
struct BinaryOperation {
  std::string name;
  IntegerRange (*range)(const IntegerRange&, const IntegerRange&);
  Concrete concrete;
  // When the result must be the tightest there is; the last two: only its unsigned or signed ends, because what
  // comes out has gaps, which may hold the middle.
  enum Tight { Never, Always, NoUnsignedWrap, NoSignedWrap, ConstantSecond, UnsignedEnds, SignedEnds } tight;
  // The whole number, before it is taken modulo 2^width; for wraps.
  int64_t (*whole)(int64_t a, int64_t b) = nullptr;
};

int64_t sumOf(int64_t a, int64_t b) { return a + b; }
int64_t differenceOf(int64_t a, int64_t b) { return a - b; }
int64_t productOf(int64_t a, int64_t b) { return a * b; }

const BinaryOperation kOperations[] = {
    {"add", add, [](uint64_t a, uint64_t b, unsigned) { return std::optional(a + b); },
     BinaryOperation::NoUnsignedWrap, sumOf},
    {"add, signed", add, [](uint64_t a, uint64_t b, unsigned) { return std::optional(a + b); },
     BinaryOperation::NoSignedWrap, sumOf},
    {"sub", sub, [](uint64_t a, uint64_t b, unsigned) { return std::optional(a - b); },
     BinaryOperation::NoUnsignedWrap, differenceOf},
    {"sub, signed", sub, [](uint64_t a, uint64_t b, unsigned) { return std::optional(a - b); },
     BinaryOperation::NoSignedWrap, differenceOf},
    {"mul", mul, [](uint64_t a, uint64_t b, unsigned) { return std::optional(a * b); },
     BinaryOperation::NoUnsignedWrap, productOf},
    {"mul, signed", mul, [](uint64_t a, uint64_t b, unsigned) { return std::optional(a * b); },
     BinaryOperation::NoSignedWrap, productOf},
    {"mulHighUnsigned", mulHighUnsigned,
     [](uint64_t a, uint64_t b, unsigned width) { return std::optional(a * b >> width); }, BinaryOperation::Never},
    {"mulHighSigned", mulHighSigned,
     [](uint64_t a, uint64_t b, unsigned width) {
       return std::optional(static_cast<uint64_t>(toSigned(a, width) * toSigned(b, width) >> width));
     },
     BinaryOperation::Never},
    {"udiv", udiv, [](uint64_t a, uint64_t b, unsigned) { return b == 0 ? std::nullopt : std::optional(a / b); },
     BinaryOperation::ConstantSecond},
    {"urem", urem, [](uint64_t a, uint64_t b, unsigned) { return b == 0 ? std::nullopt : std::optional(a % b); },
     BinaryOperation::Never},
    {"sdiv", sdiv,
     [](uint64_t a, uint64_t b, unsigned width) {
       return b == 0 ? std::nullopt : std::optional(static_cast<uint64_t>(toSigned(a, width) / toSigned(b, width)));
     },
     BinaryOperation::Never},
    {"srem", srem,
     [](uint64_t a, uint64_t b, unsigned width) {
       return b == 0 ? std::nullopt : std::optional(static_cast<uint64_t>(toSigned(a, width) % toSigned(b, width)));
     },
     BinaryOperation::Never},
    {"umin", umin, [](uint64_t a, uint64_t b, unsigned) { return std::optional(std::min(a, b)); },
     BinaryOperation::Always},
    {"umax", umax, [](uint64_t a, uint64_t b, unsigned) { return std::optional(std::max(a, b)); },
     BinaryOperation::Always},
    {"smin", smin,
     [](uint64_t a, uint64_t b, unsigned width) {
       return std::optional(toSigned(a, width) < toSigned(b, width) ? a : b);
     },
     BinaryOperation::Always},
    {"smax", smax,
     [](uint64_t a, uint64_t b, unsigned width) {
       return std::optional(toSigned(a, width) > toSigned(b, width) ? a : b);
     },
     BinaryOperation::Always},
    {"and", bitAnd, [](uint64_t a, uint64_t b, unsigned) { return std::optional(a & b); }, BinaryOperation::Always},
    {"or", bitOr, [](uint64_t a, uint64_t b, unsigned) { return std::optional(a | b); }, BinaryOperation::Always},
    {"xor", bitXor, [](uint64_t a, uint64_t b, unsigned) { return std::optional(a ^ b); }, BinaryOperation::Always},
    {"shl", shl, [](uint64_t a, uint64_t b, unsigned width) { return std::optional(b >= width ? 0 : a << b); },
     BinaryOperation::Never},
    {"lshr", lshr, [](uint64_t a, uint64_t b, unsigned width) { return std::optional(b >= width ? 0 : a >> b); },
     BinaryOperation::UnsignedEnds},
    {"ashr", ashr,
     [](uint64_t a, uint64_t b, unsigned width) {
       return std::optional(static_cast<uint64_t>(toSigned(a, width) >> std::min<uint64_t>(b, width - 1)));
     },
     BinaryOperation::SignedEnds},
};

// Whether the operation gives a tightest range for these: by the whole numbers, for all values of both.
bool mustBeTight(const BinaryOperation& o, const std::vector<uint64_t>& as, const std::vector<uint64_t>& bs,
                 unsigned width) {
  if (o.whole == nullptr && o.tight != BinaryOperation::ConstantSecond) return o.tight != BinaryOperation::Never;
  if (o.tight == BinaryOperation::ConstantSecond) return bs.size() == 1 && bs[0] != 0;
  const bool isSigned = o.tight == BinaryOperation::NoSignedWrap;
  const int64_t top = int64_t{1} << (width - 1);
  const int64_t least = isSigned ? -top : 0, most = isSigned ? top - 1 : 2 * top - 1;
  for (const uint64_t a : as)
    for (const uint64_t b : bs) {
      const int64_t whole = isSigned ? o.whole(toSigned(a, width), toSigned(b, width))
                                     : o.whole(static_cast<int64_t>(a), static_cast<int64_t>(b));
      if (whole < least || whole > most) return false;
    }
  return true;
}

// The first thing wrong with an operation over pairs of these ranges, or an empty string. `tight`: how many results
// had to be the tightest, and were.
std::string check(const BinaryOperation& o, unsigned width, const std::vector<IntegerRange>& firsts,
                  const std::vector<IntegerRange>& seconds, std::size_t& tight) {
  const bool hasGaps =
      o.whole == productOf || o.tight == BinaryOperation::UnsignedEnds || o.tight == BinaryOperation::SignedEnds;
  const bool isSigned = o.tight == BinaryOperation::NoSignedWrap || o.tight == BinaryOperation::SignedEnds;
  // What comes out of each pair, as a bit; all bits for anything.
  std::vector<uint64_t> table;
  for (uint64_t x = 0; x <= maskOf(width); ++x)
    for (uint64_t y = 0; y <= maskOf(width); ++y) {
      const std::optional<uint64_t> r = o.concrete(x, y, width);
      table.push_back(r ? uint64_t{1} << (*r & maskOf(width)) : ~uint64_t{0});
    }
  std::vector<std::vector<uint64_t>> values;
  for (const IntegerRange& b : seconds) values.push_back(valuesOf(b));
  for (const IntegerRange& a : firsts) {
    const std::vector<uint64_t> as = valuesOf(a);
    for (std::size_t i = 0; i < seconds.size(); ++i) {
      const IntegerRange& b = seconds[i];
      const IntegerRange result = o.range(a, b);
      const auto message = [&](const char* what) {
        return std::string(what) + " for " + a.toString() + " and " + b.toString() + ": " + result.toString();
      };
      uint64_t seen = 0;
      for (const uint64_t x : as)
        for (const uint64_t y : values[i]) seen |= table[x << width | y];
      const bool isAnything = seen == ~uint64_t{0};
      if (isAnything && !result.isFull()) return message("not full");
      std::vector<uint64_t> results;
      for (uint64_t v = 0; v <= maskOf(width); ++v)
        if ((seen >> v & 1) != 0) {
          if (!result.contains(v)) return message("a value is missing");
          results.push_back(v);
        }
      // A division by what may be 0 does not look at what is divided.
      const bool isNothing = as.empty() || values[i].empty();
      if (isNothing != result.isEmpty() && !(isNothing && result.isFull() && b.contains(uint64_t{0})))
        return message("empty or not");
      if (isAnything || isNothing || !mustBeTight(o, as, values[i], width)) continue;
      const IntegerRange tightest = hull(width, results);
      const bool isSame = hasGaps && isSigned
                              ? result.smallest() == tightest.smallest() && result.largest() == tightest.largest()
                          : hasGaps ? result.least() == tightest.least() && result.most() == tightest.most()
                                    : result == tightest;
      if (!isSame) return message("not the tightest");
      ++tight;
    }
  }
  return {};
}

// The same for one operand.
std::string checkUnary(unsigned width, unsigned resultWidth,
                       const std::function<IntegerRange(const IntegerRange&)>& f,
                       const std::function<uint64_t(uint64_t)>& concrete, bool isTight) {
  for (const IntegerRange& a : allRanges(width)) {
    const IntegerRange result = f(a);
    std::vector<uint64_t> results;
    for (const uint64_t v : valuesOf(a)) results.push_back(concrete(v) & maskOf(resultWidth));
    const IntegerRange tightest = hull(resultWidth, results);
    if (result.width() != resultWidth || !result.contains(tightest) || (isTight && result != tightest))
      return a.toString() + " gives " + result.toString() + ", not " + tightest.toString();
  }
  return {};
}

}  // namespace

TEST_CASE("integer range: the ends are values, and nothing outside is in") {
  for (const unsigned width : {1u, 2u, 3u, 4u})
    for (const IntegerRange& r : allRanges(width)) {
      const std::vector<uint64_t> values = valuesOf(r);
      REQUIRE(r.isEmpty() == values.empty());
      if (values.empty()) continue;
      REQUIRE(hull(width, values) == r);
      REQUIRE(r.least() == values.front());
      REQUIRE(r.most() == values.back());
      REQUIRE(r.contains(static_cast<uint64_t>(r.smallest()) & maskOf(width)));
      REQUIRE(r.contains(static_cast<uint64_t>(r.largest()) & maskOf(width)));
      for (const uint64_t v : values) {
        REQUIRE(toSigned(v, width) >= r.smallest());
        REQUIRE(toSigned(v, width) <= r.largest());
      }
      REQUIRE(r.isFull() == (values.size() == maskOf(width) + 1));
      REQUIRE(r.isConstant() == (values.size() == 1));
    }
  CHECK(allRanges(4).size() == 37 * 37);
}

TEST_CASE("integer range: join and meet are those of sets, as far as there are ranges") {
  const std::vector<IntegerRange> all = allRanges(3);
  for (const IntegerRange& a : all)
    for (const IntegerRange& b : all) {
      std::vector<uint64_t> either, both;
      for (uint64_t v = 0; v < 8; ++v) {
        if (a.contains(v) || b.contains(v)) either.push_back(v);
        if (a.contains(v) && b.contains(v)) both.push_back(v);
      }
      REQUIRE(a.join(b) == hull(3, either));
      REQUIRE(a.meet(b) == hull(3, both));
      REQUIRE(a.contains(b) == (a.join(b) == a));
    }
}

TEST_CASE("integer range: operations on two, all ranges of 3 bits") {
  const std::vector<IntegerRange> all = allRanges(3);
  for (const BinaryOperation& o : kOperations) {
    CAPTURE(o.name);
    std::size_t tight = 0;
    CHECK(check(o, 3, all, all, tight) == "");
    CHECK((tight > 0) == (o.tight != BinaryOperation::Never));
  }
}

TEST_CASE("integer range: operations on two, all intervals of 4 bits") {
  const std::vector<IntegerRange> all = intervals(4);
  CHECK(all.size() == 136 + 64);
  for (const BinaryOperation& o : kOperations) {
    CAPTURE(o.name);
    std::size_t tight = 0;
    CHECK(check(o, 4, all, all, tight) == "");
  }
}

TEST_CASE("integer range: operations on two, ranges of 5 bits against constants and a few others") {
  std::vector<IntegerRange> some;
  for (uint64_t v = 0; v < 32; ++v) some.push_back(IntegerRange::constant(5, v));
  some.push_back(IntegerRange::full(5));
  some.push_back(IntegerRange::ofSigned(5, -3, 2));
  some.push_back(IntegerRange::ofUnsigned(5, 3, 30));
  for (const BinaryOperation& o : kOperations) {
    CAPTURE(o.name);
    std::size_t tight = 0;
    CHECK(check(o, 5, intervals(5), some, tight) == "");
    CHECK(check(o, 5, some, intervals(5), tight) == "");
  }
}

TEST_CASE("integer range: operations on one") {
  for (const unsigned w : {1u, 3u, 4u, 5u}) {
    CAPTURE(w);
    CHECK(checkUnary(
              w, w, neg, [](uint64_t v) { return 0 - v; }, true) == "");
    CHECK(checkUnary(
              w, w, bitNot, [](uint64_t v) { return ~v; }, true) == "");
    CHECK(checkUnary(
              w, w, [](const IntegerRange& a) { return ptxopt::abs(a); },
              [&](uint64_t v) { return static_cast<uint64_t>(std::abs(toSigned(v, w))); }, true) == "");
    CHECK(checkUnary(
              w, 8, [](const IntegerRange& a) { return popc(a, 8); },
              [](uint64_t v) { return static_cast<uint64_t>(__builtin_popcountll(v)); }, true) == "");
    CHECK(checkUnary(
              w, 8, [](const IntegerRange& a) { return clz(a, 8); },
              [&](uint64_t v) {
                uint64_t zeros = 0;
                for (unsigned bit = w; bit-- > 0 && (v >> bit & 1) == 0;) ++zeros;
                return zeros;
              },
              true) == "");
    for (const unsigned to : {w, w + 1, w + 3, 9u}) {
      CHECK(checkUnary(
                w, to, [&](const IntegerRange& a) { return sext(a, to); },
                [&](uint64_t v) { return static_cast<uint64_t>(toSigned(v, w)); }, true) == "");
      CHECK(checkUnary(
                w, to, [&](const IntegerRange& a) { return zext(a, to); }, [](uint64_t v) { return v; }, true) ==
            "");
    }
    // Of an interval that reaches over several halves of the narrow type, the gaps are filled.
    for (unsigned to = 1; to < w; ++to)
      CHECK(checkUnary(
                w, to, [&](const IntegerRange& a) { return trunc(a, to); }, [](uint64_t v) { return v; }, true) ==
            "");
  }
}

TEST_CASE("integer range: whether a result fits") {
  for (const unsigned width : {3u, 4u}) {
    const std::vector<IntegerRange> all = width == 3 ? allRanges(3) : intervals(4);
    const int64_t top = int64_t{1} << (width - 1);
    std::size_t fit = 0;
    for (const IntegerRange& a : all)
      for (const IntegerRange& b : all) {
        if (a.isEmpty() || b.isEmpty()) continue;
        bool unsignedFits = true, signedFits = true;
        for (const uint64_t x : valuesOf(a))
          for (const uint64_t y : valuesOf(b)) {
            const auto ux = static_cast<int64_t>(x), uy = static_cast<int64_t>(y);
            const int64_t sx = toSigned(x, width), sy = toSigned(y, width);
            unsignedFits = unsignedFits && ux * uy < 2 * top;
            signedFits = signedFits && sx * sy >= -top && sx * sy < top;
          }
        if (mulNeverWrapsUnsigned(a, b) != unsignedFits || mulNeverWrapsSigned(a, b) != signedFits)
          FAIL(a.toString() << " and " << b.toString());
        fit += unsignedFits;
      }
    CHECK(fit > 0);
  }
}

TEST_CASE("integer range: 64 bits") {
  const IntegerRange all = IntegerRange::full(64);
  const IntegerRange top = IntegerRange::ofUnsigned(64, UINT64_MAX - 1, UINT64_MAX);
  CHECK(all.smallest() == INT64_MIN);
  CHECK(add(all, top).isFull());
  CHECK(add(top, IntegerRange::constant(64, 5)) == IntegerRange::ofUnsigned(64, 3, 4));
  CHECK(sub(IntegerRange::constant(64, 3), top) == IntegerRange::ofUnsigned(64, 4, 5));
  CHECK(mul(top, top) == IntegerRange::ofUnsigned(64, 1, 4));
  CHECK(mulHighUnsigned(top, top) == IntegerRange::ofUnsigned(64, UINT64_MAX - 3, UINT64_MAX - 1));
  CHECK(mulHighSigned(top, top) == IntegerRange::constant(64, 0));
  CHECK(sdiv(IntegerRange::constant(64, uint64_t{1} << 63), IntegerRange::constant(64, UINT64_MAX)) ==
        IntegerRange::constant(64, uint64_t{1} << 63));
  CHECK(shl(IntegerRange::ofUnsigned(64, 0, 7), IntegerRange::constant(32, 61)).most() == uint64_t{7} << 61);
  CHECK(!mulNeverWrapsUnsigned(top, IntegerRange::constant(64, 2)));
  CHECK(mulNeverWrapsSigned(top, IntegerRange::constant(64, 2)));
  CHECK(popc(all, 32) == IntegerRange::ofUnsigned(32, 0, 64));
  CHECK(bitAnd(all, IntegerRange::constant(64, 0xFF0)) == IntegerRange::ofUnsigned(64, 0, 0xFF0));
}

TEST_CASE("integer range: no width") {
  const IntegerRange none;
  CHECK(none.isFull());
  CHECK(!none.isEmpty());
  CHECK(!none.isConstant());
  CHECK(none.contains(uint64_t{7}));
  CHECK(add(none, none).width() == 0);
  CHECK(zext(none, 32) == IntegerRange::full(32));
  CHECK(!mulNeverWrapsUnsigned(none, none));
  CHECK(!mulNeverWrapsSigned(none, none));
}

TEST_CASE("integer range: as text") {
  CHECK(IntegerRange::full(32).toString() == "32: full");
  CHECK(IntegerRange::empty(8).toString() == "8: empty");
  CHECK(IntegerRange::ofUnsigned(32, 0, 1023).toString() == "32: [0, 1023]");
  CHECK(IntegerRange::ofSigned(32, -5, 7).toString() == "32: signed [-5, 7]");
  CHECK(IntegerRange::ofSigned(32, -5, -2).toString() == "32: signed [-5, -2]");
  CHECK(IntegerRange::ofUnsigned(8, 3, 200).toString() == "8: [3, 200]");
  CHECK(IntegerRange::ofUnsigned(8, 3, 200).meet(IntegerRange::ofSigned(8, -100, 100)).toString() ==
        "8: [3, 200] signed [-100, 100]");
}
