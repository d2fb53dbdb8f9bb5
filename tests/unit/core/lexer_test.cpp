// The table-driven token loop against ANTLR's own lexer, made of the same grammar, on every PTX file of the tests.
#include "text/lexer.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "PtxLexer.h"

using namespace ptxopt::text;
using ptxopt::text::grammar::PtxLexer;

#ifndef PTXOPT_TESTS_DIR
#error "define PTXOPT_TESTS_DIR as the path of the folder tests"
#endif

namespace {

struct Span {
  uint16_t type;
  std::size_t begin, length;
  bool operator==(const Span&) const = default;
};

std::string show(const Span& s, std::string_view source) {
  return std::to_string(s.type) + " at " + std::to_string(s.begin) + ": " +
         std::string(source.substr(s.begin, s.length));
}

std::vector<Span> ours(std::string_view source) {
  std::vector<Span> spans;
  Lexer lexer(source);
  Token token;
  for (lexer.next(token); token.type != Token::kEnd; lexer.next(token))
    spans.push_back({token.type, static_cast<std::size_t>(token.begin - source.data()), token.length});
  lexer.next(token);
  CHECK(token.type == Token::kEnd);
  return spans;
}

// ANTLR wants UTF-8 and counts code points: each byte becomes the code point of its value.
std::vector<Span> stock(std::string_view source) {
  std::string utf8;
  for (const char c : source) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      utf8 += c;
    } else {
      utf8 += static_cast<char>(0xc0 | byte >> 6);
      utf8 += static_cast<char>(0x80 | (byte & 0x3f));
    }
  }
  antlr4::ANTLRInputStream input(utf8);
  PtxLexer lexer(&input);
  lexer.removeErrorListeners();
  std::vector<Span> spans;
  for (const auto& token : lexer.getAllTokens()) {
    const std::size_t begin = token->getStartIndex();
    spans.push_back({static_cast<uint16_t>(token->getType()), begin, token->getStopIndex() - begin + 1});
  }
  return spans;
}

// `4.b8`: ANTLR sees `4.` and `b8`; ptxopt takes the dot to the name.
std::vector<Span> withoutGluedFloats(const std::vector<Span>& spans, std::string_view source) {
  std::vector<Span> result;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    Span s = spans[i];
    const std::size_t end = s.begin + s.length;
    if (s.type == PtxLexer::FLOAT && source[end - 1] == '.' && end < source.size() &&
        (std::isalpha(static_cast<unsigned char>(source[end])) || source[end] == '_')) {
      REQUIRE(i + 1 < spans.size());
      result.push_back({PtxLexer::INT, s.begin, s.length - 1});
      const auto rest = ours(source.substr(end - 1, spans[i + 1].length + 1));
      REQUIRE(rest.size() == 1);
      s = {rest[0].type, end - 1, spans[i + 1].length + 1};
      ++i;
    }
    result.push_back(s);
  }
  return result;
}

// `.target sm_90.address_size 64`: ANTLR sees an opcode after `.target`; ptxopt ends the name at the dot.
std::vector<Span> withoutGluedTargets(const std::vector<Span>& spans, std::string_view source) {
  std::vector<Span> result;
  bool isTarget = false;
  for (const Span& s : spans) {
    const std::size_t dot = source.substr(s.begin, s.length).find('.');
    const bool isGlued = isTarget && s.type == PtxLexer::WORD && dot != std::string_view::npos;
    isTarget = s.type == PtxLexer::TARGET ||
               (isTarget && !isGlued && (s.type == PtxLexer::WORD || s.type == PtxLexer::COMMA));
    if (!isGlued) {
      result.push_back(s);
      continue;
    }
    result.push_back({s.type, s.begin, dot});
    for (const Span& rest : ours(source.substr(s.begin + dot, s.length - dot)))
      result.push_back({rest.type, s.begin + dot + rest.begin, rest.length});
  }
  return result;
}

std::size_t compare(const std::filesystem::path& folder) {
  std::size_t files = 0;
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".ptx") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  for (const auto& path : paths) {
    std::ifstream in(path, std::ios::binary);
    const std::string source{std::istreambuf_iterator<char>(in), {}};
    INFO(path.filename().string());
    const auto a = ours(source), b = withoutGluedTargets(withoutGluedFloats(stock(source), source), source);
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
      if (!(a[i] == b[i])) FAIL_CHECK("ours " << show(a[i], source) << " | ANTLR's " << show(b[i], source));
    CHECK(a.size() == b.size());
    ++files;
  }
  return files;
}

std::string types(std::string_view source) {
  static const PtxLexer& lexer = *[] {
    static antlr4::ANTLRInputStream none("");
    static PtxLexer l(&none);
    return &l;
  }();
  std::string text;
  for (const Span& s : ours(source)) {
    if (!text.empty()) text += ' ';
    text += lexer.getVocabulary().getSymbolicName(s.type);
  }
  return text;
}

}  // namespace

TEST_CASE("lexer: the same tokens as ANTLR's on the whole corpus" * doctest::test_suite("slow")) {
  const std::filesystem::path tests = PTXOPT_TESTS_DIR;
  CHECK(compare(tests / "inputs/syntax/accepted") >= 467);
  CHECK(compare(tests / "inputs/syntax/rejected") >= 200);
  CHECK(compare(tests / "inputs/syntax/lenient") >= 10);
  CHECK(compare(tests / "inputs/opcodes") >= 60);
}

TEST_CASE("lexer: what is one token") {
  CHECK(types("@!%p1 add.cc.u32 %r1,%tid.x;") == "GUARD WORD REG COMMA REG SEMI");
  CHECK(types("@ /* a */ ! // b\n %p1") == "GUARD");
  CHECK(types("cp.async.bulk.shared::cluster.global") == "WORD");
  CHECK(types("ld.const[2].u32") == "WORD");
  CHECK(types("%r1.b0 %v.x _ $L__BB0_1:") == "REG REG WORD WORD COLON");
  CHECK(types(".reg.b32 .shared::cta .v4") == "SPACE DIRECTIVE DIRECTIVE DIRECTIVE");
  CHECK(types("1 017 0x1fU 0b01 1.5 .5 1. 1e5 0f3F800000 0d3FF0000000000000") ==
        "INT INT INT INT FLOAT FLOAT FLOAT FLOAT HEXFLOAT HEXFLOAT");
  CHECK(types("\"a\\\" \"/* // { }\n\"") == "STRING STRING");
  CHECK(types("<< <= < == = && & || |") == "BINARY BINARY LESS BINARY ASSIGN BINARY BINARY BINARY BINARY");
  CHECK(types(".align 4.b8") == "ALIGN INT DIRECTIVE");
  CHECK(types("4.") == "FLOAT");
  CHECK(types("// a\n/* b **/ /***/ /* * / */") == "");
  CHECK(types("") == "");
}

TEST_CASE("lexer: line marks are comments, up to the end of their lines") {
  CHECK(types("# 12 \"a.cu\" 1\nret") == "WORD");
  CHECK(types("ret\n  #line 5 \"a.cu\"\n;") == "WORD SEMI");
  CHECK(types("ret# 5 \"a.cu\"\n;") == "WORD SEMI");
  CHECK(types("ret#line5 \"a\nb\" 1\t2 \r\n;") == "WORD SEMI");
  CHECK(types("@# 1 \"!%q\"\n%p") == "GUARD");
  for (const char* other : {"# 5", "#line 5", "#5\"a\"", "# 5 \"a\" b", "# 5 \"a\"b", "# 0x5 \"a\"", "# 5 \"a",
                            "# 5 \"a\" // b", "#pragma once"})
    CHECK_MESSAGE(types(std::string(other) + "\nret").starts_with("ERROR"), other);
  CHECK(types("# 5 \"a\"").starts_with("ERROR"));  // no end of the line
}

TEST_CASE("lexer: the names after .target end at a dot") {
  CHECK(types(".target sm_90.address_size 64") == "TARGET WORD ADDRESS INT");
  CHECK(types(".target sm_90 , // a\n debug.visible.entry k") == "TARGET WORD COMMA WORD LINKAGE ENTRY WORD");
  CHECK(types(".target sm_90 sm_90.x") == "TARGET WORD WORD");
  CHECK(types(".target sm_90, .x y.z") == "TARGET WORD COMMA DIRECTIVE WORD");
  CHECK(types(".target.target") == "TARGET TARGET");
  CHECK(types(".target") == "TARGET");
  std::string many;
  for (int i = 0; i < 100000; ++i) many += ".target ";
  CHECK(ours(many).size() == 100000);
}

TEST_CASE("lexer: errors") {
  const auto error = [](std::string_view source) {
    Lexer lexer(source);
    Token token;
    do lexer.next(token);
    while (token.type != PtxLexer::ERROR && token.type != Token::kEnd);
    REQUIRE(token.type == PtxLexer::ERROR);
    return describeError(token, source);
  };
  CHECK(error(".file 1 \"abc") == "unterminated string");
  CHECK(error("a ` b") == "unexpected '`'");
  CHECK(error("a \x01 b") == "unexpected byte 0x01");
  CHECK(error("a \xc3\xa9 b") == "unexpected byte 0xc3");
  CHECK(error(std::string_view("a\0b", 3)) == "unexpected byte 0x00");
  CHECK(error("a \v b") == "unexpected byte 0x0b");
}

TEST_CASE("lexer: comments may hold any byte, and tokens end at the end of the source") {
  CHECK(types("a // \xff\xfe\x01\nb") == "WORD WORD");
  CHECK(types("a /* \xc3\xa9 */ b") == "WORD WORD");
  CHECK(types("// no newline at the end") == "");
  const std::string_view source = "mov.u32X";
  CHECK(ours(source.substr(0, 7)) == std::vector<Span>{{PtxLexer::WORD, 0, 7}});
}
