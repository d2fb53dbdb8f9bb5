// What the reading of a kernel's parameters finds out.
#include "verify/fields.h"

#include "exec/machine.h"
#include "support.h"

namespace ptxopt::verify {
namespace {

using ptxopt::testing::kHeader;
using ptxopt::testing::Parsed;

struct Found {
  Parsed module;
  KernelUse use;
};

// The first kernel of the text.
Found use(const std::string& text) {
  Found f{Parsed(kHeader + text), {}};
  exec::Machine machine(*f.module);
  const std::string name = machine.kernels().at(0);
  for (const Function& function : f.module->functions)
    if (function.isEntry && f.module->text(function.name) == name)
      f.use = findUse(*f.module, function, machine.kernel(name));
  return f;
}

// "p:0/8 pointer to f32, n:8/4 scalar"
std::string show(const KernelUse& use) {
  std::string text;
  for (const Field& f : use.fields) {
    if (!text.empty()) text += ", ";
    text += f.parameter + ":" + std::to_string(f.offset) + "/" + std::to_string(f.bytes);
    text += f.use == Field::Use::Pointer ? " pointer" : f.use == Field::Use::MaybePointer ? " maybe" : " scalar";
    if (f.element != ScalarType::None) text += " to " + std::string(info(f.element).name);
    if (f.isFloat) text += " float";
  }
  return text;
}

std::string fieldsOf(const std::string& text) { return show(use(text).use); }

const std::string kRegisters =
    "\t.reg .pred %p<9>;\n\t.reg .b16 %h<9>;\n\t.reg .b32 %r<20>;\n\t.reg .b64 %rd<20>;\n\t.reg .f32 %f<9>;\n"
    "\t.reg .f64 %fd<9>;\n";

std::string kernel(const std::string& parameters, const std::string& body) {
  return ".visible .entry k(" + parameters + ")\n{\n" + kRegisters + body + "ret;\n}\n";
}

}  // namespace

TEST_CASE("fields: pointers by their accesses, scalars by the lack of them") {
  CHECK(fieldsOf(kernel(".param .u64 x, .param .u64 y, .param .u32 n, .param .u64 size",
                        "ld.param.u64 %rd1, [x];\ncvta.to.global.u64 %rd2, %rd1;\n"
                        "ld.param.u64 %rd3, [y];\nld.param.u32 %r1, [n];\nld.param.u64 %rd9, [size];\n"
                        "mul.wide.u32 %rd4, %r1, 8;\nadd.s64 %rd5, %rd2, %rd4;\nadd.s64 %rd6, %rd3, %rd9;\n"
                        "ld.global.u16 %h1, [%rd5+2];\nst.global.u16 [%rd5], %h1;\n"
                        "cvt.u32.u64 %r2, %rd9;\nst.global.u32 [%rd3+4], %r2;\n")) ==
        "x:0/8 pointer to u16, y:8/8 pointer to u32, n:16/4 scalar, size:24/8 scalar");
}

TEST_CASE("fields: what is added to a pointer as it is may be one") {
  CHECK(fieldsOf(kernel(".param .u64 x, .param .u64 offset",
                        "ld.param.u64 %rd1, [x];\nld.param.u64 %rd2, [offset];\nadd.s64 %rd3, %rd1, %rd2;\n"
                        "ld.global.u8 %h1, [%rd3];\nst.global.u8 [%rd3+1], %h1;\n")) ==
        "x:0/8 maybe to u8, offset:8/8 maybe to u8");
  CHECK(fieldsOf(kernel(".param .u64 x, .param .u64 offset",
                        "ld.param.u64 %rd1, [x];\ncvta.to.global.u64 %rd1, %rd1;\nld.param.u64 %rd2, [offset];\n"
                        "add.s64 %rd3, %rd1, %rd2;\nld.global.u8 %h1, [%rd3];\nst.global.u8 [%rd3+1], %h1;\n")) ==
        "x:0/8 pointer to u8, offset:8/8 maybe to u8");
}

TEST_CASE("fields: element types and floats come from the instructions that use the values") {
  // A 32-bit load without a type, whose value is added as a float; the same for 64 bits.
  CHECK(
      fieldsOf(kernel(".param .u64 x, .param .u64 y, .param .b32 a, .param .f64 b, .param .f32 c",
                      "ld.param.u64 %rd1, [x];\nld.param.u64 %rd2, [y];\nld.param.b32 %f2, [a];\n"
                      "ld.global.b32 %f1, [%rd1];\nadd.f32 %f3, %f1, %f2;\nst.global.b32 [%rd1], %f3;\n"
                      "ld.global.b64 %fd1, [%rd2];\nadd.f64 %fd1, %fd1, %fd1;\nst.global.b64 [%rd2], %fd1;\n")) ==
      "x:0/8 pointer to f32, y:8/8 pointer to f64, a:16/4 scalar float, b:24/8 scalar float, c:32/4 scalar float");
}

TEST_CASE("fields: a parameter that nothing reads has a value too; .ptr makes it a pointer") {
  CHECK(fieldsOf(kernel(".param .u64 x, .param .u8 small, .param .u64 .ptr .global .align 16 y", "")) ==
        "x:0/8 scalar, small:8/1 scalar, y:16/8 pointer");
}

TEST_CASE("fields: members of a structure") {
  CHECK(
      fieldsOf(kernel(".param .align 8 .b8 s[32]",
                      "ld.param.u64 %rd1, [s+8];\nld.param.v2.u32 {%r1, %r2}, [s+16];\nld.param.f32 %f1, [s+24];\n"
                      "ld.param.u8 %h1, [s+3];\nst.global.f32 [%rd1], %f1;\n")) ==
      "s+3:3/1 scalar, s+8:8/8 pointer to f32, s+16:16/4 scalar, s+20:20/4 scalar, s+24:24/4 scalar float");
}

TEST_CASE("fields: a structure whose address is taken is read as words") {
  CHECK(fieldsOf(kernel(".param .align 8 .b8 s[16]",
                        "mov.b64 %rd1, s;\nadd.s64 %rd2, %rd1, 8;\nld.param.u64 %rd3, [%rd2];\n"
                        "st.global.u32 [%rd3], 1;\n")) == "s+0:0/8 maybe, s+8:8/8 maybe");
}

TEST_CASE("fields: pointers that lie on the stack meanwhile, as clang -O0 has them") {
  CHECK(fieldsOf(kernel(
            ".param .u64 x, .param .u32 n",
            ".local .align 8 .b8 depot[16];\nmov.u64 %rd1, depot;\ncvta.local.u64 %rd2, %rd1;\n"
            "ld.param.u64 %rd3, [x];\nld.param.u32 %r1, [n];\ncvta.to.global.u64 %rd4, %rd3;\n"
            "cvta.global.u64 %rd5, %rd4;\nadd.u64 %rd6, %rd2, 0;\nst.u64 [%rd2], %rd5;\nst.u32 [%rd2+8], %r1;\n"
            "ld.u64 %rd7, [%rd2];\nld.s32 %rd8, [%rd2+8];\nshl.b64 %rd9, %rd8, 2;\nadd.s64 %rd10, %rd7, %rd9;\n"
            "st.f32 [%rd10], 0f3F800000;\n")) == "x:0/8 pointer to f32, n:8/4 scalar");
}

TEST_CASE("fields: through the parameters and results of a function") {
  CHECK(
      fieldsOf(
          ".func (.param .b64 r) at(.param .b64 a, .param .b32 i)\n{\n" + kRegisters +
          "ld.param.u64 %rd1, [a];\nld.param.u32 %r1, [i];\nmul.wide.u32 %rd2, %r1, 2;\nadd.s64 %rd3, %rd1, %rd2;\n"
          "st.param.b64 [r], %rd3;\nret;\n}\n" +
          kernel(".param .u64 x, .param .u32 n",
                 "ld.param.u64 %rd1, [x];\nld.param.u32 %r1, [n];\n{\n.param .b64 p0;\n.param .b32 p1;\n.param "
                 ".b64 q;\n"
                 "st.param.b64 [p0], %rd1;\nst.param.b32 [p1], %r1;\ncall (q), at, (p0, p1);\nld.param.b64 %rd2, "
                 "[q];\n}\n"
                 "ld.u16 %h1, [%rd2];\nst.u16 [%rd2], %h1;\n")) == "x:0/8 pointer to u16, n:8/4 scalar");
}

namespace {
// "*p+0+8k -> *(p+0+8k)"
std::string slotsOf(const std::string& text) {
  const Found f = use(text);
  std::string list;
  for (const Slot& s : f.use.slots) {
    if (!list.empty()) list += ", ";
    list += f.use.fields[s.holder].parameter + "+" + std::to_string(s.at);
    if (s.stride != 0) list += "+" + std::to_string(s.stride) + "k";
    list += " to " + std::string(s.target <= s.holder ? "its own kind" : info(f.use.fields[s.target].element).name);
  }
  return list;
}
}  // namespace

TEST_CASE("fields: pointers in memory, with the place and the stride") {
  const std::string load = "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\n";
  // A table, a structure, an array of structures.
  CHECK(slotsOf(kernel(".param .u64 p", load + "mul.wide.u32 %rd2, %r1, 8;\nadd.s64 %rd3, %rd1, %rd2;\n"
                                               "ld.global.u64 %rd4, [%rd3];\nst.global.f32 [%rd4], %f1;\n")) ==
        "p+0+8k to f32");
  CHECK(slotsOf(kernel(".param .u64 p", load + "ld.global.u64 %rd4, [%rd1+16];\nld.global.u64 %rd5, [%rd1+8];\n"
                                               "st.global.u16 [%rd4], %h1;\n")) == "p+16 to u16");
  CHECK(slotsOf(kernel(".param .u64 p",
                       load + "mul.lo.s32 %r2, %r1, 3;\nmul.wide.s32 %rd2, %r2, 8;\nadd.s64 %rd3, %rd1, %rd2;\n"
                              "add.s64 %rd6, %rd3, 8;\nld.global.u64 %rd4, [%rd6+8];\n"
                              "cvta.to.global.u64 %rd5, %rd4;\nst.global.u32 [%rd5+4], %r1;\n")) ==
        "p+16+24k to u32");
  // Tables of tables; two loads of one place are one pointer; a list leads to its own kind.
  CHECK(slotsOf(kernel(".param .u64 p", load + "mul.wide.u32 %rd2, %r1, 8;\nadd.s64 %rd3, %rd1, %rd2;\n"
                                               "ld.global.u64 %rd4, [%rd3];\nadd.s64 %rd5, %rd4, %rd2;\n"
                                               "ld.global.u64 %rd6, [%rd5];\nld.global.u8 %h1, [%rd6];\n")) ==
        "p+0+8k to u64, *(p+0+8k)+0+8k to u8");
  CHECK(slotsOf(kernel(".param .u64 p", load + "ld.global.u64 %rd4, [%rd1];\nst.global.u32 [%rd4], %r1;\n"
                                               "ld.global.u64 %rd5, [%rd1];\nst.global.u32 [%rd5+4], %r1;\n")) ==
        "p+0 to u32");
  CHECK(slotsOf(kernel(".param .u64 p", load + "L: ld.global.u32 %r2, [%rd1];\nld.global.u64 %rd1, [%rd1+8];\n"
                                               "setp.ne.u64 %p1, %rd1, 0;\n@%p1 bra L;\n")) ==
        "p+8 to u32, *(p+8)+8 to its own kind");
  // What is loaded and added to a pointer is an offset.
  const std::string offset =
      kernel(".param .u64 p, .param .u64 q", load +
                                                 "ld.param.u64 %rd2, [q];\nld.global.u64 %rd3, [%rd1];\n"
                                                 "add.s64 %rd4, %rd2, %rd3;\nst.global.u8 [%rd4], %h1;\n");
  CHECK(slotsOf(offset) == "");
  CHECK(fieldsOf(offset) == "p:0/8 pointer to u64, q:8/8 pointer to u8");
}

TEST_CASE("fields: what the shape of a launch should have") {
  const Found f = use(".extern .shared .align 4 .b8 tile[];\n" +
                      kernel(".param .u64 x",
                             "ld.param.u64 %rd1, [x];\nmov.u32 %r1, %ctaid.y;\nmov.u32 %r2, tile;\n"
                             "bar.sync 0;\nst.global.u32 [%rd1], %r1;\n"));
  CHECK(f.use.shape.gridY);
  CHECK_FALSE(f.use.shape.y);
  CHECK_FALSE(f.use.shape.gridZ);
  CHECK(f.use.shape.dynamicShared);
  CHECK(f.use.shape.barrier);
  CHECK_FALSE(f.use.shape.warp);
  const Found g = use(kernel(".param .u64 x", "mov.u32 %r1, %tid.z;\nshfl.sync.idx.b32 %r2, %r1, 0, 31, -1;\n"));
  CHECK(g.use.shape.z);
  CHECK(g.use.shape.warp);
  CHECK_FALSE(g.use.shape.barrier);
  CHECK_FALSE(g.use.shape.dynamicShared);
}

}  // namespace ptxopt::verify
