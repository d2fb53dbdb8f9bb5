// The instructions that compute an expression, and their cost: passes/util/expander.h.
#include "lsr_support.h"

using namespace ptxopt;
using namespace ptxopt::testing;

namespace {

using Lines = std::vector<std::string>;
constexpr unsigned kImpossible = Expander::kImpossible;

// Block 0 ends in front of L1; a product and its sum are there, and a constant of the launch behind it.
constexpr std::string_view kStraight =
    "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 8;\nadd.s64 %rd3, %rd1, %rd2;\n"
    "setp.eq.s32 %p1, %r1, 3;\n@%p1 bra L1;\n"
    "ld.param.u32 %r2, [n];\nadd.s32 %r3, %r2, %r1;\nst.global.u32 [%rd3], %r3;\n"
    "L1:\nst.global.u32 [%rd3+4], %r1;\nret;\n";

}  // namespace

TEST_CASE("expander: what a register holds is read, and a constant away from that is an addition") {
  Reducible k(kStraight);
  Expander expander(k.f, k.context);
  const ExpansionPlace end = k.endOf(0);
  const ExprId sum = k.written("%rd3");
  CHECK(expander.cost(sum, end) == 0);
  CHECK(expander.emit(sum, end) == k.reg("%rd3"));
  CHECK(expander.inserted() == 0);
  const ExprId near = k.expressions().addConstant(sum, 24);
  CHECK(expander.cost(near, end) == 2);
  const RegId made = expander.emit(near, end);
  CHECK(k.made() == Lines{"add.s64 %b64_0, %rd3, 24;"});
  CHECK(expander.emit(near, end) == made);  // once for a place
  CHECK(expander.inserted() == 1);
}

TEST_CASE("expander: a constant that 32 bits do not hold goes into a register") {
  Reducible k(kStraight);
  Expander expander(k.f, k.context);
  const ExprId far = k.expressions().addConstant(k.written("%rd3"), uint64_t{1} << 40);
  expander.emit(far, k.endOf(0));
  CHECK(k.made() == Lines{"mov.b64 %b64_0, 1099511627776;", "add.s64 %b64_1, %rd3, %b64_0;"});
}

TEST_CASE("expander: constants of the launch are read again, other values from elsewhere cannot be had") {
  Reducible k(kStraight);
  Expander expander(k.f, k.context);
  const ExpansionPlace end = k.endOf(0);
  const ExprId n = k.written("%r2"), sum = k.written("%r3");
  CHECK(expander.cost(n, end) == 1);
  CHECK(expander.cost(sum, end) == 2);
  expander.emit(sum, end);
  CHECK(k.made() == Lines{"ld.param.u32 %b32_0, [n];", "add.s32 %b32_1, %b32_0, %r1;"});

  Reducible loads(
      "ld.param.u64 %rd1, [p];\nld.global.u32 %r1, [%rd1];\nsetp.eq.s32 %p1, %r1, 3;\n@%p1 bra L1;\n"
      "ld.global.u32 %r2, [%rd1];\nst.global.u32 [%rd1+4], %r2;\nL1:\nret;\n");
  Expander other(loads.f, loads.context);
  const ExprId loaded = loads.written("%r2");
  CHECK(other.cost(loaded, loads.endOf(0)) == kImpossible);
  CHECK(other.cost(loads.expressions().addConstant(loaded, 1), loads.endOf(0)) == kImpossible);
  CHECK(other.cost(loaded, loads.endOf(1)) == 0);
  // A minimum is only read where a register holds it.
  const ExprId least =
      loads.expressions().minMax(ExprKind::UnsignedMin, loads.written("%r1"), loads.expressions().constant(7, 32));
  CHECK_FALSE(other.canExpand(least, loads.endOf(0)));
}

TEST_CASE("expander: computed anew a sum ends with its products") {
  Reducible k(kStraight);
  Expander expander(k.f, k.context);
  const ExpansionPlace end = k.endOf(0);
  const ExprId sum = k.expressions().addConstant(k.written("%rd3"), 16);
  CHECK(expander.endsWide(sum));
  CHECK(expander.costAnew(sum, end) == 3);
  expander.emitAnew(sum, end);
  CHECK(k.made() == Lines{"add.s64 %b64_0, %rd1, 16;", "mul.wide.s32 %b64_wide0, %r1, 8;",
                          "add.s64 %b64_1, %b64_0, %b64_wide0;"});
}

TEST_CASE("expander: a value whose register is written again is kept by a copy behind its definition") {
  const std::string body =
      "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nadd.s32 %r2, %r1, 5;\nst.global.u32 [%rd1], %r2;\n"
      "ld.global.u32 %r2, [%rd1+8];\nst.global.u32 [%rd1+4], %r2;\nret;\n";
  Reducible k(body);
  Expander expander(k.f, k.context);
  const ExprId sum = k.analyses.scalarEvolution().written(k.reg("%r2"), k.at(2));
  const RegId copy = expander.emit(sum, k.endOf(0));
  CHECK(copy != k.reg("%r2"));
  CHECK(k.made() == Lines{"mov.b32 %b32_0, %r2;"});
  CHECK(text::printInstruction(k.context.module, k.f, k.f[k.f[k.at(2)].next]).starts_with("mov.b32"));
}

TEST_CASE("expander: factors are shifts, products and a negation") {
  Reducible k(kStraight);
  Expander expander(k.f, k.context);
  const ExpansionPlace end = k.endOf(0);
  ScevExpressions& e = k.expressions();
  const ExprId tid = k.written("%r1");
  CHECK(expander.cost(e.scale(tid, 8), end) == 1);
  expander.emit(e.scale(tid, 8), end);
  expander.emit(e.scale(tid, 12), end);
  expander.emit(e.negate(tid), end);
  expander.emit(e.signExtend(e.scale(tid, 3), 64), end);
  CHECK(k.made() == Lines{"shl.b32 %b32_0, %r1, 3;", "mul.lo.s32 %b32_1, %r1, 12;", "neg.s32 %b32_2, %r1;",
                          "mul.lo.s32 %b32_3, %r1, 3;", "cvt.s64.s32 %b64_0, %b32_3;"});
}

TEST_CASE("expander: wide products") {
  Reducible k(kStraight);
  ScalarEvolution& evolution = k.analyses.scalarEvolution();
  ScevExpressions& e = k.expressions();
  const auto product = [&](ExprId x, int64_t factor) -> std::string {
    const auto p = wideProduct(evolution, x, static_cast<uint64_t>(factor));
    if (!p) return "none";
    const std::string right = p->right.valid() ? k.text(p->right) : std::to_string(p->constant);
    return k.text(p->left) + " * " + right + (p->isSigned ? " signed" : " unsigned");
  };
  const ExprId tid = e.zeroExtend(k.written("%r1"), 64);          // at most 1023: never negative
  const ExprId n = k.written("%r2"), wide = e.zeroExtend(n, 64);  // anything
  CHECK(product(tid, 8) == "%r1 * 8 signed");
  CHECK(product(wide, 8) == "%r2 * 8 unsigned");
  CHECK(product(wide, -8) == "none");  // as an unsigned product it is another number
  CHECK(product(e.signExtend(n, 64), -8) == "%r2 * -8 signed");
  CHECK(product(tid, int64_t{1} << 31) == "none");
  CHECK(product(n, 8) == "none");
  // The factor goes to the side where the product stays within 32 bits.
  CHECK(product(e.multiply(tid, wide), 1) == "%r1 * %r2 unsigned");
  CHECK(product(e.multiply(tid, wide), 4) == "%r2 * 4*%r1 unsigned");
  CHECK(product(e.multiply(tid, e.signExtend(n, 64)), 4) == "%r2 * 4*%r1 signed");
}
