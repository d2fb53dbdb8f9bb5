#include "text/print.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "ir/verify.h"
#include "ptxopt/ptxopt.h"
#include "support.h"

using namespace ptxopt;
using namespace ptxopt::testing;

namespace {

std::string reprinted(std::string_view text) {
  const Parsed p{std::string(text)};
  return text::print(*p, {.reprint = true});
}

// What `--reprint` makes of one statement.
std::string statement(std::string_view text) {
  const Parsed p(kernel(std::string(text) + "\n"));
  const Function& f = p.function();
  return text::printInstruction(*p, f, f[InstrId(kDeclarations)]);
}

// The body of a kernel after `edit`, without what stands before `body`.
template <typename Edit>
std::string edited(const std::string& body, Edit edit) {
  const Parsed p(kernel(body));
  edit(p, p.function());
  const std::string text = text::print(*p);
  const std::string before = kernel("");
  const std::string head = before.substr(0, before.size() - 2);
  REQUIRE(text.starts_with(head.substr(0, head.find('{'))));
  const std::size_t at = text.find(".b32 %v<9>;\n");
  REQUIRE(at != std::string::npos);
  CHECK(text.ends_with("}\n"));
  return text.substr(at + 12, text.size() - at - 14);
}

}  // namespace

TEST_CASE("print: what nothing changed comes out byte for byte") {
  for (const std::string& body :
       {std::string(), std::string("\t mov.u32   %r1 , 5 ; // five\r\n\r\n/* a */ L : bra L ;"),
        std::string("{{}}")}) {
    const std::string text = kernel(body) + "// the end, without a newline";
    CHECK(text::print(*Parsed(text)) == text);
  }
}

TEST_CASE("print: an erased instruction goes with its line, its comment stays") {
  const auto eraseFirst = [](const Parsed& p, Function& f) { f.erase(p.at(0)); };
  CHECK(edited("\tmov.u32 %r1, 5;\n\tret;\n", eraseFirst) == "\tret;\n");
  CHECK(edited("  mov.u32 %r1, 5;  \r\n\tret;\r\n", eraseFirst) == "\tret;\r\n");
  CHECK(edited("\tmov.u32 %r1, 5; // five\n\tret;\n", eraseFirst) == "\t // five\n\tret;\n");
  CHECK(edited("\t/* five */ mov.u32 %r1, 5;\n\tret;\n", eraseFirst) == "\t/* five */ \n\tret;\n");
  CHECK(edited("// above\n\tmov.u32 %r1,\n\t\t5;\n// below\n\tret;\n", eraseFirst) ==
        "// above\n// below\n\tret;\n");
  CHECK(edited("L: mov.u32 %r1, 5;\n\tret;\n", eraseFirst) == "L: \n\tret;\n");
  CHECK(edited("mov.u32 %r1, 5; ret;\n", eraseFirst) == " ret;\n");
}

TEST_CASE("print: several erased ones, also in one line") {
  const auto eraseThree = [](const Parsed& p, Function& f) {
    const InstrId ids[] = {p.at(0), p.at(1), p.at(2)};
    for (const InstrId id : ids) f.erase(id);
  };
  CHECK(edited("\tbar.sync 0; bar.sync 1;\n\tbar.sync 2;\n\tret;\n", eraseThree) == "\tret;\n");
  CHECK(edited("\tbar.sync 0;\n\n\tbar.sync 1;\n\tbar.sync 2;\n\tret;\n", eraseThree) == "\n\tret;\n");
}

TEST_CASE("print: erased at the end of the body") {
  CHECK(edited("\tret;\n\tbar.sync 0;\n", [](const Parsed& p, Function& f) { f.erase(p.at(1)); }) == "\tret;\n");
  CHECK(edited("\tret;\n\tbar.sync 0;\n", [](const Parsed& p, Function& f) {
          const InstrId ids[] = {p.at(0), p.at(1)};
          for (const InstrId id : ids) f.erase(id);
        }) == "");
}

TEST_CASE("print: a changed instruction is made anew where it stands, the rest keeps its text") {
  const auto change = [](const Parsed& p, Function& f) {
    f.operandsOf(f[p.at(1)])[0].payload = f.operandsOf(f[p.at(0)])[0].payload;
    f.touch(p.at(1));
  };
  CHECK(edited("\tmov.u32  %r1, 5;\n\tmov.u32  %r2,/* c */7 ; // two\n", change) ==
        "\tmov.u32  %r1, 5;\n\tmov.u32 %r1, 7; // two\n");
}

TEST_CASE("print: made and moved instructions stand on lines of their own") {
  const auto insert = [](const Parsed& p, Function& f, InstrId after) {  // a copy of the first instruction
    const InstrId id(f.instructions.size());
    Instruction copy = f[p.at(0)];
    copy.sourceBegin = copy.sourceEnd = 0;
    copy.previous = after;
    copy.next = f[after].next;
    f.instructions.push_back(copy);
    f[after].next = id;
    (copy.next.valid() ? f[copy.next].previous : f.last) = id;
    f.changed = true;
  };
  CHECK(edited("\tbar.sync  0; // c\n\tmembar.gl;\n", [&](const Parsed& p, Function& f) {
          insert(p, f, p.at(0));
        }) == "\tbar.sync  0; // c\n\tbar.sync 0;\n\tmembar.gl;\n");
  CHECK(edited("\tbar.sync  0; membar.gl;\n", [&](const Parsed& p, Function& f) { insert(p, f, p.at(0)); }) ==
        "\tbar.sync  0;\n\tbar.sync 0; membar.gl;\n");
  CHECK(edited("\tbar.sync  0;\n\tmembar.gl; // end\n", [&](const Parsed& p, Function& f) {
          insert(p, f, p.at(1));
        }) == "\tbar.sync  0;\n\tmembar.gl; // end\n\tbar.sync 0;\n");
  // The first instruction moves behind the second.
  CHECK(edited("\tbar.sync  0; // c\n\tmembar.gl;\n", [](const Parsed& p, Function& f) {
          const InstrId a = p.at(0), b = p.at(1), before = f[a].previous;
          f[before].next = b;
          f[b].previous = before;
          f[b].next = a;
          f[a].previous = b;
          f[a].next = InstrId();
          f.last = a;
          f[a].flags |= Instruction::Moved;
          f.changed = true;
          CHECK(verify(*p, f).empty());
        }) == "\t // c\n\tmembar.gl;\n\tbar.sync 0;\n");
}

TEST_CASE("print: names of made registers clash with nothing") {
  const auto made = [](const std::string& declarations, std::string_view type, uint8_t lanes = 1) {
    const Parsed p(kHeader + ".entry k()\n{\n" + declarations + "\t.reg .b32 %r;\n\tmov.u32 %r, 5;\n}\n");
    Function& f = p.function();
    const RegId first = f.makeRegister(scalarType(type), lanes), reg = f.makeRegister(scalarType(type), lanes);
    CHECK(first != reg);
    f.operandsOf(f[p.at(0)])[0].payload = reg.value;
    f.touch(p.at(0));
    const std::string text = text::print(*p);
    const Parsed again(text);  // it must be PTX, with one register more
    CHECK(verify(*again).empty());
    const std::size_t at = text.find("{\n") + 2;
    return text.substr(at, text.find('\n', at) - at) + " | " +
           text.substr(text.find("mov.u32"), text.find(", 5") - text.find("mov.u32"));
  };
  CHECK(made("", "b32") == "\t.reg .b32 %b32_<2>; | mov.u32 %b32_1");
  CHECK(made("", "f64") == "\t.reg .f64 %f64_<2>; | mov.u32 %f64_1");
  CHECK(made("", "b32", 4) == "\t.reg .v4 .b32 %v4b32_<2>; | mov.u32 %v4b32_1");
  CHECK(made("\t.reg .b32 %b32_0;\n", "b32") == "\t.reg .b32 %b32__<2>; | mov.u32 %b32__1");
  CHECK(made("\t.reg .b32 %b32_<7>;\n", "b32") == "\t.reg .b32 %b32__<2>; | mov.u32 %b32__1");
  CHECK(made("\t.reg .b64 %b64_1;\n", "b32") == "\t.reg .b32 %b32__<2>; | mov.u32 %b32__1");
  CHECK(made("\t.reg .b32 %b32_1;\n\t.reg .b32 %b32__1;\n", "b32") == "\t.reg .b32 %b32___<2>; | mov.u32 %b32___1");
  CHECK(made("%b32_1:\n", "b32") == "\t.reg .b32 %b32__<2>; | mov.u32 %b32__1");
  CHECK(made("\t.reg .v4 .b32 %v4b32_9;\n", "b32", 4) == "\t.reg .v4 .b32 %v4b32__<2>; | mov.u32 %v4b32__1");
  CHECK(made("\t.reg .b32 b32_1, %b<40>, %xb32_1;\n", "b32") == "\t.reg .b32 %b32_<2>; | mov.u32 %b32_1");
}

TEST_CASE("print: made registers are counted within their type") {
  const Parsed p(kernel("\tmov.u32 %r1, 5;\n"));
  Function& f = p.function();
  CHECK(f.registers[f.makeRegister(ScalarType::b32).value].number == 0);
  CHECK(f.registers[f.makeRegister(ScalarType::f32).value].number == 0);
  CHECK(f.registers[f.makeRegister(ScalarType::b32).value].number == 1);
  CHECK(f.registers[f.makeRegister(ScalarType::b32, 2).value].number == 0);
  CHECK(f.changed);
}

TEST_CASE("reprint: one spelling of each statement") {
  CHECK(statement("add .s32 %r1,%r2 , %r3 ;") == "add.s32 %r1, %r2, %r3;");
  CHECK(statement("@ ! %p1 mov.u32 %r1,0x1F;") == "@!%p1 mov.u32 %r1, 0x1f;");
  CHECK(statement("@%p1 ret;") == "@%p1 ret;");
  CHECK(statement("mov.u32 %r1, 017;") == "mov.u32 %r1, 15;");
  CHECK(statement("mov.u32 %r1, 0b11;") == "mov.u32 %r1, 3;");
  CHECK(statement("mov.u32 %r1, 4U;") == "mov.u32 %r1, 4U;");
  CHECK(statement("mov.u32 %r1, --5;") == "mov.u32 %r1, 5;");
  CHECK(statement("mov.u32 %r1, ~0;") == "mov.u32 %r1, 18446744073709551615;");  // ~ gives .u64
  CHECK(statement("mov.u32 %r1, !7;") == "mov.u32 %r1, 0;");
  CHECK(statement("mov.u32 %r1, 0xFFFFFFFF;") == "mov.u32 %r1, 0xffffffff;");
  CHECK(statement("mov.u32 %r1, 4294967295;") == "mov.u32 %r1, 4294967295;");
  CHECK(statement("mov.u32 %r1, -2147483648;") == "mov.u32 %r1, -2147483648;");
  CHECK(statement("mov.u64 %rd1, 18446744073709551615;") == "mov.u64 %rd1, 18446744073709551615;");
  CHECK(statement("mov.u64 %rd1, -9223372036854775808;") == "mov.u64 %rd1, 9223372036854775808;");
  CHECK(statement("mov.f32 %f1, 0F3f800000;") == "mov.f32 %f1, 0f3F800000;");
  CHECK(statement("mov.f64 %fd1, 0d3ff0000000000000;") == "mov.f64 %fd1, 0d3FF0000000000000;");
  CHECK(statement("mov.f32 %f1, .5;") == "mov.f32 %f1, 0.5;");
  CHECK(statement("mov.f32 %f1, 1.;") == "mov.f32 %f1, 1.0;");
  CHECK(statement("mov.f32 %f1, -1.5E-3;") == "mov.f32 %f1, -0.0015;");
  CHECK(statement("mov.f64 %fd1, 1e300;") == "mov.f64 %fd1, 1e+300;");
  CHECK(statement("mov.f64 %fd1, 0.1;") == "mov.f64 %fd1, 0.1;");
  CHECK(statement("mov.u32 %r1, (1+2)*3 - 4 ;") == "mov.u32 %r1, (1+2)*3-4;");
  CHECK(statement("mov.u32 %r1, 7 % 4;") == "mov.u32 %r1, 7 % 4;");
  CHECK(statement("mov.u32 %r1, 1?2:3;") == "mov.u32 %r1, 1?2:3;");
  CHECK(statement("mov.u32 %r1, 1 - -2;") == "mov.u32 %r1, 1--2;");
  CHECK(statement("mov.u64 %rd1, (.s64) 7;") == "mov.u64 %rd1, (.s64)7;");
  CHECK(statement("ld.global.v2.u32 { %r1 , _ } , [ %rd1 + -8 ] ;") == "ld.global.v2.u32 {%r1, _}, [%rd1+-8];");
  CHECK(statement("setp.lt.and.s32 %p1 | %p2, %r1, -%r2, ! %p3;") == "setp.lt.and.s32 %p1|%p2, %r1, -%r2, !%p3;");
  CHECK(statement("tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%rd1,{%f5,%f6}];") ==
        "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}];");
  CHECK(statement("mov.u32 %r1, %v1 .x;") == "mov.u32 %r1, %v1.x;");
  CHECK(statement("ld.param.u32 %r1, [n];") == "ld.param.u32 %r1, [n];");
  CHECK(statement("mov.u32 %r1,\n\t// c\n %tid.x ;") == "mov.u32 %r1, %tid.x;");
  CHECK(statement(".pragma   \"nounroll\" ;") == ".pragma \"nounroll\";");
  CHECK(statement(".reg  .b32  a , b<3> ;") == ".reg .b32 a, b<3>;");
  CHECK(statement(".local .align 8 .b8 a [4] [2];") == ".local .align 8 .b8 a[4][2];");
  CHECK(statement(".loc 1 5 3 , function_name L , inlined_at 1 6 7") ==
        ".loc 1 5 3, function_name L, inlined_at 1 6 7");
  CHECK(statement("L  :") == "L:");
  CHECK(statement("{ }") == "{");
}

TEST_CASE("reprint: blanks and comments inside the brackets of an array") {
  CHECK(statement(".local .align 8 .b8 a [ 4 ] [2];") == ".local .align 8 .b8 a[4][2];");
  CHECK(statement(".local .b8 a[/* four */ 4];") == ".local .b8 a[4];");
}

TEST_CASE("reprint: a whole module") {
  CHECK(reprinted(
            "  .version 8.0 // v\n.target\tsm_80 , debug\n.address_size   64\n.file 1 \"a b.cu\" , 1 , 2\n"
            ".global .align 4 .b8 g[ 4 ] = { 1,2 , -3 };\n.extern .func (.param .b32 o) f (.param .b32 a,.param "
            ".b64 b) ;\n"
            ".visible .entry k(.param .u64 p) .maxntid 32 , 1,1 .minnctapersm 2{.reg .b32 %r<3>;L:mov.u32 %r1,1;\n"
            "{ret;}}\n.section .debug_x { .b8 1,2 .b32 k }\n.func g()\n") ==
        ".version 8.0\n.target sm_80, debug\n.address_size 64\n.file 1 \"a b.cu\", 1, 2\n"
        ".global .align 4 .b8 g[4] = {1, 2, -3};\n.extern .func (.param .b32 o) f(\n\t.param .b32 a,\n\t.param "
        ".b64 b\n);\n"
        ".visible .entry k(\n\t.param .u64 p\n)\n.maxntid 32, 1, 1\n.minnctapersm 2\n{\n\t.reg .b32 "
        "%r<3>;\nL:\n\tmov.u32 %r1, 1;\n"
        "\t{\n\tret;\n\t}\n}\n.section .debug_x {\n\t.b8 1, 2\n\t.b32 k\n}\n.func g();\n");
}

TEST_CASE("reprint: parse(print(x)) is a fixed point, and -O0 changes no byte, on all accepted files") {
  std::size_t files = 0;
  for (const char* folder : {"inputs/syntax/accepted", "inputs/syntax/lenient", "inputs/opcodes"}) {
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::path(PTXOPT_TESTS_DIR) / folder)) {
      if (entry.path().extension() != ".ptx") continue;
      std::ifstream in(entry.path(), std::ios::binary);
      const std::string text{std::istreambuf_iterator<char>(in), {}};
      INFO(entry.path().filename().string());
      Options options{.level = 0};
      options.verifyEach = true;
      const Result verbatim = optimize(text, options);
      REQUIRE_MESSAGE(verbatim.status == Status::Ok, verbatim.error);
      CHECK(verbatim.output == text);
      options.reprint = true;
      const Result once = optimize(text, options);
      REQUIRE(once.status == Status::Ok);
      const Result twice = optimize(once.output, options);
      REQUIRE_MESSAGE(twice.status == Status::Ok, twice.error);
      CHECK(once.output == twice.output);
      CHECK(once.instructions == twice.instructions);
      ++files;
    }
  }
  CHECK(files > 540);
}
