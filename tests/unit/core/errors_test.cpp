// What is refused, with which words, and where.
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include "support.h"

using namespace ptxopt;
using namespace ptxopt::testing;

namespace {

// `LINE:COLUMN MESSAGE`
std::string where(const text::ParseError& e) {
  return std::to_string(e.position.line) + ":" + std::to_string(e.position.column) + " " + e.message;
}
std::string refused(std::string_view text) { return where(errorOf(text)); }
// Line 4 is the first line of `text`.
std::string inModule(std::string_view text) { return refused(kHeader + std::string(text)); }
// Line 6 is the first line of `text`.
std::string inBody(std::string_view text) {
  return refused(kHeader + ".entry k(.param .u64 p)\n{\n" + std::string(text) + "\n}\n");
}

std::string repeat(std::string_view text, std::size_t n) {
  std::string result;
  for (std::size_t i = 0; i < n; ++i) result += text;
  return result;
}

// Whether a child process that parses `text` ends by itself.
bool survives(const std::string& text) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    for (const int signal : {SIGSEGV, SIGABRT, SIGBUS})
      std::signal(signal, SIG_DFL);  // doctest has handlers of its own
    const auto result = text::parse(text);
    _exit(std::holds_alternative<text::ParseError>(result) ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status);
}

}  // namespace

TEST_CASE("errors: what is no text") {
  using namespace std::string_view_literals;
  CHECK(refused("\x7f"
                "ELF\2\1\1") == "1:1 this is an ELF file (a cubin or a host object), not PTX text");
  CHECK(refused("\x50\xed\x55\xba\1\0") == "1:1 this is a fatbin, not PTX text");
  CHECK(refused("BC\xc0\xde") == "1:1 this is LLVM bitcode, not PTX text");
  CHECK(refused("\xff\xfe.\0v\0"sv) == "1:1 this is UTF-16, not PTX text");
  CHECK(refused("\xfe\xff\0.\0v"sv) == "1:1 this is UTF-16, not PTX text");
  CHECK(refused("\0"sv) == "1:1 no .version directive");
  CHECK(refused(std::string(kHeader) + std::string("a\0b", 3)).starts_with("4:1 unexpected 'a'"));
  CHECK(refused(kHeader + std::string(".global .b32 \0;", 15)) == "4:14 unexpected byte 0x00");
  CHECK(refused(kHeader + "\x01").starts_with("4:1 unexpected byte 0x01"));
  CHECK(refused(kHeader + "\xc3\xa9").starts_with("4:1 unexpected byte 0xc3"));
}

TEST_CASE("errors: a module begins with .version and .target") {
  CHECK(refused("") == "1:1 no .version directive");
  CHECK(refused("// only a comment\n") == "2:1 no .version directive");
  CHECK(refused(".target sm_80\n") == "1:1 a module begins with .version");
  for (const std::string text :
       {"#include <a.h>\n", "__global__ void k() {}\n", "extern \"C\" __global__ void k();\n"})
    CHECK(refused(text).find("1:1 this is C++, not PTX text: ") == 0);
  CHECK(refused(".target sm_80 // of a __global__ function\n") == "1:1 a module begins with .version");
  CHECK(refused(".version 8.0\n") == "2:1 no .target directive");
  CHECK(refused(".version 8.0\n.entry k() { }") == "2:1 a .target directive comes after .version");
  CHECK(inModule(".version 8.0\n") == "4:1 a second .version");
  CHECK(refused(".version 8\n.target sm_80\n") == "1:10 unexpected '8', expected a number");
  CHECK(refused(".version 0.5\n") == "1:10 a version is two numbers, as in 8.0");
  CHECK(inModule(".address_size 16") == "4:15 the address size is 32 or 64");
}

TEST_CASE("errors: syntax, with what was expected") {
  CHECK(inBody(".reg .b32 %r;\nmov.u32 %r, 1") == "8:1 unexpected '}', expected ';'");
  CHECK(inBody("ret") == "7:1 unexpected '}'");
  CHECK(inBody("\tbar.sync 0\n\tret;") == "7:2 unexpected 'ret', expected ';'");
  CHECK(inBody(";") == "6:1 unexpected ';'");
  CHECK(inBody("add. s32 a, b;").starts_with("6:4 unexpected '.'"));
  CHECK(inBody(".reg .pred q;\n@q { }") == "7:4 unexpected '{', expected a name");
  CHECK(inBody(".pragma nounroll;") == "6:9 unexpected 'nounroll', expected a string");
  CHECK(inBody(".loc 1 x 3") == "6:8 unexpected 'x', expected an integer");
  CHECK(inModule("mov.u32 %r1, 1;") == "4:1 unexpected 'mov.u32'");
  CHECK(inModule(".entry k()\n{ ret; }\n}\n") == "6:1 unexpected '}'");
  CHECK(inModule(".alias a b;") == "4:10 unexpected 'b', expected ','");
  CHECK(inModule("ret" + std::string(60, 't') + ";") == "4:1 unexpected 'ret" + std::string(37, 't') + "...'");
}

TEST_CASE("errors: undefined names") {
  CHECK(inBody("mov.u32 %r1, 1;") == "6:9 undefined register '%r1'");
  CHECK(inBody("mov.u32 r1, 1;") == "6:9 undefined symbol 'r1'");
  CHECK(inBody("\tbra\n\t  L;") == "7:4 undefined label 'L'");
  CHECK(inBody("@%p1 ret;") == "6:1 undefined register '%p1'");
  CHECK(inBody("call f;") == "6:6 undefined symbol 'f'");
  CHECK(inBody("T: .branchtargets A, B;\nA:") == "6:22 undefined symbol 'B'");
  CHECK(inBody(".reg .b32 %r;\nmov.u32 %r, %envreg32;") == "7:13 undefined register '%envreg32'");
}

TEST_CASE("errors: duplicates and redeclarations") {
  CHECK(inBody("L:\nret;\n  L:") == "8:3 'L' is already defined in this scope");
  CHECK(inBody(".reg .b32 a;\n.reg .b32 b, a;") == "7:14 'a' is already declared in this scope");
  CHECK(inBody(".reg .b32 p;") == "6:11 'p' is already declared in this scope");
  CHECK(inModule(".entry k() { }\n.entry k() { }\n") == "5:12 'k' is already defined");
  CHECK(inModule(".entry k(.param .u64 a, .param .u32 a) { }\n") == "4:37 'a' is already declared in this scope");
}

TEST_CASE("errors: numbers that are too large") {
  CHECK(inBody(".reg .b32 r;\nmov.u32 r, 99999999999999999999999;") == "7:12 the number does not fit in 64 bits");
  CHECK(inBody(".reg .f64 r;\nmov.f64 r, 1e999;") == "7:12 the number does not fit in a double");
  CHECK(inBody(".reg .b32 r<4294967296>;") == "6:13 the number of registers does not fit in 32 bits");
  CHECK(inBody(".loc 1 4294967296 1") == "6:8 the number does not fit in 32 bits");
  CHECK(inModule(".entry k() .maxntid 4294967296 { }") == "4:21 the number does not fit in 32 bits");
  CHECK(inModule(".global .b32 a[] = {1, 99999999999999999999999};") == "4:24 the number does not fit in 64 bits");
  CHECK(inBody(".reg .b32 r;\nmov.u32 r, 09;") == "7:12 the number does not fit in 64 bits");
  CHECK(inModule(".global .b32 a[4*4];") == "4:19 an array size is one number");
}

TEST_CASE("errors: operands") {
  CHECK(inBody(".reg .b32 r;\n@r ret;") == "7:1 the guard 'r' is not a predicate");
  CHECK(inBody("call;") == "6:1 a call without a function");
  CHECK(inBody(".reg .b64 a, b;\nld.global.u32 a, [a-4];") ==
        "7:20 write '+-' to subtract from what is not a number");
  CHECK(inBody(".reg .b64 a, b;\nld.global.u32 a, [a+b];") == "7:21 'b' cannot follow an operator");
  CHECK(inBody(".reg .b32 a;\nmov.b32 {}, a;") == "7:10 an empty vector");
  CHECK(inBody(".reg .b32 a;\nmov.b32 {{a}}, a;") == "7:10 '{' inside another");
  CHECK(inBody(".reg .b32 a;\nmov.b32 {a], a;") == "7:11 ']' closes another kind of bracket");
  CHECK(inBody(".reg .b32 a;\nmov.b32 a, (a);") == "7:14 parentheses around what is not a number");
  CHECK(inBody(".reg .f32 a;\nmov.f32 a, -0f3f800000;") ==
        "7:13 a sign before a 0f or 0d literal: write it into the bits");
  CHECK(inBody("bra 5;") == "6:1 a branch needs a label");
}

TEST_CASE("errors: files that end too early") {
  CHECK(refused(kHeader + ".entry kernel()\n{\n\tret;\n") == "7:1 the file ends inside the body of 'kernel'");
  CHECK(refused(kHeader + ".entry kernel()\n{\n{ ret; }\n") == "7:1 the file ends inside the body of 'kernel'");
  CHECK(refused(kHeader + ".section .debug_x\n{\n.b8 1\n") == "7:1 the file ends inside a section");
  CHECK(refused(kHeader + ".entry k()\n{\n mov") == "6:5 unexpected end of file");
  CHECK(refused(kHeader + ".file 1 \"abc\n\n") == "4:9 unterminated string");
}

TEST_CASE("errors: an unterminated comment") {
  CHECK(refused(kHeader + "/* abc\n*\n") == "4:1 unterminated comment");
  CHECK(inBody("ret; /* abc") == "6:6 unterminated comment");
}

TEST_CASE("errors: nesting that is too deep") {
  CHECK(inBody(".reg .b32 r;\nmov.u32 r, " + repeat("(", 257) + "1;") == "7:268 nested deeper than 256 levels");
  CHECK(inModule(".global .b32 a[] = " + repeat("{", 257) + "1;") == "4:276 nested deeper than 256 levels");
  CHECK(inModule(".global .b32 a = " + repeat("(", 257) + "1;") == "4:274 nested deeper than 256 levels");
  const Parsed parentheses(kHeader + ".global .b32 a = " + repeat("(", 256) + "1" + repeat(")", 256) + ";\n");
  const Parsed blocks(kHeader + ".entry k()\n" + repeat("{", 5000) + repeat("}", 5000) + "\n");
}

// The parser must not run out of stack, whatever it is given.
TEST_CASE("errors: prefixes and parentheses without end") {
  constexpr std::size_t kMany = 300000;
  const std::string body = ".entry k()\n{\n.reg .b32 r;\nmov.u32 r, ";
  CHECK(survives(kHeader + ".global .b32 x = " + repeat("-", kMany) + "1;\n"));
  CHECK(survives(kHeader + ".global .b32 x = 1" + repeat("+1", kMany) + ";\n"));
  CHECK(survives(kHeader + ".global .b32 x = " + repeat("1(", kMany) + "1;\n"));
  CHECK(survives(kHeader + body + repeat("-", kMany) + "1;\n}\n"));
  CHECK(survives(kHeader + body + repeat("(", kMany) + "1;\n}\n"));
  CHECK(survives(kHeader + body + repeat("1+", kMany) + "1;\n}\n"));
}
TEST_CASE("errors: assignments without end") {
  CHECK(survives(kHeader + ".global .texref x = " + repeat("a=", 300000) + "1;\n"));
}
TEST_CASE("errors: casts without end in an initializer") {
  CHECK(survives(kHeader + ".global .b32 x = " + repeat("(.s64)", 300000) + "1;\n"));
}
TEST_CASE("errors: casts without end in an operand") {
  CHECK(survives(kHeader + ".entry k()\n{\n.reg .b32 r;\nmov.u32 r, " + repeat("(.s64)", 300000) + "1;\n}\n"));
}

TEST_CASE("errors: rendered with the line and a caret below the place") {
  const std::string text = kHeader + ".entry k()\n{\n\tmov.u32\t%r1, 1;\r\n}\n";
  CHECK(text::render(errorOf(text), "dir/a.ptx") ==
        "dir/a.ptx:6:10: error: undefined register '%r1'\n\tmov.u32\t%r1, 1;\n\t       \t^\n");
  CHECK(text::render(errorOf(""), "-") == "-:1:1: error: no .version directive\n\n^\n");
  // Of a long line, what stands around the place; control characters as escapes.
  const std::string wide = kHeader + std::string(500, ' ') + "\x01" + std::string(500, ' ');
  CHECK(text::render(errorOf(wide), "w") == "w:4:501: error: unexpected byte 0x01\n" + std::string(60, ' ') +
                                                "\\x01" + std::string(39, ' ') + "\n" + std::string(60, ' ') +
                                                "^\n");
  // UTF-8 stays, and the caret counts its characters. What only looks like it is escaped: too long, a surrogate, cut off.
  const std::string mixed = "// \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 \xc0\x80 \xed\xa0\x80 \xe2\x82\x7f\n\x7f";
  CHECK(text::render({0, {1, 20, std::string_view(mixed).substr(0, mixed.find('\n'))}, "a\tb\x9b"}, "m") ==
        "m:1:20: error: a\tb\\x9b\n// \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 \\xc0\\x80 \\xed\\xa0\\x80 "
        "\\xe2\\x82\\x7f\n" +
            std::string(22, ' ') + "^\n");
}
