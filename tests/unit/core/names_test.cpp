// Every rule about names and scopes in tests/inputs/syntax/README.md, by what operands come to mean.
#include "text/names.h"

#include "support.h"

using namespace ptxopt;
using namespace ptxopt::testing;

namespace {

// The type of the register, or the kind of the other thing, that operand `operand` of instruction `index` means.
std::string meaning(const Parsed& p, std::size_t index, std::size_t operand = 0) {
  const Function& f = p.function();
  const Operand& o = f.operandsOf(f[p.at(index)])[operand];
  switch (o.kind) {
    case OperandKind::Register: return std::string(info(f.registers[o.payload].type).name);
    case OperandKind::Variable: return "variable";
    case OperandKind::Symbol: return "symbol";
    case OperandKind::Label: return "label " + std::to_string(f.labels[o.payload].place.value);
    case OperandKind::SpecialRegister: return "special";
    default: return "?";
  }
}
RegId regOf(const Parsed& p, std::size_t index, std::size_t operand = 0) {
  const Function& f = p.function();
  const Operand& o = f.operandsOf(f[p.at(index)])[operand];
  REQUIRE(o.isRegister());
  return o.reg();
}

std::string entry(std::string_view body) {
  return kHeader + ".entry k(.param .u64 p)\n{\n" + std::string(body) + "}\n";
}
std::string refused(std::string_view body) { return errorOf(entry(body)).message; }

}  // namespace

TEST_CASE("names: %r01 is %r1 of a range, unless a register is spelled so") {
  const Parsed p(
      entry(".reg .b32 %r<9>;\nmov.u32 %r1, 1;\nmov.u32 %r01, 2;\nmov.u32 %r001, 2;\nmov.u32 %r2, 3;\n"));
  CHECK(regOf(p, 0) == regOf(p, 1));
  CHECK(regOf(p, 0) == regOf(p, 2));
  CHECK(regOf(p, 0) != regOf(p, 3));
  const Parsed q(entry(".reg .b32 a00;\n.reg .b32 a0;\nmov.u32 a00, 1;\nmov.u32 a0, 1;\n"));
  CHECK(regOf(q, 0) != regOf(q, 1));
}

TEST_CASE("names: a range is looked up with all trailing digits off") {
  CHECK(refused(".reg .b32 a1<3>;\nmov.u32 a10, 1;\n") == "undefined symbol 'a10'");
  CHECK(refused(".reg .b32 a1<3>;\nmov.u32 a1, 1;\n") == "undefined symbol 'a1'");
  const Parsed p(entry(".reg .b32 a1_<3>;\nmov.u32 a1_2, 1;\n"));
  CHECK(meaning(p, 0) == "b32");
  CHECK(refused(".reg .b32 a1_<3>;\nmov.u32 a1_3, 1;\n") == "undefined symbol 'a1_3'");
  CHECK(refused(".reg .b32 %r<3>;\nmov.u32 %r3, 1;\n") == "undefined register '%r3'");
  CHECK(refused(".reg .b32 %r<3>;\nmov.u32 %r, 1;\n") == "undefined register '%r'");
}

TEST_CASE("names: twice in one scope, in either order") {
  CHECK(refused(".reg .b32 a<20>;\n.reg .b32 a5;\n") == "'a5' is already declared in this scope");
  CHECK(refused(".reg .b32 a5;\n.reg .b32 a<20>;\n") == "'a' is already declared in this scope");
  CHECK(refused(".reg .b32 a<9>;\n.reg .b64 a<9>;\n") == "'a' is already declared in this scope");
  CHECK(refused(".reg .b32 a;\n.reg .b64 a;\n") == "'a' is already declared in this scope");
  CHECK(refused(".reg .b32 a;\n.local .b64 a;\n") == "'a' is already declared in this scope");
  CHECK(refused(".reg .b32 a;\na:\n") == "'a' is already defined in this scope");
  CHECK(refused("a:\na:\n") == "'a' is already defined in this scope");
  // A number past the range is another name.
  const Parsed p(entry(".reg .b32 a<5>;\n.reg .b64 a5;\nmov.u32 a4, 1;\nmov.u64 a5, 1;\n"));
  CHECK(meaning(p, 0) == "b32");
  CHECK(meaning(p, 1) == "b64");
}

TEST_CASE("names: a register with the name of a label further up") {
  CHECK(refused("a:\n.reg .b32 a;\n") == "'a' is already declared in this scope");
  CHECK(refused("a:\n.local .b32 a;\n") == "'a' is already declared in this scope");
}

TEST_CASE("names: an inner range hides only its own indices") {
  const Parsed p(entry(".reg .b32 a<9>;\n{\n.reg .b64 a<5>;\nmov.u64 a4, 1;\nmov.u32 a5, 1;\n}\nmov.u32 a4, 1;\n"));
  CHECK(meaning(p, 0) == "b64");
  CHECK(meaning(p, 1) == "b32");
  CHECK(meaning(p, 2) == "b32");
  CHECK(regOf(p, 0) != regOf(p, 2));
}

TEST_CASE("names: a register hides from its declaration on") {
  const Parsed p(
      entry(".reg .b32 %r1;\n{\nmov.u32 %r1, 1;\n.reg .b64 %r1;\nmov.u64 %r1, 5;\n}\nmov.u32 %r1, 2;\n"));
  CHECK(meaning(p, 0) == "b32");
  CHECK(meaning(p, 1) == "b64");
  CHECK(meaning(p, 2) == "b32");
  CHECK(regOf(p, 0) == regOf(p, 2));
}

TEST_CASE("names: an inner single register hides a member of an outer range, and the other way around") {
  const Parsed p(entry(
      ".reg .b32 %r<9>;\n{\n.reg .f32 %r3;\nmov.f32 %r3, 0f00000000;\nmov.u32 %r4, 1;\n}\nmov.u32 %r3, 1;\n"));
  CHECK(meaning(p, 0) == "f32");
  CHECK(meaning(p, 1) == "b32");
  CHECK(meaning(p, 2) == "b32");
  const Parsed q(entry(".reg .f32 %r3;\n{\n.reg .b32 %r<9>;\nmov.u32 %r3, 1;\n}\nmov.f32 %r3, 0f00000000;\n"));
  CHECK(meaning(q, 0) == "b32");
  CHECK(meaning(q, 1) == "f32");
}

TEST_CASE("names: sibling scopes have registers and labels of their own") {
  const Parsed p(
      entry(".reg .pred %p;\n{\n.reg .b32 t;\nmov.u32 t, 1;\nL: @%p bra L;\n}\n{\n.reg .b32 t;\nmov.u32 t, 1;\nL: "
            "@%p bra L;\n}\n"));
  CHECK(regOf(p, 0) != regOf(p, 2));
  CHECK(meaning(p, 1, 1) != meaning(p, 3, 1));
  CHECK(refused("{\n.reg .b32 t;\n}\nmov.u32 t, 1;\n") == "undefined symbol 't'");
}

TEST_CASE("names: registers, labels and variables share the name space of a scope; inner ones hide") {
  // The label `a` hides the register `a` of the scope around it, but only from its place on.
  const Parsed p(entry(".reg .b32 a;\n{\nmov.u32 a, 1;\na:\nbra a;\n}\nmov.u32 a, 2;\n"));
  CHECK(meaning(p, 0) == "b32");
  CHECK(meaning(p, 1).starts_with("label"));
  CHECK(meaning(p, 2) == "b32");
  const Parsed q(entry(".local .b32 x;\n{\n.reg .b32 x;\nmov.u32 x, 1;\n}\nst.local.u32 [x], 1;\n"));
  CHECK(meaning(q, 0) == "b32");
  CHECK(meaning(q, 1, 1) == "variable");
}

TEST_CASE("names: registers may hide symbols, functions and special registers") {
  const Parsed p(kHeader +
                 ".global .b32 g;\n.func f()\n;\n.entry k()\n{\n.reg .b32 r;\nld.global.u32 r, [g];\n"
                 ".reg .b32 %laneid;\nmov.u32 %laneid, 1;\n{\n.reg .b32 g, f;\nmov.u32 g, 1;\nmov.u32 f, 1;\n}\n"
                 "ld.global.u32 r, [g];\nmov.u32 r, %tid.x;\n}\n");
  const Function& f = p.function(1);
  const auto kind = [&](std::size_t index, std::size_t operand) {
    return f.operandsOf(f[p.at(index, 1)])[operand].kind;
  };
  CHECK(kind(0, 2) == OperandKind::Symbol);
  CHECK(kind(1, 0) == OperandKind::Register);
  CHECK(kind(2, 0) == OperandKind::Register);
  CHECK(kind(3, 0) == OperandKind::Register);
  CHECK(kind(4, 2) == OperandKind::Symbol);
  CHECK(kind(5, 1) == OperandKind::SpecialRegister);
}

TEST_CASE("names: parameters live in the outermost scope of the body") {
  CHECK(refused(".reg .b64 p;\n") == "'p' is already declared in this scope");
  const Parsed p(entry("{\n.reg .b64 p;\nmov.u64 p, 1;\n}\n.reg .b64 r;\nld.param.u64 r, [p];\n"));
  CHECK(meaning(p, 0) == "b64");
  CHECK(meaning(p, 1, 2) == "variable");
}

TEST_CASE("names: labels of a scope and of those around it are seen forwards and backwards") {
  const Parsed p(entry("L0:\n{\nbra L0;\nbra L1;\nbra L2;\nL2:\n}\nL1:\n"));
  CHECK(meaning(p, 0) == "label 0");
  CHECK(meaning(p, 1) == "label 7");
  CHECK(meaning(p, 2) == "label 5");
  CHECK(refused("bra L;\n{\nL:\n}\n") == "undefined label 'L'");
  CHECK(refused("{\nL:\n}\nbra L;\n") == "undefined label 'L'");
  CHECK(refused("{\nL:\n}\n{\nbra L;\n}\n") == "undefined label 'L'");
}

TEST_CASE("names: the inner label is meant, also forwards, where an outer one stands before") {
  const Parsed p(entry("L:\n{\nbra L;\nL:\nbra L;\n}\nbra L;\n"));
  CHECK(meaning(p, 0) == "label 3");
  CHECK(meaning(p, 1) == "label 3");
  CHECK(meaning(p, 2) == "label 0");
}

TEST_CASE("names: a branch looks past registers and variables for its label") {
  const Parsed p(entry("{\n.reg .b32 L;\nbra L;\n}\nL:\nret;\n"));
  CHECK(meaning(p, 0) == "label 4");
  CHECK(refused(".reg .b32 L;\nbra L;\n") == "undefined label 'L'");
}

TEST_CASE("names: labels and functions are no keywords, and may begin with a percent sign") {
  const Parsed p(
      entry(".reg .b32 add, ld, global;\nmov:mov.u32 add, 1;\nadd.u32 ld, add, global;\n%L:\nbra %L;\nbra mov;\n"));
  CHECK(meaning(p, 0) == "b32");
  CHECK(meaning(p, 2) == "label 4");
  CHECK(meaning(p, 3) == "label 1");
}

TEST_CASE("names: names of one function mean nothing in the next") {
  const std::string two = kHeader + ".entry a()\n{\n.reg .b32 %r<3>;\nmov.u32 %r1, 1;\nL:\n}\n.entry b()\n{\n";
  CHECK(errorOf(two + "mov.u32 %r1, 1;\n}\n").message == "undefined register '%r1'");
  CHECK(errorOf(two + "bra L;\n}\n").message == "undefined label 'L'");
  const Parsed p(two + ".reg .b64 %r<3>;\nmov.u64 %r1, 1;\n}\n");
  CHECK(p.function(0).registers.size() == 2);
  CHECK(info(p.function(1).registers[1].type).name == "b64");
}

TEST_CASE("names: functions and variables are declared before they are used") {
  CHECK(errorOf(kHeader + ".entry k()\n{\ncall f;\n}\n.func f()\n{\n}\n").message == "undefined symbol 'f'");
  CHECK(errorOf(kHeader + ".entry k()\n{\n.reg .b64 r;\nmov.u64 r, g;\n}\n.global .b32 g;\n").message ==
        "undefined symbol 'g'");
}

TEST_CASE("names: ranges cost nothing until they are used") {
  const Parsed p(
      entry(".reg .b32 %r<4000000000>;\nmov.u32 %r3999999999, 1;\nmov.u32 %r0, 1;\nmov.u32 %r3999999999, 2;\n"));
  CHECK(p.function().registers.size() == 3);  // with the carry flag
  CHECK(regOf(p, 0) == regOf(p, 2));
  CHECK(regOf(p, 0) != regOf(p, 1));
  CHECK(refused(".reg .b32 %r<4294967297>;\n") == "the number of registers does not fit in 32 bits");
}

TEST_CASE("names: ranges of variables are x0, x1, ...") {
  const Parsed p(entry(".local .b32 x<3>;\n.reg .b64 r;\nmov.u64 r, x2;\n"));
  CHECK(meaning(p, 0, 1) == "variable");
  CHECK(p.function().variables.size() == 4);  // with the parameter
  CHECK(refused(".local .b32 x<3>;\n.reg .b64 r;\nmov.u64 r, x3;\n") == "undefined symbol 'x3'");
  CHECK(refused(".local .b32 x<65537>;\n") == "more than 65536 names in one range");
}

TEST_CASE("names: what is no name") {
  for (const char* name : {"$", "%", "_", "WARP_SZ", "a.b"}) {
    CAPTURE(name);
    const text::ParseError error = errorOf(entry(".reg .b32 " + std::string(name) + ";\n"));
    CHECK(error.position.line == 6);
  }
  CHECK(refused(".reg .b32 $;\n") == "'$' cannot be declared");
  CHECK(refused(".reg .b32 _;\n") == "'_' cannot be declared");
  const Parsed p(
      entry(".reg .b32 %1, %1a, _a, $a, a$;\nmov.u32 %1, 1;\nmov.u32 %1a, 1;\nmov.u32 _a, 1;\nmov.u32 a$, $a;\n"));
  CHECK(meaning(p, 0) == "b32");
  CHECK(meaning(p, 3, 1) == "b32");
}

TEST_CASE("names: the class by itself") {
  Interner interner;
  Function f;
  f.registers.push_back({});
  text::Names names(interner);
  names.startFunction(f);
  CHECK(names.depth() == 1);
  const NameId r = interner.intern("%r"), r7 = interner.intern("%r7"), x = interner.intern("x");
  CHECK(names.find(r7).kind == text::Meaning::Nothing);
  REQUIRE(names.declareRange(r, 8, ScalarType::b32, 1, false));
  CHECK_FALSE(names.declareRange(r, 2, ScalarType::b64, 1, false));
  const text::Meaning first = names.find(r7);
  CHECK(first.kind == text::Meaning::Register);
  CHECK(first.id == 1);
  CHECK(names.find(r7).id == 1);
  const uint32_t outer = names.scope();
  names.openScope();
  const uint32_t inner = names.scope();
  CHECK(names.parentOf(inner) == outer);
  REQUIRE(names.declareLabel(x, LabelId(3u)));
  REQUIRE(names.declareVariable(r7, VariableId(5u)));
  CHECK(names.find(r7).kind == text::Meaning::Variable);
  names.closeScope();
  CHECK(names.find(r7).id == 1);
  CHECK(names.find(r7).kind == text::Meaning::Register);
  CHECK(names.labelIn(inner, x) == LabelId(3u));
  CHECK_FALSE(names.labelIn(outer, x).valid());
  Function g;
  g.registers.push_back({});
  names.startFunction(g);
  CHECK(names.find(r7).kind == text::Meaning::Nothing);
}

TEST_CASE("names: registers that begin and end alike, mentioned again and in other scopes") {
  // The first four characters and the last four are the same.
  const Parsed p(
      entry(".reg .b32 %r<2000000>;\nmov.u32 %r1111, %r11111;\nmov.u32 %r111111, %r1111;\n"
            "mov.u32 %r11111, %r111111;\n"));
  CHECK(regOf(p, 0, 0) == regOf(p, 1, 1));
  CHECK(regOf(p, 0, 1) == regOf(p, 2, 0));
  CHECK(regOf(p, 1, 0) == regOf(p, 2, 1));
  CHECK(regOf(p, 0, 0) != regOf(p, 0, 1));
  CHECK(regOf(p, 0, 1) != regOf(p, 1, 0));
  CHECK(regOf(p, 0, 0) != regOf(p, 1, 0));
  const Parsed q(
      entry(".reg .b32 %r<100>;\nmov.u32 %r77, 1;\n{\n.reg .f32 %r<50>;\nmov.u32 %r77, 2;\n"
            "mov.f32 %r7, 0f00000000;\nmov.u32 %r77, 3;\n{\n.reg .b16 %r77;\nmov.u16 %r77, 1;\n}\n"
            "mov.u32 %r77, 4;\n}\nmov.u32 %r77, 5;\n"));
  for (const std::size_t index : {1, 3, 5, 6}) CHECK(regOf(q, index) == regOf(q, 0));
  CHECK(meaning(q, 2) == "f32");
  CHECK(meaning(q, 4) == "b16");
}
