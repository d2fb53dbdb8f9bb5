// Module items, function headers, directives, declarations, and the places in the source that they come from.
#include "support.h"

using namespace ptxopt;
using namespace ptxopt::testing;

TEST_CASE("module: version, target and address size") {
  const Parsed p(".version 8.3\n.target sm_90a, texmode_independent\n.address_size 64\n");
  CHECK(p->versionMajor == 8);
  CHECK(p->versionMinor == 3);
  CHECK(p->architecture() == "sm_90a");
  REQUIRE(p->target.size() == 2);
  CHECK(p.name(p->target[1]) == "texmode_independent");
  CHECK(p->addressSize == 64);
  CHECK_FALSE(p->isDebug);
  CHECK(p->items.size() == 3);
  CHECK(p->functions.empty());

  const Parsed q(".version 7.0\n.target sm_80, debug\n");
  CHECK(q->isDebug);
  CHECK(q->addressSize == 0);
}

TEST_CASE("module: items in order, each with its text") {
  const Parsed p(
      ".version 8.3 // c\n.target sm_80\n\n.file 1 \"a.cu\"\n.global .align 4 .b8 g[4] = {1, 2};\n"
      "/* c */ .extern .func (.param .b32 o) f(.param .b32 i)\n;\n"
      ".visible .entry k()\n{\n\tret;\n}\n.section .debug_x\n{\n.b8 1\n.b8 2\n}\n.func g2()\n");
  const auto text = [&](std::size_t i) { return p->text(p->items.at(i).source); };
  REQUIRE(p->items.size() == 8);
  CHECK(text(0) == ".version 8.3");
  CHECK(text(1) == ".target sm_80");
  CHECK(text(2) == ".file 1 \"a.cu\"");
  CHECK(text(3) == ".global .align 4 .b8 g[4] = {1, 2};");
  CHECK(text(4) == ".extern .func (.param .b32 o) f(.param .b32 i)\n;");
  CHECK(text(5) == ".visible .entry k()\n{\n\tret;\n}");
  CHECK(text(6) == ".section .debug_x\n{\n.b8 1\n.b8 2\n}");
  CHECK(text(7) == ".func g2()");
  CHECK(p->items[3].kind == ItemKind::Declaration);
  CHECK(p->items[4].kind == ItemKind::Function);
  CHECK(p->items[5].index == 1);
  CHECK(p->items[6].kind == ItemKind::Section);
}

TEST_CASE("functions: header, body and instructions know their source") {
  const Parsed p(
      ".version 8.3\n.target sm_80\n.visible .entry k(\n\t.param .u64 p\n)\n.maxntid 256, 1, 1\n{\n"
      "\t.reg .b32 %r<3>; // three\n\t.reg .pred %p;\n\t.loc 1 5 3\n$L: { mov.u32 %r1, /* c */ 1; }\n\t@ %p "
      "ret;\n}\n"
      ".func f()\n{\n}\n");
  const Function& k = p.function(0);
  CHECK(p->text(k.header) == ".visible .entry k(\n\t.param .u64 p\n)\n.maxntid 256, 1, 1\n");
  CHECK(p->text(k.body).starts_with("{\n\t.reg .b32 %r<3>; // three\n"));
  CHECK(p->text(k.body).ends_with("ret;\n}"));
  CHECK(p->text(k.source).starts_with(".visible .entry"));
  CHECK(k.source.end == k.body.end);
  std::vector<std::string> texts;
  std::vector<InstrKind> kinds;
  for (const InstrId id : k) {
    texts.emplace_back(p->text(SourceRange{k[id].sourceBegin, k[id].sourceEnd}));
    kinds.push_back(k[id].kind);
  }
  CHECK(texts == std::vector<std::string>{".reg .b32 %r<3>;", ".reg .pred %p;", ".loc 1 5 3", "$L:", "{",
                                          "mov.u32 %r1, /* c */ 1;", "}", "@ %p ret;"});
  CHECK(kinds == std::vector<InstrKind>{InstrKind::Declaration, InstrKind::Declaration, InstrKind::Loc,
                                        InstrKind::Label, InstrKind::ScopeOpen, InstrKind::Instruction,
                                        InstrKind::ScopeClose, InstrKind::Instruction});
  CHECK(k.sourceInstructions == 8);
  CHECK(k.locs.at(0).line == 5);
  CHECK(k.locs.at(0).column == 3);
  const Function& f = p.function(1);
  CHECK(f.hasBody);
  CHECK_FALSE(f.first.valid());
  CHECK(p->text(f.body) == "{\n}");
}

TEST_CASE("functions: directives with their numbers") {
  const Parsed p(kHeader +
                 ".entry k()\n.maxntid 256, 2, 4\n.minnctapersm 3\n.reqntid 0x80\n.pragma "
                 "\"nounroll\";\n.noreturn\n{\nret;\n}\n");
  const Function& k = p.function();
  REQUIRE(k.directives.size() == 5);
  const FunctionDirective& d = k.directives[0];
  CHECK(p.name(d.name) == ".maxntid");
  CHECK(d.valueCount == 3);
  CHECK(d.values == std::array<uint32_t, 3>{256, 2, 4});
  CHECK(p->text(d.source) == ".maxntid 256, 2, 4");
  CHECK(k.directives[1].values[0] == 3);
  CHECK(k.directives[2].values[0] == 128);
  CHECK(p->text(k.directives[3].source) == ".pragma \"nounroll\";");
  CHECK(k.directives[4].valueCount == 0);
}

TEST_CASE("functions: entries, functions, prototypes and definitions") {
  const Parsed p(kHeader +
                 ".visible .func (.param .b32 o) f(.param .b32 a, .param .b64 b)\n;\n"
                 ".visible .func (.param .b32 o) f(.param .b32 a, .param .b64 b)\n{\nret;\n}\n.entry k()\n{\ncall "
                 "(_), f, (1, 2);\n}\n");
  REQUIRE(p->functions.size() == 3);
  CHECK_FALSE(p.function(0).hasBody);
  CHECK(p.function(1).hasBody);
  CHECK_FALSE(p.function(1).isEntry);
  CHECK(p.function(2).isEntry);
  CHECK(p.function(1).parameters.size() == 2);
  CHECK(p.function(1).returns.size() == 1);
  const Variable& b = p.function(1).variables[p.function(1).parameters[1].value];
  CHECK(p.name(b.name) == "b");
  CHECK(b.isParameter);
  CHECK(info(p->declarationForms[b.form].type).name == "b64");
  // Both mean one symbol, which leads to the definition.
  std::size_t functions = 0;
  for (const Symbol& s : p->symbols) {
    functions += s.kind == SymbolKind::Function;
    if (p.name(s.name) == "f") CHECK(s.index == 1);
  }
  CHECK(functions == 2);
}

TEST_CASE("declarations: forms") {
  const Parsed p(
      kHeader +
      ".extern .shared .align 16 .b8 s[];\n.align 8 .global .v4 .f32 g[2][3], h = 5;\n"
      ".entry k(.param .u64 .ptr .global .align 32 q)\n{\n.reg .v2 .b16 %x<4>, %y;\n.local .b32 l<2>;\n}\n");
  const auto form = [&](const Variable& v) { return p->declarationForms.at(v.form); };
  REQUIRE(p->variables.size() == 3);
  const Variable& s = p->variables[0];
  CHECK(p.name(form(s).text) == ".extern .shared .align 16 .b8");
  CHECK((form(s).space == DeclaredSpace::Shared));
  CHECK(form(s).isExtern);
  CHECK(form(s).alignment == 16);
  CHECK(s.declarator.elements == 0);
  const Variable& g = p->variables[1];
  CHECK(form(g).alignment == 8);
  CHECK(form(g).lanes == 4);
  CHECK(info(form(g).type).name == "f32");
  CHECK(g.declarator.elements == 6);
  CHECK(p->text(g.declarator.dimensions) == "[2][3]");
  CHECK(p->text(p->variables[2].declarator.initializer) == "5");
  CHECK(p->variables[2].form == g.form);

  const Function& k = p.function();
  const Variable& q = k.variables.at(0);
  CHECK((form(q).space == DeclaredSpace::Param));
  CHECK(form(q).alignment == 0);  // 32 is that of what it points to
  REQUIRE(k.declarations.size() == 2);
  CHECK(k.declarations[0].declaratorCount == 2);
  const Declarator& x = k.declarators[k.declarations[0].firstDeclarator];
  CHECK(x.isRange);
  CHECK(x.count == 4);
  CHECK_FALSE(k.declarators[k.declarations[0].firstDeclarator + 1].isRange);
  CHECK(p->declarationForms[k.declarations[0].form].lanes == 2);
  CHECK(k.variables.size() == 3);
}

TEST_CASE("declarations: registers outside functions") {
  const Parsed p(".version 3.0\n.target sm_20\n.reg .b32 %g;\n.entry k()\n{\nmov.u32 %g, 1;\n}\n");
  CHECK(p->hasModuleRegisters);
  const Function& k = p.function();
  CHECK(k.operandsOf(k[p.at(0)])[0].kind == OperandKind::Symbol);
}

TEST_CASE("statements: lists of targets, prototypes and pragmas") {
  const Parsed p(kHeader +
                 ".entry k()\n{\n.reg .b32 %r<3>;\nT: .branchtargets L<2>, M;\nbrx.idx %r1, T;\n"
                 "P: .callprototype (.param .b32 _) _ (.param .b32 _) .noreturn;\n.pragma "
                 "\"nounroll\",\n\t\"x\";\nL0:\nL1:\nM:\n}\n");
  const Function& k = p.function();
  std::vector<InstrKind> kinds;
  for (const InstrId id : k) kinds.push_back(k[id].kind);
  CHECK(kinds == std::vector<InstrKind>{InstrKind::Declaration, InstrKind::Label, InstrKind::Targets,
                                        InstrKind::Instruction, InstrKind::Label, InstrKind::Verbatim,
                                        InstrKind::Pragma, InstrKind::Label, InstrKind::Label, InstrKind::Label});
  const auto targets = k.operandsOf(k.instructions[2]);
  REQUIRE(targets.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(targets[i].kind == OperandKind::Label);
    CHECK(k.labels[targets[i].payload].place.value == 7 + i);
  }
  CHECK(p.name(NameId(k.instructions[6].payload)) == ".pragma \"nounroll\", \"x\";");
}

TEST_CASE("locate: lines and columns count from one") {
  const std::string_view text = "ab\r\nc\n\nd";
  const auto at = [&](std::size_t offset) {
    const SourcePosition p = locate(text, offset);
    return std::to_string(p.line) + ":" + std::to_string(p.column) + " " + std::string(p.lineText);
  };
  CHECK(at(0) == "1:1 ab");
  CHECK(at(1) == "1:2 ab");
  CHECK(at(4) == "2:1 c");
  CHECK(at(6) == "3:1 ");
  CHECK(at(7) == "4:1 d");
  CHECK(at(8) == "4:2 d");
  CHECK(at(99) == "4:2 d");
}
