// wide-multiply on single statements: what it does, or why it does not, and that it leaves no stale analysis.
#include <map>

#include "passes/manager/pass.h"
#include "support.h"
#include "text/print.h"

using namespace ptxopt;
using namespace ptxopt::testing;

namespace {

struct Outcome {
  bool changed = false;
  PassCounters counters;
  std::string declines;  // their reasons
};

// %rd1 is an unknown number, %r1 and %r2 are loaded, %r3 is at most 1023.
Outcome apply(std::string_view body) {
  const Parsed p(
      kernel("\tld.param.u64 %rd1, [p];\n\tld.global.u32 %r1, [%rd1];\n\tld.global.u32 %r2, [%rd1+4];\n"
             "\tmov.u32 %r3, %tid.x;\n\tcvt.s64.s32 %rd2, %r1;\n\tcvt.s64.s32 %rd3, %r2;\n"
             "\tcvt.u64.u32 %rd4, %r1;\n\tcvt.u64.u32 %rd5, %r2;\n\tcvt.u64.u32 %rd6, %r3;\n" +
             std::string(body) + "\tret;\n"));
  p.module->makeSynthParts();
  Function& f = p.function();
  const Knobs knobs;
  Analyses analyses(*p, f, livenessLimits(knobs));
  PassReport report;
  PassContext context{*p, knobs, analyses, moduleFacts(*p, knobs), report};
  Outcome outcome;
  outcome.changed = findPass("wide-multiply")->run(f, context);
  if (!outcome.changed) CHECK(analyses.stale().empty());
  outcome.counters = report.counters;
  for (const Decline& d : report.declines) outcome.declines += std::string(d.reason) + " ";
  return outcome;
}

// The result goes to memory, as a number and not as an address.
std::string stored(std::string_view statement) {
  return "\t" + std::string(statement) + "\n\tst.global.u64 [%rd1], %rd9;\n";
}
Outcome applyStored(std::string_view statement) { return apply(stored(statement)); }

}  // namespace

TEST_CASE("wide-multiply: products by constants at the ends of 32 bits") {
  const auto products = [](std::string_view statement) { return applyStored(statement).counters["products"]; };
  CHECK(products("mul.lo.s64 %rd9, %rd2, 2147483647;") == 1);
  CHECK(products("mul.lo.s64 %rd9, %rd2, 2147483648;") == 0);
  CHECK(products("mul.lo.s64 %rd9, %rd2, -2147483648;") == 1);
  CHECK(products("mul.lo.s64 %rd9, %rd2, -2147483649;") == 0);
  CHECK(products("mul.lo.u64 %rd9, %rd4, 4294967295;") == 1);
  CHECK(products("mul.lo.u64 %rd9, %rd4, 4294967296;") == 0);
  CHECK(products("mul.lo.u64 %rd9, %rd4, -1;") == 0);
  CHECK(products("mul.lo.s64 %rd9, %rd6, -1;") == 1);
  CHECK(products("mul.lo.s64 %rd9, 12, %rd2;") == 1);
  CHECK(products("shl.b64 %rd9, %rd2, 30;") == 1);
  CHECK(products("shl.b64 %rd9, %rd2, 31;") == 0);
  CHECK(products("shl.b64 %rd9, %rd4, 31;") == 1);
  CHECK(products("shl.b64 %rd9, %rd4, 32;") == 0);
}

TEST_CASE("wide-multiply: reasons") {
  CHECK(applyStored("mul.lo.s64 %rd9, %rd2, 1;").declines == "trivial ");
  CHECK(applyStored("shl.b64 %rd9, %rd4, 32;").declines == "shift-out ");
  CHECK(applyStored("mul.lo.s64 %rd9, %rd2, 2147483648;").declines == "constant ");
  CHECK(applyStored("shl.b64 %rd9, %rd1, 2;").declines == "not-extended ");
  CHECK(applyStored("shl.b64 %rd9, %rd2, %r3;").declines == "not-extended ");
  CHECK(applyStored("mul.lo.s64 %rd9, %rd2, %rd5;").declines == "mixed-signs ");
  CHECK(applyStored("min.s64 %rd9, %rd2, %rd5;").declines == "mixed-signs ");
  CHECK(applyStored("add.s64 %rd9, %rd4, %rd5;").declines == "may-wrap ");
  CHECK(apply("\tshl.b64 %rd9, %rd2, 2;\n\tst.shared.u32 [%rd9], %r1;\n").declines == "low-half-only ");
  CHECK(apply(stored("add.s64 %rd8, %rd2, %rd3;") + stored("shl.b64 %rd9, %rd8, 2;") +
              "\tst.global.u64 [%rd1], %rd8;\n")
            .declines.find("sum-needed") != std::string::npos);
  CHECK(apply("\tadd.s64 %rd8, %rd2, %rd1;\n" + stored("shl.b64 %rd9, %rd8, 2;")).declines.find("no-gain") !=
        std::string::npos);
  CHECK(apply("\tadd.s64 %rd8, %rd2, %rd3;\n\tld.global.u64 %rd2, [%rd1];\n" + stored("shl.b64 %rd9, %rd8, 2;") +
              "\tst.global.u64 [%rd1], %rd2;\n")
            .declines.find("overwritten") != std::string::npos);
}

TEST_CASE("wide-multiply: what reads a product decides") {
  const auto declines = [](std::string_view body) { return apply(body).declines; };
  // A parameter is an operand of IMAD.WIDE, and the factor is not: it pays for two of them.
  const std::string alone = "\tshl.b64 %rd9, %rd2, 3;\n\tadd.s64 %rd9, %rd1, %rd9;\n\tst.global.u32 [%rd9], %r1;\n";
  CHECK(declines(alone) == "factor-alone ");
  CHECK(apply(alone + alone).counters["products"] == 2);
  CHECK(apply("L:\n" + alone + "\tsetp.eq.s64 %p1, %rd9, %rd3;\n\t@%p1 bra L;\n").counters["products"] == 1);
  const std::string uniform = "\tmov.u32 %r4, %ctaid.x;\n\tmul.wide.u32 %rd8, %r4, %r4;\n";
  CHECK(declines(uniform + "\tshl.b64 %rd9, %rd2, 3;\n" + stored("add.s64 %rd9, %rd8, %rd9;")) ==
        "uniform-addend ");
  CHECK(declines(uniform + stored("add.s64 %rd9, %rd8, %rd2;") + "\tst.global.u64 [%rd1], %rd8;\n") ==
        "uniform-addend ");
  const std::string loaded = "\tld.global.u64 %rd8, [%rd1];\n";
  CHECK(apply(loaded + stored("add.s64 %rd9, %rd8, %rd2;")).counters["products"] == 1);
  CHECK(declines(loaded + "\tadd.s64 %rd9, %rd8, %rd2;\n" + stored("add.s64 %rd9, %rd9, %rd8;")) ==
        "sum-of-three ");
  CHECK(declines(loaded + "\tshr.u64 %rd8, %rd8, 32;\n" + stored("mad.wide.u32 %rd9, %r1, %r2, %rd8;")) ==
        "addend-extended ");
  CHECK(declines("\tld.global.u64 %rd8, [%rd1];\n\tand.b64 %rd8, %rd8, 8;\n\tsetp.ne.s64 %p1, %rd8, 0;\n" +
                 stored("selp.b64 %rd9, 1, 2, %p1;")) == "test-of-bits ");
  // In each iteration of a loop.
  const auto stepped = [](std::string_view step) {
    return apply("\tld.global.u64 %rd8, [%rd1];\n" + std::string(step) + "L:\n\tadd.s64 %rd8, %rd8, %rd9;\n" +
                 "\tsetp.lt.u64 %p1, %rd8, %rd1;\n\t@%p1 bra L;\n\tst.global.u64 [%rd1], %rd8;\n");
  };
  CHECK(stepped("\tmul.lo.s64 %rd9, %rd2, %rd3;\n").counters["kept"] == 1);
  CHECK(stepped("\tmul.lo.s64 %rd9, %rd2, 12;\n").counters["kept"] == 0);
  CHECK(stepped("\tmul.lo.s64 %rd9, %rd2, 12;\n").counters["products"] == 1);
  CHECK(stepped("\tcvt.s64.s32 %rd9, %r1;\n").declines == "loop-step not-extended ");
}

TEST_CASE("wide-multiply: sums, comparisons, minima") {
  CHECK(apply("\tadd.s64 %rd8, %rd2, %rd3;\n" + stored("shl.b64 %rd9, %rd8, 2;")).counters["distributed"] == 1);
  CHECK(apply("\tsub.s64 %rd8, %rd2, %rd3;\n" + stored("shl.b64 %rd9, %rd8, 2;")).counters["distributed"] == 1);
  CHECK(apply("\tsub.s64 %rd8, %rd4, %rd5;\n" + stored("shl.b64 %rd9, %rd8, 2;")).counters["distributed"] == 0);
  CHECK(applyStored("add.s64 %rd9, %rd6, 5;").counters["sums"] == 1);
  CHECK(applyStored("max.u64 %rd9, %rd2, %rd3;").counters["minima"] == 1);
  const auto compared = [](std::string_view operands) {
    return apply("\tsetp.lt.s64 %p1, " + std::string(operands) + ";\n\t@%p1 st.global.u32 [%rd1], %r1;\n")
        .counters["comparisons"];
  };
  CHECK(compared("%rd2, %rd3") == 1);
  CHECK(compared("%rd2, %rd5") == 0);
  CHECK(compared("%rd2, %rd6") == 1);
  CHECK(compared("%rd2, 2147483647") == 1);
  CHECK(compared("%rd2, 2147483648") == 0);
  CHECK(compared("%rd4, 2147483648") == 1);
  CHECK(compared("%rd4, -1") == 0);
}
