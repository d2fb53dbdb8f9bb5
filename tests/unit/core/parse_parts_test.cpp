// A text that several threads read, each a part of it: the module is that of one thread, to the last id.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "support.h"
#include "text/print.h"

using namespace ptxopt;
using namespace ptxopt::testing;

namespace {

template <typename Ids>
std::string listed(const Ids& ids) {
  std::string out;
  for (const auto id : ids) out += fmt::format(" {}", id.value);
  return out;
}

std::string all(SourceRange r) { return fmt::format("{}-{}", r.begin, r.end); }
std::string all(const Declarator& d) {
  return fmt::format("{} {} {} {} {} {}", d.name.value, d.count, d.isRange, d.elements, all(d.dimensions),
                     all(d.initializer));
}
std::string all(const Variable& v) {
  return fmt::format("variable {} {} {} {} {}\n", v.name.value, v.form, all(v.declarator), v.isParameter,
                     v.isNested);
}

std::string all(const Function& f) {
  std::string out =
      fmt::format("function {} {} {} {} {} {} {}:{}:{} {} {} {}\n", f.name.value, f.index, f.isEntry, f.hasBody,
                  all(f.source), all(f.header) + all(f.body), listed(f.parameters), listed(f.returns),
                  listed(f.returnRegisters), f.hidesNames, f.hidesSpecialRegisters, f.sourceInstructions);
  for (const FunctionDirective& d : f.directives)
    out += fmt::format("directive {} {} {}\n", d.name.value, fmt::join(d.values, ","), all(d.source));
  for (const Register& r : f.registers)
    out += fmt::format("register {} {} {} {}\n", r.name.value, static_cast<int>(r.type), r.lanes, r.isParameter);
  for (const Variable& v : f.variables) out += all(v);
  for (const Label& l : f.labels) out += fmt::format("label {} {}\n", l.name.value, l.place.value);
  for (const Declaration& d : f.declarations)
    out += fmt::format("declaration {} {} {}\n", d.form, d.firstDeclarator, d.declaratorCount);
  for (const Declarator& d : f.declarators) out += all(d) + "\n";
  for (const Loc& l : f.locs)
    out += fmt::format("loc {} {} {} {} {}\n", l.file, l.line, l.column, l.rest, l.isIntermediate);
  for (const Instruction& i : f.instructions)
    out += fmt::format("{} {} {} {} {} {} {} {} {}\n", static_cast<int>(i.kind), i.payload, i.firstOperand,
                       i.operandCount, i.flags, i.sourceBegin, i.sourceEnd, i.previous.value, i.next.value);
  for (const Operand& o : f.operands)
    out += fmt::format("{} {} {} {} {}\n", static_cast<int>(o.kind), static_cast<int>(o.role),
                       static_cast<int>(o.join), o.flags, o.payload);
  for (const uint64_t c : f.constants) out += fmt::format("{}\n", c);
  return out;
}

std::string all(const Module& m) {
  std::string out = fmt::format("{} {} {} {} {}{}\n", m.versionMajor, m.versionMinor, m.addressSize, m.isDebug,
                                m.hasModuleRegisters, listed(m.target));
  for (uint32_t n = 0; n < m.names.size(); ++n)
    out += fmt::format("{} {}\n", m.text(NameId(n)), m.isNamedInSection(NameId(n)));
  for (const Item& i : m.items)
    out += fmt::format("item {} {} {}\n", static_cast<int>(i.kind), i.index, all(i.source));
  for (const DeclarationForm& f : m.declarationForms)
    out += fmt::format("form {} {} {} {} {} {}\n", f.text.value, static_cast<int>(f.space),
                       static_cast<int>(f.type), f.lanes, f.alignment, f.isExtern);
  for (const OpcodeForm& f : m.opcodes)
    out += fmt::format("opcode {} {} {} {}\n", f.spelling.value, static_cast<int>(f.op), f.effects, f.isEscaped);
  for (const Symbol& s : m.symbols)
    out += fmt::format("symbol {} {} {}\n", s.name.value, static_cast<int>(s.kind), s.index);
  for (const Variable& v : m.variables) out += all(v);
  for (const Function& f : m.functions) out += all(f);
  return out;
}

// Whether a module of parts was made; it is then the same.
bool isReadInParts(const std::string& text, unsigned threads = 4) {
  const auto parts = text::parseInParts(text, "test.ptx", false, threads, 1);
  if (parts == nullptr) return false;
  const Parsed whole(text);
  const std::string wanted = all(*whole), found = all(*parts);
  if (wanted != found) {
    const auto at = static_cast<std::size_t>(std::ranges::mismatch(wanted, found).in1 - wanted.begin());
    FAIL("first difference: ", wanted.substr(at - std::min<std::size_t>(at, 80), 160));
  }
  return true;
}

// Functions that call those before them, each with something of its own.
std::string chain(int functions) {
  std::string text = kHeader +
                     ".file 1 \"a.cu\"\n.global .align 4 .b32 first[4] = {1, 2, 3, 4};\n"
                     ".visible .func (.param .b32 r) f0(.param .b32 a)\n;\n";
  for (int i = 0; i < functions; ++i)
    text += fmt::format(R"(// {0}
.const .align {1} .b8 table{0}[8];
.visible .func (.param .b32 r) f{0}(.param .b32 a)
.noinline
{{
	.reg .pred %p<3>;
	.reg .b32 %r<{2}>, single{0};
	.reg .b64 %rd<9>;
	.loc 1 {0} 3
	ld.param.b32 %r1, [a];
	mov.b64 %rd1, first+4;
	mov.b64 %rd2, table{0};
	mov.u32 %r2, %tid.x;
	mov.u32 single{0}, WARP_SZ;
	.pragma "nounroll";
	setp.eq.s32 %p1, %r1, {0};
	@%p1 bra $L{0};
	{{
	.param .b32 argument;
	.param .b32 result;
	st.param.b32 [argument], %r2;
	call.uni (result), f{3}, (argument);
	ld.param.b32 %r3, [result];
	}}
	add.s32 %r4, %r3, {0}000000000U;
$L{0}:
	bar.sync {1};
	st.param.b32 [r], %r4;
	ret;
}}
)",
                        i, 1 << i % 4, 10 + i % 3, i == 0 ? 0 : i - 1);
  return text + ".section .debug_info\n{\n.b32 f3\n}\n";
}

std::string fileText(const std::filesystem::path& path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

}  // namespace

TEST_CASE("parts: functions that name what stands before them") {
  for (const unsigned threads : {2u, 3u, 8u, 40u}) CHECK(isReadInParts(chain(40), threads));
}

TEST_CASE("parts: threads are for texts that are worth them") {
  const std::string text = chain(40);
  CHECK(text::parseInParts(text, "test.ptx", false, 4) == nullptr);
  CHECK(text::parseInParts(text, "test.ptx", false, 1, 1) == nullptr);
  const std::string large = chain(static_cast<int>(4 * text::kLeastPart / 600));
  CHECK(text::parseInParts(large, "test.ptx", false, 4) != nullptr);
  CHECK(text::parseInParts(large, "test.ptx", false, 1) == nullptr);
}

TEST_CASE("parts: bodies that several threads print") {
  const Parsed parsed(chain(static_cast<int>(4 * text::kLeastPart / 600)));
  for (Function& f : parsed->functions)
    if (f.index % 3 != 0) {
      f.makeRegister(ScalarType::b32);
      f.changed = true;
    }
  for (const bool reprint : {false, true}) {
    std::vector<text::FunctionPlace> one, several;
    const std::string printed = text::print(*parsed, {.reprint = reprint, .places = &one});
    CHECK((text::print(*parsed, {.reprint = reprint, .places = &several, .jobs = 0}) == printed));
    CHECK((printed != parsed.source));
    CHECK(std::ranges::equal(one, several, [](const auto& a, const auto& b) {
      return a.begin == b.begin && a.body == b.body && a.end == b.end;
    }));
  }
}

TEST_CASE("parts: what has to be read as one") {
  const std::string text = chain(40);
  const auto with = [&](std::string_view what, std::string_view by) {
    std::string changed = text;
    changed.replace(changed.rfind(what), what.size(), by);
    return changed;
  };
  CHECK(isReadInParts(with("%tid.x", "%tid.y")));
  CHECK(errorOf(with("first+4", "second+4")).message == "undefined symbol 'second'");
  const std::string late = with("first+4", "late") + ".global .b32 late;\n";
  CHECK(errorOf(late).message == "undefined symbol 'late'");
  for (const std::string& other :
       {with("first+4", "second+4"), late, with("bar.sync", "bar sync"), with("bra $L", "bra $M"),
        with("f39(", "f38("), with("\tret;\n}", "\tret;\n"), with("first+4", "first[1]"),
        text + ".alias f40, f1;\n", with(".noinline", "/*")})
    CHECK_MESSAGE(!isReadInParts(other), other.substr(other.size() - 500));
}

TEST_CASE("parts: braces of comments, scopes and assembly of a program") {
  std::string text = chain(6);
  for (const std::string_view trap :
       {"/*\n}\n.visible\n*/", "{\n}\n\t// end inline asm", "{\n}\n// .globl", "{\n}\n.reg .b32 %x;"}) {
    std::string changed = text;
    for (std::size_t at = 0; (at = changed.find("\tret;", at)) != std::string::npos; at += trap.size() + 6)
      changed.insert(at, std::string(trap) + "\n");
    const Parsed whole(changed);
    for (const unsigned threads : {2u, 3u, 5u, 7u}) isReadInParts(changed, threads);
  }
}

TEST_CASE("parts: texts of the tests, and several of them") {
  std::size_t read = 0, files = 0;
  for (const char* folder : {"../samples", "inputs/hazards", "inputs/opcodes"})
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::path(PTXOPT_TESTS_DIR) / folder)) {
      if (entry.path().extension() != ".ptx") continue;
      const std::string text = fileText(entry.path());
      if (!std::holds_alternative<std::unique_ptr<Module>>(text::parse(text))) continue;
      ++files;
      for (const unsigned threads : {2u, 5u}) read += isReadInParts(text, threads);
    }
  CHECK(files > 200);
  CHECK(read > 40);
}
