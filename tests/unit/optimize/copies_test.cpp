// Which instructions are copies, of which family, and which are none.
#include "analysis/dataflow/copies.h"

#include "support.h"

using namespace ptxopt;
using namespace ptxopt::testing;

namespace {

// "plain %r1 <- %r2", with "guarded " before it; "" for what is no copy.
std::string copyOf(std::string_view statement) {
  const Parsed p(
      kernel("\t.reg .f16x2 %hh<9>;\n\t.reg .f16 %fh<9>;\n"
             "\t.reg .u32 %u<9>;\n\t.reg .s64 %sd<9>;\n\t.reg .u8 %c<9>;\n\t.global .b32 var;\n" +
             std::string(statement) + "\n"));
  const Function& f = p.function();
  const auto copy = readCopy(*p, f, p.at(0));
  if (!copy) return "";
  CHECK(copy->instruction == p.at(0));
  return (copy->isGuarded ? "guarded " : "") + std::string(name(copy->family)) + " " +
         std::string(p.name(f.registers[copy->to.value].name)) + " <- " +
         std::string(p.name(f.registers[copy->from.value].name));
}

}  // namespace

TEST_CASE("readCopy: plain") {
  CHECK(copyOf("mov.u32 %r1, %r2;") == "plain %r1 <- %r2");
  CHECK(copyOf("mov.b32 %r1, %u2;") == "plain %r1 <- %u2");
  CHECK(copyOf("mov.s32 %u1, %r2;") == "plain %u1 <- %r2");
  CHECK(copyOf("mov.b64 %rd1, %sd2;") == "plain %rd1 <- %sd2");
  CHECK(copyOf("mov.u16 %h1, %h2;") == "plain %h1 <- %h2");
  CHECK(copyOf("mov.pred %p1, %p2;") == "plain %p1 <- %p2");
  CHECK(copyOf("mov.f32 %f1, %f2;") == "plain %f1 <- %f2");
  CHECK(copyOf("mov.f64 %fd1, %fd2;") == "plain %fd1 <- %fd2");
  CHECK(copyOf("@%p1 mov.u32 %r1, %r2;") == "guarded plain %r1 <- %r2");
  CHECK(copyOf("@!%p1 mov.pred %p1, %p2;") == "guarded plain %p1 <- %p2");
  CHECK(copyOf("mov.u32 %r1, %r1;") == "plain %r1 <- %r1");
}

TEST_CASE("readCopy: other families") {
  CHECK(copyOf("mov.b32 %hh1, %r2;") == "retyped %hh1 <- %r2");
  CHECK(copyOf("mov.b16 %h1, %fh2;") == "retyped %h1 <- %fh2");
  CHECK(copyOf("mov.f32 %r1, %r2;") == "retyped %r1 <- %r2");
  CHECK(copyOf("mov.b32 %f1, %f2;") == "retyped %f1 <- %f2");
  CHECK(copyOf("mov.b32 %r1, %f2;") == "cross-class %r1 <- %f2");
  CHECK(copyOf("mov.b32 %f1, %r2;") == "cross-class %f1 <- %r2");
  CHECK(copyOf("mov.b64 %fd1, %rd2;") == "cross-class %fd1 <- %rd2");
  CHECK(copyOf("cvt.u32.s32 %r1, %r2;") == "convert %r1 <- %r2");
  CHECK(copyOf("cvt.u64.u64 %rd1, %rd2;") == "convert %rd1 <- %rd2");
  CHECK(copyOf("selp.b32 %r1, %r2, %r2, %p1;") == "select %r1 <- %r2");
  CHECK(copyOf("cvt.s16.u16 %h1, %h2;") == "convert %h1 <- %h2");
  CHECK(copyOf("cvta.global.u64 %rd1, %rd2;") == "address %rd1 <- %rd2");
  CHECK(copyOf("cvta.to.global.u64 %rd1, %rd2;") == "address %rd1 <- %rd2");
  CHECK(copyOf("@%p1 cvta.to.global.u64 %rd1, %rd2;") == "guarded address %rd1 <- %rd2");
}

TEST_CASE("readCopy: what only looks like a copy") {
  for (const char* const statement : {"mov.u32 %r1, 7;",
                                      "mov.u32 %r1, %tid.x;",
                                      "mov.u32 %r1, var;",
                                      "mov.u64 %rd1, p;",
                                      "mov.b32 %r1, -%r2;",
                                      "mov.pred %p1, !%p2;",
                                      "mov.b32 %r1, {%h1, %h2};",
                                      "mov.b64 {%r1, %r2}, %rd1;",
                                      "mov.b64 {%r1, _}, %rd1;",
                                      "mov.b128 %q1, %q2;",
                                      "mov.u32 %r1, %v1.x;",
                                      "mov.u32 %v1.x, %r1;",
                                      "mov.v4.b32 %v1, %v2;",

                                      "cvt.u32.u16 %r1, %h1;",
                                      "cvt.u16.u32 %h1, %r1;",
                                      "cvt.u16.u16 %r1, %r2;",
                                      "cvt.u8.u8 %r1, %r2;",
                                      "cvt.s64.s32 %rd1, %r1;",
                                      "cvt.f32.f32 %f1, %f2;",
                                      "cvt.rn.f32.f32 %f1, %f2;",
                                      "cvt.ftz.f32.f32 %f1, %f2;",
                                      "cvt.rni.s32.f32 %r1, %f1;",
                                      "cvt.rn.f32.s32 %f1, %r1;",
                                      "cvt.sat.u32.s32 %r1, %r2;",
                                      "cvt.sat.s32.u32 %r1, %r2;",
                                      "cvta.shared.u64 %rd1, %rd2;",
                                      "cvta.to.shared.u64 %rd1, %rd2;",
                                      "cvta.local.u64 %rd1, %rd2;",
                                      "cvta.to.const.u64 %rd1, %rd2;",
                                      "cvta.to.param.u64 %rd1, %rd2;",
                                      "cvta.shared.u32 %r1, %r2;",
                                      "cvta.global.u32 %r1, %r2;",
                                      "cvta.to.global.u32 %r1, %r2;",
                                      "cvta.global.u64 %rd1, var;",
                                      "mov.b8 %c1, %c2;",
                                      "add.u32 %r1, %r2, 0;",
                                      "or.b32 %r1, %r2, %r2;",
                                      "selp.b32 %r1, %r2, %r3, %p1;",
                                      "ld.param.u32 %r1, [n];"}) {
    INFO(statement);
    CHECK(copyOf(statement) == "");
  }
}

TEST_CASE("areInterchangeable: types that every instruction takes alike") {
  using T = ScalarType;
  for (const T t : {T::b32, T::u32, T::s32})
    for (const T u : {T::b32, T::u32, T::s32}) CHECK(areInterchangeable(t, u));
  for (const T t : {T::b64, T::u64, T::s64}) CHECK(areInterchangeable(t, T::b64));
  for (const T t : {T::b16, T::u16, T::s16}) CHECK(areInterchangeable(T::u16, t));
  for (const T t : {T::pred, T::f32, T::f64, T::f16, T::f16x2, T::b128}) CHECK(areInterchangeable(t, t));
  for (const T t : {T::f32, T::f16x2, T::bf16x2, T::b16, T::b64, T::pred}) {
    CHECK_FALSE(areInterchangeable(T::b32, t));
    CHECK_FALSE(areInterchangeable(t, T::b32));
  }
  CHECK_FALSE(areInterchangeable(T::f16, T::b16));
  CHECK_FALSE(areInterchangeable(T::f16, T::bf16));
  CHECK_FALSE(areInterchangeable(T::f64, T::b64));
}
