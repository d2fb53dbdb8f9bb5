// What each operand of an instruction is: def, use or mod.
#include "support.h"

using namespace ptxopt;
using namespace ptxopt::testing;

TEST_CASE("roles: plain instructions") {
  CHECK(rolesOf("add.s32 %r1, %r2, %r3;") == "%r1:d %r2:u %r3:u");
  CHECK(rolesOf("mov.u32 %r1, 5;") == "%r1:d");
  CHECK(rolesOf("st.global.u32 [%rd1], %r2;") == "%rd1:u %r2:u");
  CHECK(rolesOf("bar.sync 0;") == "");
  CHECK(rolesOf("bar.sync %r1, %r2;") == "%r1:u %r2:u");
  CHECK(rolesOf("add.s32 %r1, %r1, 1;") == "%r1:d %r1:u");
}

TEST_CASE("roles: guards make mods of definitions") {
  CHECK(rolesOf("@%p1 mov.u32 %r1, %r2;") == "@%p1:u %r1:m %r2:u");
  CHECK(rolesOf("@!%p1 ld.global.v2.u32 {%r1, %r2}, [%rd1];") == "@!%p1:u %r1:m %r2:m %rd1:u");
  CHECK(rolesOf("@%p1 setp.eq.s32 %p1|%p2, %r1, 0;") == "@%p1:u %p1:m %p2:m %r1:u");
  CHECK(rolesOf("@%p1 st.global.u32 [%rd1], %r2;") == "@%p1:u %rd1:u %r2:u");
  CHECK(rolesOf("@ ! /* x */ %p3 mov.u32 %r1, 1;") == "@!%p3:u %r1:m");
  CHECK(rolesOf("@ /* ! */ %p3 mov.u32 %r1, 1;") == "@%p3:u %r1:m");
}

TEST_CASE("roles: the carry flag") {
  CHECK(rolesOf("add.cc.u32 %r1, %r2, %r3;") == "%r1:d %r2:u %r3:u +carry:d");
  CHECK(rolesOf("addc.u32 %r1, %r2, %r3;") == "%r1:d %r2:u %r3:u +carry:u");
  CHECK(rolesOf("addc.cc.u32 %r1, %r2, %r3;") == "%r1:d %r2:u %r3:u +carry:m");
  CHECK(rolesOf("@%p1 add.cc.u32 %r1, %r2, %r3;") == "@%p1:u %r1:m %r2:u %r3:u +carry:m");
  CHECK(rolesOf("@%p1 subc.u32 %r1, %r2, %r3;") == "@%p1:u %r1:m %r2:u %r3:u +carry:u");
  CHECK(rolesOf("mad.lo.cc.u32 %r1, %r2, %r3, %r4;") == "%r1:d %r2:u %r3:u %r4:u +carry:d");
  CHECK(rolesOf("madc.hi.cc.u32 %r1, %r2, %r3, %r4;") == "%r1:d %r2:u %r3:u %r4:u +carry:m");
}

TEST_CASE("roles: pairs, vectors and sinks") {
  CHECK(rolesOf("setp.lt.s32 %p1|%p2, %r1, %r2;") == "%p1:d %p2:d %r1:u %r2:u");
  CHECK(rolesOf("setp.lt.and.s32 %p1|%p2, %r1, %r2, !%p3;") == "%p1:d %p2:d %r1:u %r2:u %p3:u");
  CHECK(rolesOf("setp.lt.s32 _|%p2, %r1, %r2;") == "%p2:d %r1:u %r2:u");
  CHECK(rolesOf("shfl.sync.idx.b32 %r1|%p1, %r2, %r3, 31, -1;") == "%r1:d %p1:d %r2:u %r3:u");
  CHECK(rolesOf("ld.global.v4.u32 {%r1, _, %r3, %r4}, [%rd1];") == "%r1:d %r3:d %r4:d %rd1:u");
  CHECK(rolesOf("st.global.v2.u32 [%rd1], {%r1, %r2};") == "%rd1:u %r1:u %r2:u");
  CHECK(rolesOf("mov.b64 %rd1, {%r1, %r2};") == "%rd1:d %r1:u %r2:u");
  CHECK(rolesOf("mov.b64 {%r1, %r2}, %rd1;") == "%r1:d %r2:d %rd1:u");
  CHECK(rolesOf("elect.sync _|%p1, -1;") == "%p1:d");
  CHECK(rolesOf("elect.sync %r1|%p1, -1;") == "%r1:d %p1:d");
  CHECK(rolesOf("lop3.or.b32 %r1|%p1, %r2, %r3, %r4, 0x3f, %p2;") == "%r1:d %p1:d %r2:u %r3:u %r4:u %p2:u");
}

TEST_CASE("roles: lanes of vector registers") {
  CHECK(rolesOf("mov.u32 %v1.x, %r1;") == "%v1:m %r1:u");
  CHECK(rolesOf("mov.u32 %v1 .y, %r1;") == "%v1:m %r1:u");
  CHECK(rolesOf("mov.u32 %r1, %v1.w;") == "%r1:d %v1:u");
  CHECK(rolesOf("ld.global.v4.b32 %v1, [%rd1];") == "%v1:d %rd1:u");
  // A selector on a scalar of a video instruction: the whole register is written.
  CHECK(rolesOf("vadd.s32.u32.u32.add %r1.b0, %r2.b1, %r3, %r4;") == "%r1:d %r2:u %r3:u %r4:u");
}

TEST_CASE("roles: addresses are uses") {
  CHECK(rolesOf("ld.global.u32 %r1, [%rd1+4];") == "%r1:d %rd1:u");
  CHECK(rolesOf("atom.global.add.u32 %r1, [%rd1], %r2;") == "%r1:d %rd1:u %r2:u");
  CHECK(rolesOf("atom.global.add.u32 _, [%rd1], %r2;") == "%rd1:u %r2:u");
  CHECK(rolesOf("red.global.add.u32 [%rd1], %r2;") == "%rd1:u %r2:u");
  CHECK(rolesOf("mbarrier.arrive.shared.b64 %rd1, [%r1];") == "%rd1:d %r1:u");
  CHECK(rolesOf("mbarrier.arrive.shared::cluster.b64 _, [%r1];") == "%r1:u");
  CHECK(rolesOf("mbarrier.arrive.release.cluster.shared::cluster.b64 [%r1], %r2;") == "%r1:u %r2:u");
  CHECK(rolesOf("tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}];") ==
        "%f1:d %f2:d %f3:d %f4:d %rd1:u %f5:u %f6:u");
  CHECK(rolesOf("mov.u32 %r1, %r2+4;") == "%r1:d %r2:u");
}

TEST_CASE("roles: addresses of several registers") {
  CHECK(
      rolesOf(
          "fabric.try_get.async.shared::cta.mbarrier::complete_tx::bytes.mbarrier::report::fabric.relaxed.sys.b128 "
          "[%r1], [%r2, %rd1], %r3, [%r4];") == "%r1:u %r2:u %rd1:u %r3:u %r4:u");
  CHECK(rolesOf(
            "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes.override::global_address."
            "override::global_dim_stride [%r1], [%rd1, %rd2, {%h1, %h2}, {%r2}, %h3, {%r3, %r4}], [%r5];") ==
        "%r1:u %rd1:u %rd2:u %h1:u %h2:u %r2:u %h3:u %r3:u %r4:u %r5:u");
  CHECK(rolesOf("createpolicy.range.fabric.L2::evict_last.b64 %rd1, [%r1, %rd2], %r2, %r3;") ==
        "%rd1:d %r1:u %rd2:u %r2:u %r3:u");
}

TEST_CASE("roles: results before an address") {
  CHECK(rolesOf("mbarrier.test_wait.shared.b64 %p1, [%r1], %rd1;") == "%p1:d %r1:u %rd1:u");
  CHECK(rolesOf(
            "mbarrier.try_wait.phase_type::primary.acquire.cta.shared::cta.b64 %p1|%p2, %h1, [%r1], %rd1, %r2;") ==
        "%p1:d %p2:d %h1:d %r1:u %rd1:u %r2:u");
  CHECK(rolesOf("tcgen05.ld.spcompress.sync.aligned.32x32b.x4.max.sp::2:4.f32.b2 {%r1}, {%r2, %r3}, [%r4];") ==
        "%r1:d %r2:d %r3:d %r4:u");
  CHECK(rolesOf(
            "tcgen05.ld.red.spcompress.sync.aligned.32x32b.x4.max.sp::2:4.f32.b2 {%r1}, {%r2, %r3}, %f1, [%r4];") ==
        "%r1:d %r2:d %r3:d %f1:d %r4:u");
}

// ISA: results and sources may not overlap, so that the sources count as written.
TEST_CASE("roles: vectors that may not overlap") {
  CHECK(rolesOf("spcompress.b8.b2.sp::2:4.x2 {%r1}, {%r2, %r3}, {%r4, %r5, %r6, %r7}, %r8;") ==
        "%r1:d %r2:d %r3:d %r4:m %r5:m %r6:m %r7:m %r8:u");
  CHECK(rolesOf("spdecompress.b16.b2.sp::2:4.x1 {%r1, %r2}, {%r3}, {%r4};") == "%r1:d %r2:d %r3:m %r4:m");
}

TEST_CASE("roles: accumulators in place are mods, the others are not") {
  CHECK(
      rolesOf(
          "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %p1, 1, 1, 0, 0;") ==
      "%f1:m %f2:m %f3:m %f4:m %rd1:u %rd2:u %p1:u");
  CHECK(rolesOf("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2}, {%r3}, "
                "{%f1,%f2,%f3,%f4};") == "%f1:d %f2:d %f3:d %f4:d %r1:u %r2:u %r3:u %f1:u %f2:u %f3:u %f4:u");
  CHECK(rolesOf("tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r1, %r2}, [%r3];") == "%r1:d %r2:d %r3:u");
}

TEST_CASE("roles: what the table does not know is all mods") {
  CHECK(rolesOf("frob.b32 %r1, [%rd1], {%r2, %r3};") == "%r1:m %rd1:m %r2:m %r3:m +carry:m");
  CHECK(rolesOf("@%p1 frob.b32 %r1;") == "@%p1:u %r1:m +carry:m");
  CHECK(rolesOf("wgmma.brand_new.sync %r1, %rd1;") == "%r1:m %rd1:m");
}

TEST_CASE("roles: calls") {
  const std::string callee = ".func (.reg .b32 %o) f(.reg .b32 %i)\n;\n.func g()\n;\n";
  const auto call = [&](std::string_view statement) {
    const Parsed p(kHeader + callee +
                   ".entry k()\n{\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n.reg .pred %p<3>;\n.param .b32 a, b;\n"
                   "P: .callprototype (.reg .b32 _) _ (.reg .b32 _);\n" +
                   std::string(statement) + "\n}\n");
    return roles(p, p.function(2), p.at(0, 2));
  };
  CHECK(call("call (%r1), f, (%r2);") == "%r1:d %r2:u");
  CHECK(call("call.uni (%r1), f, (%r2);") == "%r1:d %r2:u");
  CHECK(call("@%p1 call (%r1), f, (%r2);") == "@%p1:u %r1:m %r2:u");
  CHECK(call("call (_), f, (%r2);") == "%r2:u");
  CHECK(call("call g;") == "");
  CHECK(call("call f, (%r2);") == "%r2:u");
  CHECK(call("call (%r1), %rd1, (%r2), P;") == "%r1:d %rd1:u %r2:u");
  CHECK(call("call %rd1, (%r2), P;") == "%rd1:u %r2:u");
  CHECK(call("call (a), f, (b);") == "");
}

TEST_CASE("roles: ret reads the return registers") {
  const Parsed p(
      kHeader +
      ".func (.reg .b32 %a, .reg .pred %b) f(.reg .b32 %i)\n{\n.reg .pred %p;\nmov.u32 %a, %i;\n@%p ret;\n"
      "exit;\nret.uni;\n}\n.func (.param .b32 o) g()\n{\nret;\n}\n");
  const Function& f = p.function();
  CHECK(roles(p, f, p.at(0)) == "%a:d %i:u");
  CHECK(roles(p, f, p.at(1)) == "@%p:u +%a:u +%b:u");
  CHECK(roles(p, f, p.at(2)) == "");
  CHECK(roles(p, f, p.at(3)) == "+%a:u +%b:u");
  CHECK(roles(p, p.function(1), p.at(0, 1)) == "");
  CHECK(f.returnRegisters.size() == 2);
  CHECK(f.registers[1].isParameter);
  CHECK(f.registers[3].isParameter);
  CHECK_FALSE(f.registers[4].isParameter);
}

TEST_CASE("roles: special registers are no registers, and some reads are volatile") {
  const Parsed p(kernel("mov.u32 %r1, %tid.x;\nmov.u32 %r1, %clock;\nmov.u32 %r1, %tid .y;\n"));
  const Function& f = p.function();
  const auto special = [&](std::size_t index) { return f.operandsOf(f[p.at(index)])[1]; };
  CHECK(special(0).kind == OperandKind::SpecialRegister);
  CHECK(p.name(NameId(special(0).payload)) == "%tid.x");
  CHECK_FALSE(special(0).is(Operand::VolatileRead));
  CHECK(special(1).is(Operand::VolatileRead));
  CHECK(p.name(NameId(special(2).payload)) == "%tid.y");
}

TEST_CASE("operands: groups, joins and values") {
  const Parsed p(kernel(
      "ld.global.v2.u32 {%r1, %r2}, [%rd1+-8];\nmov.b32 %r1, 0xFFFFFFFF;\nmov.u64 %rd1, -1;\n"
      "mov.f32 %f1, 0f3F800000;\nmov.f64 %fd1, 0d3FF0000000000000;\nmov.f32 %f1, -1.5;\nmov.u32 %r1, (3 + 4) * 2;\n"
      "mov.u64 %rd1, 18446744073709551615;\nmov.u32 %r1, WARP_SZ;\n"));
  const Function& f = p.function();
  const auto operands = [&](std::size_t index) { return f.operandsOf(f[p.at(index)]); };
  const auto ld = operands(0);
  REQUIRE(ld.size() == 6);
  CHECK(ld[0].kind == OperandKind::Vector);
  CHECK(ld[0].inside() == 2);
  CHECK(ld[1].join == Join::None);
  CHECK(ld[2].join == Join::Comma);
  CHECK(ld[3].kind == OperandKind::Memory);
  CHECK(ld[3].join == Join::Comma);
  CHECK(ld[3].inside() == 2);
  CHECK(ld[5].kind == OperandKind::Integer);
  CHECK(ld[5].join == Join::Plus);
  CHECK(static_cast<int32_t>(ld[5].payload) == -8);
  CHECK(operands(1)[1].kind == OperandKind::WideInteger);
  CHECK(f.constants[operands(1)[1].payload] == 0xFFFFFFFF);
  CHECK(operands(1)[1].is(Operand::Hex));
  CHECK(operands(2)[1].kind == OperandKind::Integer);
  CHECK(operands(2)[1].payload == 0xFFFFFFFF);
  CHECK(operands(3)[1].kind == OperandKind::Float32);
  CHECK(operands(3)[1].payload == 0x3F800000);
  CHECK(f.constants[operands(4)[1].payload] == 0x3FF0000000000000);
  CHECK(operands(5)[1].kind == OperandKind::Decimal);
  CHECK(operands(5)[1].is(Operand::Negated));
  CHECK(f.constants[operands(5)[1].payload] == 0x3FF8000000000000);
  REQUIRE(operands(6).size() == 5);
  CHECK(operands(6)[1].kind == OperandKind::Paren);
  CHECK(operands(6)[1].inside() == 2);
  CHECK(operands(6)[4].join == Join::Times);
  CHECK(operands(7)[1].is(Operand::Unsigned));
  CHECK(operands(8)[1].kind == OperandKind::Builtin);
}
