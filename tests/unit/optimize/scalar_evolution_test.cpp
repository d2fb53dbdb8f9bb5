// Scalar evolution of PTX: what registers hold, how often loops iterate. Runs compare the same: tests/semantics/scev.
#include "analysis/values/scalar_evolution.h"

#include "dump/view.h"
#include "support.h"

using namespace ptxopt;
using namespace ptxopt::testing;

namespace {

class Evolution {
 public:
  explicit Evolution(const std::string& body) : Evolution(Parsed(kernel(body))) {}
  explicit Evolution(Parsed parsed)
      : parsed_(std::move(parsed)), module_(*parsed_), view_(module_, parsed_.function()) {}

  // What the last instruction that writes `name` leaves in it.
  std::string last(std::string_view name) { return text(find(name, false)); }
  // What the last instruction that reads it finds.
  std::string read(std::string_view name) { return text(find(name, true)); }
  // Of the loop with this number: backedges, the bound, or why it is not known.
  std::string trips(uint32_t loop = 0) {
    const TripCount& t = view_.analyses.scalarEvolution().tripCount(LoopId(loop));
    std::string out = t.exact.valid() ? text(t.exact) : std::string(t.unknown);
    if (t.most) out += " <= " + std::to_string(*t.most);
    return out;
  }
  std::string proofs(std::string_view name) {
    const ExprId e = find(name, false);
    std::string out;
    for (const bool isSigned : {true, false})
      if (const auto why = view_.analyses.scalarEvolution().whyNoWrap(e, isSigned))
        out += (out.empty() ? "" : ", ") + std::string(isSigned ? "s: " : "u: ") +
               std::string(ptxopt::name(why->kind));
    return out;
  }
  std::string range(std::string_view name) {
    return view_.analyses.scalarEvolution().range(find(name, false)).toString();
  }

 private:
  std::string text(ExprId e) {
    if (!e.valid()) return "none";
    return view_.analyses.scalarEvolution().toString(e, [&](RegId r, ValueId v) {
      const std::size_t values = view_.analyses.liveIntervals()[r].values().size();
      return std::string(view_.registerName(r)) + (values == 1 ? "" : ":" + std::to_string(v.value));
    });
  }
  ExprId find(std::string_view name, bool reads) {
    ExprId found;
    const Function& f = parsed_.function();
    for (const InstrId id : f)
      for (const Operand& o : f.operandsOf(f[id])) {
        if (!o.isRegister() || view_.registerName(o.reg()) != name || !(reads ? o.reads() : o.writes())) continue;
        if (view_.analyses.slotIndexes()[id].valid())
          found = reads ? view_.analyses.scalarEvolution().read(o.reg(), id)
                        : view_.analyses.scalarEvolution().written(o.reg(), id);
      }
    return found;
  }

  Parsed parsed_;
  dump::ModuleView module_;
  dump::FunctionView view_;
};

// What straight-line code leaves in the last register it writes; all results are read.
std::string made(const std::string& body, std::string_view name) {
  const char* const type = name[1] == 'h' ? "b16" : name[2] == 'd' ? "b64" : "b32";
  return Evolution(
             "ld.global.u32 %r90, [0];\nld.global.u32 %r91, [0];\nld.global.u64 %rd90, [0];\n"
             "ld.global.u16 %h8, [0];\n" +
             body + "st.global." + type + " [0], " + std::string(name) + ";\nret;\n")
      .last(name);
}

// for (%r1 = start; ...): `test` sets %p1 where it goes on; `before` may guard with a branch to END.
Evolution counted(const std::string& before, const std::string& step, const std::string& test) {
  return Evolution("ld.param.u32 %r9, [n];\nand.b32 %r8, %r9, 15;\n" + before + "L:\n" + step + test +
                   "@%p1 bra L;\nEND:\nst.global.u32 [0], %r1;\nret;\n");
}

}  // namespace

TEST_CASE("scev: arithmetic") {
  CHECK(made("add.s32 %r1, %r90, 5;\n", "%r1") == "%r90 + 5");
  CHECK(made("sub.s32 %r1, 5, %r90;\n", "%r1") == "-1*%r90 + 5");
  CHECK(made("sub.s32 %r1, %r90, %r90;\n", "%r1") == "0");
  CHECK(made("neg.s32 %r1, %r90;\n", "%r1") == "-1*%r90");
  CHECK(made("not.b32 %r1, %r90;\n", "%r1") == "-1*%r90 + -1");
  CHECK(made("mul.lo.u32 %r1, %r90, 12;\n", "%r1") == "12*%r90");
  CHECK(made("mul.lo.s32 %r1, %r90, %r91;\n", "%r1") == "%r90*%r91");
  CHECK(made("mul.hi.s32 %r1, %r90, 12;\n", "%r1") == "%r1");
  CHECK(made("mad.lo.s32 %r1, %r90, 3, %r91;\n", "%r1") == "3*%r90 + %r91");
  CHECK(made("mad.lo.cc.s32 %r1, %r90, 3, %r91;\n", "%r1") == "%r1");
  CHECK(made("mul.wide.s32 %rd1, %r90, 4;\n", "%rd1") == "4*sext64(%r90)");
  CHECK(made("mul.wide.u32 %rd1, %r90, 4;\n", "%rd1") == "4*zext64(%r90)");
  CHECK(made("mul.wide.u16 %r1, %h8, 4;\n", "%r1") == "4*zext32(%h8)");
  CHECK(made("mad.wide.s32 %rd1, %r90, 8, %rd90;\n", "%rd1") == "8*sext64(%r90) + %rd90");
  CHECK(made("shl.b32 %r1, %r90, 3;\n", "%r1") == "8*%r90");
  CHECK(made("shl.b32 %r1, %r90, 32;\n", "%r1") == "0");
  CHECK(made("shl.b32 %r1, %r90, %r91;\n", "%r1") == "%r1");
  CHECK(made("shr.u32 %r1, %r90, 3;\n", "%r1") == "udiv(%r90, 8)");
  CHECK(made("shr.s32 %r1, %r90, 3;\n", "%r1") == "%r1");  // it may be negative
  CHECK(made("and.b32 %r2, %r90, 255;\nshr.s32 %r1, %r2, 3;\n", "%r1") == "udiv(zext32(trunc8(%r90)), 8)");
  CHECK(made("and.b32 %r1, %r90, 6;\n", "%r1") == "%r1");
  CHECK(made("bfe.u32 %r1, %r90, 4, 8;\n", "%r1") == "zext32(trunc8(udiv(%r90, 16)))");
  CHECK(made("bfe.s32 %r1, %r90, 4, 8;\n", "%r1") == "%r1");
  CHECK(made("shl.b32 %r2, %r90, 3;\nor.b32 %r1, %r2, 5;\n", "%r1") == "8*%r90 + 5");
  CHECK(made("shl.b32 %r2, %r90, 3;\nor.b32 %r1, %r2, 9;\n", "%r1") == "%r1");
  CHECK(made("min.u32 %r1, %r90, 7;\n", "%r1") == "umin(%r90, 7)");
  CHECK(made("div.u32 %r1, %r90, 7;\n", "%r1") == "udiv(%r90, 7)");
  CHECK(made("rem.s32 %r1, %r90, 7;\n", "%r1") == "%r1");
  CHECK(made("add.sat.s32 %r1, %r90, 7;\n", "%r1") == "%r1");
}

TEST_CASE("scev: conversions") {
  CHECK(made("cvt.s64.s32 %rd1, %r90;\n", "%rd1") == "sext64(%r90)");
  CHECK(made("cvt.u64.u32 %rd1, %r90;\n", "%rd1") == "zext64(%r90)");
  CHECK(made("cvt.u32.u64 %r1, %rd90;\n", "%r1") == "trunc32(%rd90)");
  CHECK(made("cvt.u16.u32 %h1, %r90;\n", "%h1") == "trunc16(%r90)");
  // Of a wider register the low bits; into a wider one extended by the result's sign.
  CHECK(made("cvt.u32.u8 %r1, %r90;\n", "%r1") == "zext32(trunc8(%r90))");
  CHECK(made("cvt.s32.s8 %r1, %r90;\n", "%r1") == "sext32(trunc8(%r90))");
  CHECK(made("cvt.s8.s32 %r1, %r90;\n", "%r1") == "sext32(trunc8(%r90))");
  CHECK(made("cvt.u8.u32 %r1, %r90;\n", "%r1") == "zext32(trunc8(%r90))");
  CHECK(made("cvt.u64.s32 %rd1, %r90;\n", "%rd1") == "sext64(%r90)");
  CHECK(made("cvt.sat.u8.s32 %r1, %r90;\n", "%r1") == "%r1");
  CHECK(made("cvta.to.global.u64 %rd1, %rd90;\n", "%rd1") == "%rd90");
  CHECK(made("cvta.to.shared.u64 %rd1, %rd90;\n", "%rd1") == "%rd1");
}

TEST_CASE("scev: halves added with a carry") {
  const std::string pair =
      "mov.b64 {%r1, %r2}, %rd90;\nadd.cc.u32 %r3, %r1, %r90;\naddc.u32 %r4, %r2, 0;\nmov.b64 %rd1, {%r3, %r4};\n";
  CHECK(made(pair, "%rd1") == "%rd90 + zext64(%r90)");
  // The carry of another addition.
  CHECK(made("mov.b64 {%r1, %r2}, %rd90;\nadd.cc.u32 %r3, %r1, %r90;\nadd.cc.u32 %r5, %r1, %r91;\n"
             "addc.u32 %r4, %r2, 0;\nmov.b64 %rd1, {%r3, %r4};\n",
             "%rd1") == "%rd1");
  CHECK(made("mov.b64 %rd1, {%r90, %r91};\n", "%rd1") == "%rd1");
}

TEST_CASE("scev: constants of the launch are one, wherever they are read") {
  Evolution e(
      "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %tid.x;\nsub.s32 %r3, %r1, %r2;\nld.param.u32 %r4, [n];\n"
      "ld.param.u32 %r5, [n];\nsub.s32 %r6, %r4, %r5;\nmov.u32 %r7, %clock;\nmov.u32 %r8, %clock;\n"
      "sub.s32 %r9, %r7, %r8;\nmov.u32 %r10, %tid.y;\nsub.s32 %r11, %r1, %r10;\nret;\n");
  CHECK(e.last("%r3") == "0");
  CHECK(e.last("%r6") == "0");
  CHECK(e.last("%r9") == "%r7 + -1*%r8");
  CHECK(e.last("%r11") == "%r1 + -1*%r10");
}

TEST_CASE("scev: recurrences and what is none") {
  const std::string tail = "setp.lt.s32 %p1, %r1, %r9;\n@%p1 bra L;\nst.global.u32 [0], %r2;\nret;\n";
  const std::string start = "ld.param.u32 %r9, [n];\nmov.u32 %r1, 0;\nmov.u32 %r2, 0;\nL:\nadd.s32 %r1, %r1, 1;\n";
  CHECK(Evolution(start + "add.s32 %r2, %r2, %r9;\n" + tail).last("%r2") == "{%r9,+,%r9}<B1>");
  // Written twice in an iteration, through another register.
  CHECK(Evolution(start + "add.s32 %r2, %r2, 3;\nmov.u32 %r3, %r2;\nadd.s32 %r2, %r3, 4;\n" + tail).last("%r2") ==
        "{7,+,7}<B1>");
  // A guard may leave the old value.
  CHECK(Evolution(start + "setp.eq.s32 %p2, %r1, 5;\n@%p2 add.s32 %r2, %r2, 3;\n" + tail).last("%r2") == "%r2:2");
  CHECK(Evolution(start + "mul.lo.s32 %r2, %r2, 3;\n" + tail).last("%r2") == "3*%r2:1");
  CHECK(Evolution(start + "add.s32 %r2, %r2, %r1;\n" + tail).last("%r2").find("+,") !=
        std::string::npos);  // of %r1
  // Behind the loop it is the last iteration's.
  CHECK(Evolution(start + "add.s32 %r2, %r2, 3;\n" + tail).read("%r2") == "%r2:2");
  // Both ways leave the same.
  CHECK(Evolution(start +
                  "setp.eq.s32 %p2, %r1, 5;\n@%p2 bra A;\nadd.s32 %r2, %r2, 3;\nbra B;\nA:\n"
                  "add.s32 %r2, %r2, 3;\nB:\n" +
                  tail)
            .read("%r1") == "{1,+,1}<B1>");
  // Two latches that do not agree, and two that do.
  const std::string two = "setp.eq.s32 %p2, %r1, 5;\n@%p2 bra L;\n";
  CHECK(Evolution(start + "add.s32 %r2, %r2, 3;\n" + two + tail).last("%r2") == "{3,+,3}<B1>");
  CHECK(Evolution(start + two + "add.s32 %r2, %r2, 3;\n" + tail).last("%r2") == "%r2:1 + 3");
  // Two ways in that agree, and two that do not.
  CHECK(Evolution("setp.eq.s32 %p3, 1, 2;\nmov.u32 %r9, 7;\nmov.u32 %r1, 0;\n@%p3 bra L;\nmov.u32 %r9, 7;\nL:\n"
                  "add.s32 %r1, %r1, %r9;\nsetp.lt.s32 %p1, %r1, 90;\n@%p1 bra L;\nret;\n")
            .last("%r1") == "{7,+,7}<B2>");
  CHECK(Evolution("setp.eq.s32 %p3, 1, 2;\nmov.u32 %r1, 0;\n@%p3 bra L;\nmov.u32 %r1, 7;\nL:\n"
                  "add.s32 %r1, %r1, 1;\nsetp.lt.s32 %p1, %r1, 90;\n@%p1 bra L;\nret;\n")
            .last("%r1") == "%r1:2 + 1");
  // Irreducible, and undefined at first.
  CHECK(Evolution("mov.u32 %r1, 0;\n@%p1 bra B;\nA:\nadd.s32 %r1, %r1, 1;\nB:\nadd.s32 %r1, %r1, 1;\n@%p2 bra A;\n"
                  "ret;\n")
            .last("%r1")
            .find("{") == std::string::npos);
  CHECK(
      Evolution("L:\nadd.s32 %r1, %r1, 1;\nsetp.lt.s32 %p1, %r1, 90;\n@%p1 bra L;\nret;\n").last("%r1").find("{") ==
      std::string::npos);
}

TEST_CASE("scev: trip counts up and down") {
  const std::string zero = "mov.u32 %r1, 0;\n", one = "add.s32 %r1, %r1, 1;\n", minus = "add.s32 %r1, %r1, -1;\n";
  CHECK(counted(zero, one, "setp.lt.s32 %p1, %r1, 10;\n").trips() == "9 <= 9");
  CHECK(counted(zero, one, "setp.le.s32 %p1, %r1, 10;\n").trips() == "10 <= 10");
  CHECK(counted(zero, one, "setp.ne.s32 %p1, %r1, 10;\n").trips() == "9 <= 9");
  CHECK(counted(zero, one, "setp.lt.s32 %p1, %r1, 0;\n").trips() == "0 <= 0");
  CHECK(counted(zero, one, "setp.lt.s32 %p1, %r1, -5;\n").trips() == "0 <= 0");
  CHECK(counted(zero, "add.s32 %r1, %r1, 3;\n", "setp.lt.s32 %p1, %r1, 10;\n").trips() == "3 <= 3");
  CHECK(counted(zero, "add.s32 %r1, %r1, 3;\n", "setp.lt.s32 %p1, %r1, 9;\n").trips() == "2 <= 2");
  CHECK(counted(zero, "add.s32 %r1, %r1, 3;\n", "setp.ne.s32 %p1, %r1, 9;\n").trips() == "2 <= 2");
  CHECK(counted(zero, "add.s32 %r1, %r1, 3;\n", "setp.ne.s32 %p1, %r1, 10;\n").trips() ==
        "step-may-not-meet-limit");
  CHECK(counted("mov.u32 %r1, 10;\n", minus, "setp.ne.s32 %p1, %r1, 0;\n").trips() == "9 <= 9");
  CHECK(counted("mov.u32 %r1, 10;\n", minus, "setp.gt.s32 %p1, %r1, 0;\n").trips() == "9 <= 9");
  CHECK(counted("mov.u32 %r1, 10;\n", minus, "setp.ge.s32 %p1, %r1, 0;\n").trips() == "10 <= 10");
  // Below 0 unsigned it never is.
  CHECK(counted("mov.u32 %r1, 10;\n", minus, "setp.ge.u32 %p1, %r1, 0;\n").trips() == "may-wrap");
  // Up to the last number, and past it.
  CHECK(counted(zero, one, "setp.lt.s32 %p1, %r1, 2147483647;\n").trips() == "2147483646 <= 2147483646");
  CHECK(counted(zero, one, "setp.le.s32 %p1, %r1, 2147483647;\n").trips() == "may-wrap");
  CHECK(counted(zero, "add.s32 %r1, %r1, 2;\n", "setp.lt.s32 %p1, %r1, 2147483647;\n").trips() == "may-wrap");
  CHECK(counted(zero, one, "setp.gt.s32 %p1, %r1, -9;\n").trips() == "runs-away-from-limit");
  CHECK(counted(zero, one, "setp.eq.s32 %p1, %r1, 1;\n").trips() == "equality <= 1");
  CHECK(counted(zero, "add.s32 %r1, %r1, %r9;\n", "setp.lt.s32 %p1, %r1, 9;\n").trips() == "step-varies");
  // The other way around, and where the branch leaves.
  CHECK(counted(zero, one, "setp.gt.s32 %p1, 10, %r1;\n").trips() == "9 <= 9");
  CHECK(counted(zero, one, "setp.ge.s32 %p2, %r1, 10;\n@%p2 bra END;\nmov.pred %p1, 1;\n").trips() != "9 <= 9");
}

TEST_CASE("scev: trip counts to a limit that is not known") {
  const std::string zero = "mov.u32 %r1, 0;\n", one = "add.s32 %r1, %r1, 1;\n";
  CHECK(counted(zero, one, "setp.lt.s32 %p1, %r1, %r9;\n").trips() == "smax(1, %r9) + -1 <= 2147483646");
  CHECK(counted(zero, one, "setp.lt.u32 %p1, %r1, %r9;\n").trips() == "umax(1, %r9) + -1 <= 4294967294");
  CHECK(counted(zero, one, "setp.ne.s32 %p1, %r1, %r9;\n").trips().starts_with("%r9 + -1"));
  CHECK(counted(zero, one, "setp.lt.s32 %p1, %r1, %r8;\n").trips() == "smax(1, zext32(trunc4(%r9))) + -1 <= 14");
  // A guard before the loop says that it runs.
  CHECK(counted("mov.u32 %r1, 0;\nsetp.lt.s32 %p2, %r9, 1;\n@%p2 bra END;\n", one, "setp.lt.s32 %p1, %r1, %r9;\n")
            .trips() == "%r9 + -1 <= 2147483646");
  // One of another sign does not.
  CHECK(counted("mov.u32 %r1, 0;\nsetp.lt.u32 %p2, %r9, 1;\n@%p2 bra END;\n", one, "setp.lt.s32 %p1, %r1, %r9;\n")
            .trips() == "smax(1, %r9) + -1 <= 2147483646");
  CHECK(counted(zero, "add.s32 %r1, %r1, 4;\n", "setp.lt.s32 %p1, %r1, %r9;\n").trips() == "may-wrap");
}

TEST_CASE("scev: several exits give a bound, irreducible and endless loops none") {
  const std::string two =
      "mov.u32 %r1, 0;\nld.param.u32 %r9, [n];\nL:\nsetp.eq.s32 %p2, %r1, %r9;\n@%p2 bra END;\nadd.s32 %r1, %r1, "
      "1;\n"
      "setp.lt.s32 %p1, %r1, 10;\n@%p1 bra L;\nEND:\nret;\n";
  CHECK(Evolution(two).trips() == "several-exits <= 9");
  CHECK(Evolution("L:\nbra L;\n").trips() == "endless");
  CHECK(Evolution("@%p1 bra B;\nA:\n@%p3 bra C;\nB:\n@%p2 bra A;\nC:\nret;\n").trips() == "irreducible");
  CHECK(Evolution("L:\n@%p1 bra L;\nret;\n").trips() == "no-affine-test");
  // Not each iteration runs the test.
  CHECK(
      Evolution(
          "mov.u32 %r1, 0;\nL:\nadd.s32 %r1, %r1, 1;\n@%p2 bra L;\nsetp.lt.s32 %p1, %r1, 10;\n@%p1 bra L;\nret;\n")
          .trips() == "no-affine-test");
}

TEST_CASE("scev: proofs that nothing wraps, and extensions") {
  const std::string wide = "mul.wide.s32 %rd1, %r1, 4;\nst.global.u64 [0], %rd1;\nadd.s32 %r1, %r1, 1;\n";
  Evolution known = counted("mov.u32 %r1, 0;\n", wide, "setp.lt.s32 %p1, %r1, %r9;\n");
  CHECK(known.last("%rd1") == "{0,+,4}<B1>");
  CHECK(known.proofs("%r1") == "s: trip count, u: trip count");
  // Nothing bounds it: the test is another counter's.
  Evolution open = counted("mov.u32 %r1, 0;\nmov.u32 %r2, %r9;\n", wide + "add.s32 %r2, %r2, 7;\n",
                           "setp.ne.s32 %p1, %r2, 5;\n");
  CHECK(open.last("%rd1") == "4*sext64({0,+,1}<B1>)");
  CHECK(open.proofs("%r1").empty());
  // From a start that is not known the test alone keeps it in.
  Evolution test = counted("mov.u32 %r1, %r9;\n", wide, "setp.lt.s32 %p1, %r1, 1000;\n");
  CHECK(test.proofs("%r1") == "s: exit test");            // from the first next number on
  CHECK(test.last("%rd1") == "4*sext64({%r9,+,1}<B1>)");  // the first one may be the last of its kind
  CHECK(test.trips().find("<=") != std::string::npos);
  // Thread numbers are small.
  CHECK(made("mov.u32 %r1, %tid.x;\nadd.s32 %r2, %r1, 5;\ncvt.s64.s32 %rd1, %r2;\n", "%rd1") == "zext64(%r1) + 5");
  CHECK(made("add.s32 %r2, %r90, 5;\ncvt.s64.s32 %rd1, %r2;\n", "%rd1") == "sext64(%r90 + 5)");
}

TEST_CASE("scev: nests") {
  Evolution e(
      "ld.param.u32 %r9, [n];\nmov.u32 %r1, 0;\nA:\nmov.u32 %r2, %r1;\nB:\nmad.lo.s32 %r3, %r1, 16, %r2;\n"
      "st.global.u32 [0], %r3;\nadd.s32 %r2, %r2, 1;\nsetp.lt.s32 %p1, %r2, 8;\n@%p1 bra B;\nadd.s32 %r1, %r1, 1;\n"
      "setp.lt.s32 %p2, %r1, 8;\n@%p2 bra A;\nret;\n");
  CHECK(e.last("%r3") == "{{0,+,17}<B1>,+,1}<B2>");
  CHECK(e.trips(0) == "7 <= 7");
  CHECK(e.trips(1) == "{7,+,-1}<B1> <= 7");
  CHECK(e.range("%r3") == "32: [0, 126]");
}
