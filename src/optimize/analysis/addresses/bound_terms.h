// Expressions that all threads of a grid evaluate alike at the entry of a kernel: bounds of what threads compute.
//
// A term is a whole number, not a number modulo two to a width, made of numbers that the launch has: parameters and
// sizes of the block and of the grid. Equal terms have equal ids. Sums are canonical: a constant and terms with
// factors, none of them a sum, sorted, so that what cancels is gone. A product has two factors; the first may be a
// product. Evaluation is in 64 bits, signed. Where each part of a term has a range (Assumptions::range) within
// kMostNumber, nothing wraps, and the result is the number that the term means.
// Assumptions say that terms lie between two numbers: the sizes of the block always do; of others it is to be tested. A
// test evaluates the term; its parts are smaller terms, whose own assumptions are tested as well: where all of them
// hold, none of the evaluations wrapped.
// Cost: a term is hashed; linear in its parts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "analysis/values/launch_sizes.h"
#include "support/id.h"

namespace ptxopt {

using TermId = Id<struct BoundTermTag>;

enum class TermKind : uint8_t { Constant, Parameter, Size, Sum, Product, Min, Max, ShiftRight, And };

// A number that the kernel loads of its parameters.
struct TermParameter {
  uint32_t index = 0, offset = 0;  // in the order of the kernel's parameters; bytes
  uint8_t bytes = 0;
  bool isSigned = false;  // how it is extended
  friend auto operator<=>(const TermParameter&, const TermParameter&) = default;
};

struct Term {
  TermKind kind = TermKind::Constant;
  TermParameter parameter;
  LaunchSize size;
  TermId left, right;    // Product, Min, Max; ShiftRight, And: `left` alone
  int64_t constant = 0;  // Constant; the constant part of a Sum; bits to shift by, rounding down; mask
  uint32_t firstPart = 0, partCount = 0;
};

struct TermPart {
  TermId term;
  int64_t factor = 1;
  friend auto operator<=>(const TermPart&, const TermPart&) = default;
};

struct TermRange {
  __extension__ using Wide = __int128;
  Wide least = 0, most = 0;
};

class BoundTerms {
 public:
  const Term& operator[](TermId t) const { return terms_[t.value]; }
  std::size_t size() const { return terms_.size(); }
  std::span<const TermPart> parts(TermId t) const {
    return {parts_.data() + terms_[t.value].firstPart, terms_[t.value].partCount};
  }

  TermId constant(int64_t c);
  TermId parameter(const TermParameter& p);
  TermId launchSize(const LaunchSize& size);
  // None where a factor does not fit in 64 bits.
  TermId add(TermId a, TermId b) { return combine(a, 1, b, 1); }
  TermId subtract(TermId a, TermId b) { return combine(a, 1, b, -1); }
  TermId addConstant(TermId a, int64_t c) { return combine(a, 1, constant(c), 1); }
  TermId scale(TermId a, int64_t factor) { return combine(a, factor, constant(0), 0); }
  TermId multiply(TermId a, TermId b);
  TermId minMax(TermKind kind, TermId a, TermId b);
  TermId shiftRight(TermId a, unsigned bits);
  TermId mask(TermId a, int64_t mask);

  bool isConstant(TermId t) const { return terms_[t.value].kind == TermKind::Constant; }
  std::optional<int64_t> number(TermId t) const {
    return isConstant(t) ? std::optional(terms_[t.value].constant) : std::nullopt;
  }

  // By what the parameters and sizes have; modulo 2^64, as a kernel computes it.
  template <typename Leaf>
  int64_t evaluate(TermId t, Leaf&& leaf) const;

 private:
  using Wide = TermRange::Wide;
  struct Key {
    TermKind kind;
    uint64_t a, b;
    int64_t constant;
    std::vector<TermPart> parts;
    friend auto operator<=>(const Key&, const Key&) = default;
  };

  TermId intern(const Term& t, std::vector<TermPart> parts = {});
  TermId combine(TermId a, int64_t factorOfA, TermId b, int64_t factorOfB);

  std::vector<Term> terms_;
  std::vector<TermPart> parts_;
  std::map<Key, TermId> known_;
};

// What is taken for granted of terms, to be tested where no launch is without it.
class BoundAssumptions {
 public:
  using Wide = TermRange::Wide;
  static constexpr Wide kMostNumber = Wide{1} << 61;

  explicit BoundAssumptions(const BoundTerms& terms) : terms_(&terms) {}

  TermRange range(TermId t) const;
  // That `t` lies between the two; either may be none. False: it never does.
  bool assume(TermId t, std::optional<int64_t> least, std::optional<int64_t> most);
  bool add(const BoundAssumptions& others);
  // What evaluating `t` without wrapping takes. False: it cannot be had.
  bool assumeFits(TermId t);
  // ... and that it may be compared with others for which the same is assumed, by the sign of the difference.
  bool assumeComparable(TermId t);
  // The same for all terms about which something is assumed.
  bool assumeTestsFit();

  struct Assumed {
    std::optional<int64_t> least, most;
    friend bool operator==(const Assumed&, const Assumed&) = default;
  };
  // To be tested, by term; smaller terms first.
  const std::map<TermId, Assumed>& all() const { return all_; }

 private:
  static bool isWithin(const TermRange& r, Wide most);
  bool limit(TermId t, Wide most);
  TermRange rangeOf(TermId t) const;

  const BoundTerms* terms_;
  std::map<TermId, Assumed> all_;
  mutable std::map<TermId, TermRange> ranges_;
};

template <typename Leaf>
int64_t BoundTerms::evaluate(TermId t, Leaf&& leaf) const {
  const Term& n = terms_[t.value];
  const auto bits = [&](TermId of) { return static_cast<uint64_t>(evaluate(of, leaf)); };
  switch (n.kind) {
    case TermKind::Constant: return n.constant;
    case TermKind::Parameter:
    case TermKind::Size: return leaf(n);
    case TermKind::Sum: {
      uint64_t all = static_cast<uint64_t>(n.constant);
      for (const TermPart& p : parts(t)) all += bits(p.term) * static_cast<uint64_t>(p.factor);
      return static_cast<int64_t>(all);
    }
    case TermKind::Product: return static_cast<int64_t>(bits(n.left) * bits(n.right));
    case TermKind::Min: return std::min(evaluate(n.left, leaf), evaluate(n.right, leaf));
    case TermKind::Max: return std::max(evaluate(n.left, leaf), evaluate(n.right, leaf));
    case TermKind::ShiftRight: return evaluate(n.left, leaf) >> n.constant;
    case TermKind::And: return evaluate(n.left, leaf) & n.constant;
  }
  return 0;
}

}  // namespace ptxopt
