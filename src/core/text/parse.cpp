// The driver of the generated parser.
//
// `item` parses one item at module level, `sectionItem` one line of a section, `statements` a function body up to
// its closing brace, where the builder pauses the token stream.
#include "text/parse.h"

#include <fmt/format.h>

#include <algorithm>

#include "PtxLexer.h"
#include "PtxParser.h"
#include "support/printable.h"
#include "text/builder.h"
#include "text/syntax_error.h"
#include "text/token_window.h"

namespace ptxopt::text {
namespace {

using grammar::PtxLexer;
using grammar::PtxParser;

// The first error ends the parse, with a message of ours.
class FirstErrorStrategy final : public antlr4::DefaultErrorStrategy {
 public:
  explicit FirstErrorStrategy(std::string_view source) : source_(source) {}

  void sync(antlr4::Parser*) override {}
  antlr4::Token* recoverInline(antlr4::Parser* parser) override { fail(parser); }
  void reportError(antlr4::Parser* parser, const antlr4::RecognitionException&) override { fail(parser); }
  void recover(antlr4::Parser* parser, std::exception_ptr) override { fail(parser); }

 private:
  [[noreturn]] void fail(antlr4::Parser* parser) const {
    const auto& token = static_cast<const Token&>(*parser->getCurrentToken());
    const auto offset = static_cast<std::size_t>(token.begin - source_.data());
    if (token.type == PtxLexer::ERROR || source_.substr(offset).starts_with("/*"))
      throw SyntaxError(offset, describeError(token, source_));
    constexpr std::size_t kLongest = 40;
    const std::string found = token.type == Token::kEnd ? "end of file"
                              : token.length > kLongest ? fmt::format("'{}...'", token.view().substr(0, kLongest))
                                                        : fmt::format("'{}'", token.view());
    throw SyntaxError(offset, fmt::format("unexpected {}{}", found, expectation(parser)));
  }

  // ", expected ';' or ','", when the choice is small enough to help.
  static std::string expectation(antlr4::Parser* parser) {
    constexpr std::size_t kMost = 4;
    PtxParser::makeTables();
    antlr4::misc::IntervalSet expected = parser->getExpectedTokens();
    if (expected.size() > 1)
      expected.remove(static_cast<std::size_t>(PtxParser::BACKSLASH));  // nothing that anyone would write
    if (expected.size() == 0 || expected.size() > kMost) return {};
    std::string text;
    const auto types = expected.toList();
    for (std::size_t i = 0; i < types.size(); ++i) {
      text += i == 0 ? ", expected " : i + 1 == types.size() ? " or " : ", ";
      text += types[i] < 0 ? "end of file"
                           : describe(parser->getVocabulary().getDisplayName(static_cast<std::size_t>(types[i])));
    }
    return text;
  }

  static std::string describe(const std::string& name) {
    if (name == "INT") return "an integer";
    if (name == "FLOAT") return "a number";
    if (name == "STRING") return "a string";
    if (name == "WORD") return "a name";
    if (name == "REG") return "a register";
    return name;
  }

  std::string_view source_;
};

class Driver {
 public:
  explicit Driver(Module& module) : builder_(module), tokens_(module.source), parser_(&tokens_) {
    parser_.setBuildParseTree(false);
    parser_.setErrorHandler(std::make_shared<FirstErrorStrategy>(module.source));
    parser_.b = &builder_;
    builder_.pauseAtEndOfBody(tokens_);
  }

  void run() {
    while (!tokens_.atEnd()) {
      if (builder_.context() == Builder::Context::Body) {
        parser_.statements();
        tokens_.resume();
        continue;
      }
      builder_.start(tokens_.front());
      if (builder_.context() == Builder::Context::Section)
        parser_.sectionItem();
      else
        parser_.item();
      builder_.finish(tokens_.back());
    }
    builder_.endOfFile(tokens_.front());
  }

 private:
  Builder builder_;
  TokenWindow tokens_;
  PtxParser parser_;
};

// What a text that is no text most likely is.
std::string_view foreignFormat(std::string_view source) {
  if (source.starts_with("\x7f"
                         "ELF"))
    return "this is an ELF file (a cubin or a host object), not PTX text";
  if (source.starts_with("\x50\xed\x55\xba")) return "this is a fatbin, not PTX text";
  if (source.starts_with("BC\xc0\xde")) return "this is LLVM bitcode, not PTX text";
  if (source.starts_with("\xff\xfe") || source.starts_with("\xfe\xff")) return "this is UTF-16, not PTX text";
  return {};
}

}  // namespace

std::variant<std::unique_ptr<Module>, ParseError> parse(std::string_view source, std::string fileName) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  const auto error = [&](std::size_t offset, std::string message) {
    return ParseError{offset, locate(source, offset), std::move(message)};
  };
  if (const std::string_view format = foreignFormat(source); !format.empty()) return error(0, std::string(format));
  if (source.size() >= UINT32_MAX) return error(0, "files of 4 GiB and more are not supported");
  std::string_view body = source;
  const std::size_t skipped = body.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  body.remove_prefix(skipped);
  // The driver's loaders take text that ends in NUL, and producers pass its whole buffer on (Warp's files).
  while (body.ends_with('\0')) body.remove_suffix(1);

  auto module = std::make_unique<Module>();
  module->source = body;
  module->fileName = std::move(fileName);
  try {
    Driver(*module).run();
  } catch (const SyntaxError& e) {
    return ParseError{e.offset + skipped, locate(body, e.offset), e.what()};
  }
  return module;
}

// As wide as printable(text), with its tabs.
static std::string blanksBelow(std::string_view text) {
  std::string blanks;
  while (!text.empty()) {
    const std::size_t bytes = printablePrefix(text);
    blanks += bytes == 0 ? "    " : text.front() == '\t' ? "\t" : " ";
    text.remove_prefix(std::max<std::size_t>(1, bytes));
  }
  return blanks;
}

std::string render(const ParseError& error, std::string_view fileName) {
  // A line may have a hundred million columns: show what stands around the place.
  constexpr std::size_t kBefore = 60, kAfter = 40;
  const SourcePosition& p = error.position;
  const std::size_t from = p.column > kBefore ? p.column - 1 - kBefore : 0;
  const std::string_view shown = p.lineText.substr(std::min(from, p.lineText.size()), kBefore + kAfter);
  const std::string caret = blanksBelow(shown.substr(0, p.column - 1 - from));
  return fmt::format("{}:{}:{}: error: {}\n{}\n{}^\n", printable(fileName), p.line, p.column,
                     printable(error.message), printable(shown), caret);
}

}  // namespace ptxopt::text
