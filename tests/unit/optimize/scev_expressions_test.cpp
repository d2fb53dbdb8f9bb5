// Expressions of scalar evolution: their canonical forms, and random ones against plain arithmetic.
#include "analysis/values/scev_expressions.h"

#include <bit>
#include <random>

#include "support.h"

using namespace ptxopt;
using namespace ptxopt::testing;

namespace {

// Two loops, one in the other, and a third behind them: L0 at B1 contains L1 at B2; L2 at B5 or so.
constexpr const char* kLoops = "A:\nmov.u32 %r1, 0;\nB:\n@%p1 bra B;\n@%p2 bra A;\nC:\n@%p3 bra C;\nret;\n";

struct Table {
  Parsed parsed{kernel(kLoops)};
  Cfg cfg{*parsed, parsed.function()};
  Loops loops{cfg};
  ScevExpressions e{loops};
  LoopId outer, inner, other;

  Table() {
    for (uint32_t l = 0; l < loops.size(); ++l) {
      const LoopId id(l);
      (loops[id].depth == 2 ? inner : loops[id].blockCount > 1 ? outer : other) = id;
    }
    REQUIRE(loops.size() == 3);
    REQUIRE(loops[inner].parent == outer);
  }
  ExprId x(uint32_t n, unsigned width = 32, LoopId loop = {}) {
    return e.value(RegId(n), ValueId(uint32_t{0}), width, loop);
  }
  ExprId c(uint64_t bits, unsigned width = 32) { return e.constant(bits, width); }
};

// What the leaves and the iterations are.
struct State {
  std::vector<uint64_t> values;      // by RegId
  std::vector<uint64_t> iterations;  // by LoopId
};

uint64_t evaluate(const ScevExpressions& x, ExprId e, const State& s) {
  const Expr& n = x[e];
  const auto at = [&](ExprId k) { return evaluate(x, k, s); };
  const auto pick = [&](bool first) { return first ? at(n.left()) : at(n.right()); };
  const auto whole = [&](ExprId k) { return signedAt(at(k), n.width); };
  switch (n.kind) {
    case ExprKind::Constant: return n.constant;
    case ExprKind::Value: return maskTo(s.values[n.reg().value], n.width);
    case ExprKind::Sum: {
      uint64_t all = n.constant;
      for (const ExprTerm& t : x.terms(e)) all += at(t.expr) * t.factor;
      return maskTo(all, n.width);
    }
    case ExprKind::Product: {
      uint64_t all = 1;
      for (const ExprTerm& t : x.terms(e)) all *= at(t.expr);
      return maskTo(all, n.width);
    }
    case ExprKind::SignExtend:
      return maskTo(static_cast<uint64_t>(signedAt(at(n.operand()), x[n.operand()].width)), n.width);
    case ExprKind::ZeroExtend:
    case ExprKind::Truncate: return maskTo(at(n.operand()), n.width);
    case ExprKind::UnsignedMin: return pick(at(n.left()) < at(n.right()));
    case ExprKind::UnsignedMax: return pick(at(n.left()) > at(n.right()));
    case ExprKind::SignedMin: return pick(whole(n.left()) < whole(n.right()));
    case ExprKind::SignedMax: return pick(whole(n.left()) > whole(n.right()));
    case ExprKind::UnsignedDivide: return at(n.right()) == 0 ? 0 : at(n.left()) / at(n.right());
    case ExprKind::UnsignedRemainder: return at(n.right()) == 0 ? 0 : at(n.left()) % at(n.right());
    case ExprKind::Recurrence: return maskTo(at(n.start()) + at(n.step()) * s.iterations[n.loop.value], n.width);
  }
  return 0;
}

// An expression and what the same operations give on numbers, in several states.
struct Both {
  ExprId e;
  std::vector<uint64_t> bits;
};

class RandomExpressions {
 public:
  RandomExpressions(Table& t, uint64_t seed) : t_(t), random_(seed) {
    for (int k = 0; k < 6; ++k) {
      State s;
      for (int v = 0; v < kLeaves; ++v) s.values.push_back(number());
      for (int l = 0; l < 3; ++l) s.iterations.push_back(pick(4) == 0 ? random_() : pick(9));
      states.push_back(s);
    }
    for (int k = 0; k < 60; ++k) pool.push_back(make());
  }

  std::vector<State> states;
  std::vector<Both> pool;

 private:
  static constexpr int kLeaves = 12;
  std::size_t pick(std::size_t n) { return random_() % n; }
  uint64_t number() {
    const uint64_t near = pick(2) == 0 ? 0 : uint64_t{1} << pick(64);
    return pick(3) == 0 ? random_() : near + pick(7) - 3;
  }
  unsigned width() {
    static constexpr unsigned kWidths[] = {8, 16, 32, 64};
    return kWidths[pick(4)];
  }
  template <typename F>
  Both with(ExprId e, F&& f) {
    Both b{e, {}};
    for (std::size_t k = 0; k < states.size(); ++k) b.bits.push_back(maskTo(f(k), t_.e[e].width));
    return b;
  }
  Both leaf(unsigned w) {
    if (pick(3) == 0) {
      const uint64_t n = number();
      return with(t_.e.constant(n, w), [&](std::size_t) { return n; });
    }
    // Of each width and loop its own.
    const LoopId loops[] = {LoopId(), t_.outer, t_.inner, t_.other};
    const auto v = static_cast<uint32_t>(pick(kLeaves));
    const ExprId e = t_.e.value(RegId(v), ValueId(w * 4 + v % 4), w, loops[v % 4]);
    return with(e, [&](std::size_t k) { return states[k].values[v]; });
  }
  // Of some width, one made before or a new leaf.
  Both some(unsigned w) {
    for (int tries = 0; tries < 6 && !pool.empty(); ++tries)
      if (const Both& b = pool[pick(pool.size())]; t_.e[b.e].width == w && t_.e[b.e].size < 200) return b;
    return leaf(w);
  }
  Both make() {
    const unsigned w = width();
    const Both a = some(w), b = some(w);
    ScevExpressions& e = t_.e;
    const auto smaller = [&](std::size_t k) { return signedAt(a.bits[k], w) < signedAt(b.bits[k], w); };
    switch (pick(17)) {
      case 0:
      case 1: return with(e.add(a.e, b.e), [&](std::size_t k) { return a.bits[k] + b.bits[k]; });
      case 2: return with(e.subtract(a.e, b.e), [&](std::size_t k) { return a.bits[k] - b.bits[k]; });
      case 3:
      case 4: return with(e.multiply(a.e, b.e), [&](std::size_t k) { return a.bits[k] * b.bits[k]; });
      case 5: {
        const uint64_t n = number();
        return with(e.scale(a.e, n), [&](std::size_t k) { return a.bits[k] * n; });
      }
      case 6: {
        const uint64_t n = number();
        return with(e.addConstant(a.e, n), [&](std::size_t k) { return a.bits[k] + n; });
      }
      case 7: return with(e.negate(a.e), [&](std::size_t k) { return ~a.bits[k] + 1; });
      case 8: {
        const unsigned to = std::max(w, width());
        return with(e.signExtend(a.e, to),
                    [&](std::size_t k) { return static_cast<uint64_t>(signedAt(a.bits[k], w)); });
      }
      case 9: return with(e.zeroExtend(a.e, std::max(w, width())), [&](std::size_t k) { return a.bits[k]; });
      case 10: {
        const unsigned to = pick(3) == 0 ? 1 + static_cast<unsigned>(pick(w)) : std::min(w, width());
        const ExprId narrow = e.truncate(a.e, to);
        // Back to a width that others have.
        return with(e.zeroExtend(narrow, w), [&](std::size_t k) { return maskTo(a.bits[k], to); });
      }
      case 11:
        return with(e.minMax(ExprKind::UnsignedMin, a.e, b.e),
                    [&](std::size_t k) { return std::min(a.bits[k], b.bits[k]); });
      case 12:
        return with(e.minMax(ExprKind::SignedMax, a.e, b.e),
                    [&](std::size_t k) { return smaller(k) ? b.bits[k] : a.bits[k]; });
      case 13:
        return with(e.divide(a.e, b.e), [&](std::size_t k) { return b.bits[k] == 0 ? 0 : a.bits[k] / b.bits[k]; });
      case 14:
        return with(e.remainder(a.e, b.e),
                    [&](std::size_t k) { return b.bits[k] == 0 ? 0 : a.bits[k] % b.bits[k]; });
      default: {
        const LoopId l = pick(2) == 0 ? t_.outer : t_.inner;
        if (!e.isInvariant(a.e, l) || !e.isInvariant(b.e, l)) return leaf(w);
        return with(e.recurrence(l, a.e, b.e),
                    [&](std::size_t k) { return a.bits[k] + b.bits[k] * states[k].iterations[l.value]; });
      }
    }
  }

  Table& t_;
  std::mt19937_64 random_;
};

}  // namespace

TEST_CASE("scev expressions: random ones are what the operations give on numbers") {
  std::size_t checked = 0, sums = 0, recurrences = 0, differing = 0;
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    CAPTURE(seed);
    Table t;
    RandomExpressions r(t, seed);
    for (const Both& b : r.pool) {
      const unsigned width = t.e[b.e].width;
      sums += t.e[b.e].kind == ExprKind::Sum;
      recurrences += t.e[b.e].kind == ExprKind::Recurrence;
      const unsigned zeros = t.e.trailingZeros(b.e);
      const ExprId rest = t.e.withoutConstant(b.e);
      const uint64_t part = t.e.constantPart(b.e);
      CHECK(t.e.constantPart(rest) == 0);
      CHECK(t.e.addConstant(rest, part) == b.e);
      for (std::size_t k = 0; k < r.states.size(); ++k) {
        const State& s = r.states[k];
        const uint64_t value = evaluate(t.e, b.e, s);
        if (value != b.bits[k]) FAIL("expression " << b.e.value << " of seed " << seed << ", state " << k);
        CHECK(maskTo(value, zeros) == 0);
        CHECK(maskTo(evaluate(t.e, rest, s) + part, width) == value);
        ++checked;
      }
      // Other iterations of a loop, and other values in it: nothing changes where that is said.
      for (const LoopId l : {t.outer, t.inner, t.other}) {
        if (!t.e.isInvariant(b.e, l)) continue;
        State s = r.states[0];
        s.iterations[l.value] += 3;
        if (l == t.outer) s.iterations[t.inner.value] += 5;
        CHECK(evaluate(t.e, b.e, s) == b.bits[0]);
      }
    }
    // What is said to differ by a constant does.
    for (std::size_t i = 0; i + 1 < r.pool.size(); ++i) {
      const Both &a = r.pool[i], &b = r.pool[i + 1];
      if (t.e[a.e].width != t.e[b.e].width) continue;
      const ExprId sum = t.e.addConstant(t.e.add(a.e, b.e), 7);
      uint64_t difference = 0;
      CHECK(t.e.differByConstant(sum, t.e.add(b.e, a.e), difference));
      CHECK(difference == 7);
      if (!t.e.differByConstant(a.e, b.e, difference)) continue;
      ++differing;
      for (std::size_t k = 0; k < a.bits.size(); ++k)
        CHECK(maskTo(b.bits[k] + difference, t.e[a.e].width) == a.bits[k]);
    }
  }
  CHECK(checked > 100000);
  CHECK(sums > 1000);
  CHECK(recurrences > 1000);
  CHECK(differing > 100);
}

TEST_CASE("scev expressions: equal ones have equal ids") {
  Table t;
  ScevExpressions& e = t.e;
  const ExprId x = t.x(1), y = t.x(2);
  CHECK(e.add(x, y) == e.add(y, x));
  CHECK(e.add(e.add(x, t.c(3)), y) == e.add(x, e.add(y, t.c(3))));
  CHECK(e.subtract(e.add(x, y), y) == x);
  CHECK(e.subtract(x, x) == t.c(0));
  CHECK(e.add(x, x) == e.scale(x, 2));
  CHECK(e.scale(x, uint64_t{1} << 32) == t.c(0));  // modulo 2^32
  CHECK(e.negate(e.negate(x)) == x);
  CHECK(e.multiply(x, y) == e.multiply(y, x));
  CHECK(e.multiply(e.add(x, t.c(2)), y) == e.add(e.multiply(x, y), e.scale(y, 2)));
  CHECK(e.multiply(e.multiply(x, y), x) == e.multiply(x, e.multiply(x, y)));
  CHECK(t.x(1) != t.x(1, 16));
  CHECK(e.minMax(ExprKind::UnsignedMin, x, y) == e.minMax(ExprKind::UnsignedMin, y, x));
  CHECK(e.minMax(ExprKind::SignedMax, x, x) == x);
  CHECK(e.minMax(ExprKind::SignedMax, t.c(~uint64_t{0}), t.c(1)) == t.c(1));
  CHECK(e.minMax(ExprKind::UnsignedMax, t.c(~uint64_t{0}), t.c(1)) == t.c(~uint64_t{0}));
  CHECK(e.divide(x, t.c(1)) == x);
  CHECK(e.divide(t.c(7), t.c(2)) == t.c(3));
  CHECK(e[e.divide(t.c(7), t.c(0))].kind == ExprKind::UnsignedDivide);
  CHECK(e.remainder(x, t.c(1)) == t.c(0));
  CHECK(e.remainder(x, t.c(8)) == e.zeroExtend(e.truncate(x, 3), 32));
}

TEST_CASE("scev expressions: widths") {
  Table t;
  ScevExpressions& e = t.e;
  const ExprId x = t.x(1), h = t.x(2, 16);
  CHECK(e.truncate(e.signExtend(x, 64), 32) == x);
  CHECK(e.truncate(e.zeroExtend(h, 64), 32) == e.zeroExtend(h, 32));
  CHECK(e.truncate(e.signExtend(h, 64), 32) == e.signExtend(h, 32));
  CHECK(e.truncate(e.signExtend(x, 64), 16) == e.truncate(x, 16));
  CHECK(e.signExtend(e.zeroExtend(h, 32), 64) == e.zeroExtend(h, 64));
  CHECK(e.signExtend(e.signExtend(h, 32), 64) == e.signExtend(h, 64));
  CHECK(e.zeroExtend(e.zeroExtend(h, 32), 64) == e.zeroExtend(h, 64));
  CHECK(e[e.zeroExtend(e.signExtend(h, 32), 64)].kind == ExprKind::ZeroExtend);
  CHECK(e.signExtend(t.c(0x80000000), 64) == t.c(0xFFFFFFFF80000000, 64));
  CHECK(e.zeroExtend(t.c(0x80000000), 64) == t.c(0x80000000, 64));
  // A truncation goes inside, an extension does not.
  const ExprId r = e.recurrence(t.outer, x, t.c(4));
  CHECK(e.truncate(r, 16) == e.recurrence(t.outer, e.truncate(x, 16), t.c(4, 16)));
  CHECK(e[e.signExtend(r, 64)].kind == ExprKind::SignExtend);
  CHECK(e.truncate(e.add(e.scale(x, 3), t.c(0x10005)), 16) == e.add(e.scale(e.truncate(x, 16), 3), t.c(5, 16)));
}

TEST_CASE("scev expressions: recurrences of nested loops") {
  Table t;
  ScevExpressions& e = t.e;
  const ExprId x = t.x(1), n = t.x(2), v = t.x(3, 32, t.inner), w = t.x(4, 32, t.outer);
  const ExprId i = e.recurrence(t.outer, x, t.c(1)), j = e.recurrence(t.inner, t.c(0), n);
  // The inner one takes up the outer one.
  const ExprId both = e.add(i, j);
  CHECK(both == e.recurrence(t.inner, i, n));
  CHECK(e.add(j, i) == both);
  CHECK(e.subtract(both, i) == j);
  CHECK(e.subtract(both, j) == i);
  CHECK(e.recurrence(t.inner, x, t.c(0)) == x);
  CHECK(e.add(e.recurrence(t.inner, x, n), e.recurrence(t.inner, n, e.negate(n))) == e.add(x, n));
  CHECK(e.scale(i, 4) == e.recurrence(t.outer, e.scale(x, 4), t.c(4)));
  CHECK(e.multiply(i, n) == e.recurrence(t.outer, e.multiply(x, n), n));
  CHECK(e.multiply(n, i) == e.multiply(i, n));
  CHECK(e.constantPart(e.addConstant(both, 5)) == 5);
  CHECK(e.withoutConstant(e.addConstant(both, 5)) == both);

  CHECK(e.isInvariant(i, t.inner));
  CHECK_FALSE(e.isInvariant(i, t.outer));
  CHECK(e.isInvariant(i, t.other));
  CHECK_FALSE(e.isInvariant(both, t.inner));
  CHECK(e.isInvariant(v, t.other));
  CHECK_FALSE(e.isInvariant(v, t.outer));  // it is made in there
  CHECK_FALSE(e.isInvariant(w, t.outer));
  CHECK(e.isInvariant(w, t.inner));
  const ExprId mixed = e.add(e.recurrence(t.other, t.c(0), t.c(1)), v);
  CHECK_FALSE(e.isInvariant(mixed, t.other));
  CHECK_FALSE(e.isInvariant(mixed, t.inner));
  CHECK_FALSE(e.isInvariant(mixed, t.outer));
  CHECK(e.contains(both, x));
  CHECK_FALSE(e.contains(both, v));
}

TEST_CASE("scev expressions: sums of what varies in the loop and a recurrence") {
  Table t;
  ScevExpressions& e = t.e;
  const ExprId x = t.x(1), v = t.x(3, 32, t.inner);
  const ExprId j = e.recurrence(t.inner, x, t.c(4));
  // In whatever order they are added.
  const ExprId a = e.add(e.addConstant(j, 16), v), b = e.addConstant(e.add(j, v), 16);
  CHECK(a == b);
  uint64_t difference = 0;
  CHECK(e.differByConstant(a, e.add(v, j), difference));
  CHECK(difference == 16);
  CHECK(e.subtract(a, e.addConstant(j, 16)) == v);
  CHECK(e.subtract(a, v) == e.addConstant(j, 16));
  CHECK(e.add(e.add(v, j), e.negate(j)) == v);
}

TEST_CASE("scev expressions: trailing zeros") {
  Table t;
  ScevExpressions& e = t.e;
  const ExprId x = t.x(1);
  CHECK(e.trailingZeros(x) == 0);
  CHECK(e.trailingZeros(t.c(0)) == 32);
  CHECK(e.trailingZeros(e.addConstant(e.scale(x, 8), 12)) == 2);
  CHECK(e.trailingZeros(e.multiply(e.scale(x, 4), e.scale(t.x(2), 2))) == 3);
  CHECK(e.trailingZeros(e.recurrence(t.outer, e.scale(x, 16), t.c(4))) == 2);
  CHECK(e.trailingZeros(e.zeroExtend(e.scale(x, 4), 64)) == 2);
}
