// The driver of the generated parser.
//
// `item` parses one item at module level, `sectionItem` one line of a section, `statements` a function body up to
// its closing brace, where the builder pauses the token stream.
#include "text/parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <optional>

#include "PtxLexer.h"
#include "PtxParser.h"
#include "support/parallel.h"
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
  explicit Driver(Module& module) : Driver(module, module.source) {}
  // `text`: the part of the source that is read.
  Driver(Module& module, std::string_view text)
      : module_(module), builder_(module), tokens_(text), parser_(&tokens_) {
    parser_.setBuildParseTree(false);
    parser_.setErrorHandler(std::make_shared<FirstErrorStrategy>(module.source));
    parser_.b = &builder_;
    builder_.pauseAtEndOfBody(tokens_);
  }

  void allowExternals(bool (*isExternal)(std::string_view)) { builder_.allowExternals(isExternal); }

  void run() {
    while (!tokens_.atEnd()) step();
    builder_.endOfFile(tokens_.front());
  }

  // Up to the first function.
  void runHead() {
    while (!tokens_.atEnd() && module_.functions.empty()) step();
  }
  // The rest of the part. False: it ends inside an item.
  bool runPart() {
    while (!tokens_.atEnd()) step();
    return builder_.context() == Builder::Context::Module;
  }
  void end() { builder_.endOfFile(tokens_.front()); }
  Builder& builder() { return builder_; }

  // Goes on after errors.
  void runAll(std::vector<SyntaxError>& errors) {
    builder_.collectUndefined(errors);
    try {
      while (!tokens_.atEnd() && errors.size() < Recovered::kMostErrors) {
        try {
          step();
        } catch (const SyntaxError& e) {
          errors.push_back(e);
          if (!hasHead()) return;  // everything after it would be wrong
          recover();
        }
      }
      if (tokens_.atEnd()) builder_.endOfFile(tokens_.front());
    } catch (const SyntaxError& e) {
      errors.push_back(e);
    }
  }

 private:
  bool hasHead() const { return module_.versionMajor != 0 && !module_.target.empty(); }

  void step() {
    if (builder_.context() == Builder::Context::Body) {
      parser_.statements();
      tokens_.resume();
      return;
    }
    builder_.start(tokens_.front());
    if (builder_.context() == Builder::Context::Section)
      parser_.sectionItem();
    else
      parser_.item();
    builder_.finish(tokens_.back());
  }

  // To the end of the statement or item: its `;`, the brace that closes what it opened, or what begins another one.
  void recover() {
    const Builder::Context where = builder_.context();
    const std::size_t last = tokens_.back().type;
    uint32_t depth = builder_.openVectors() + (last == PtxLexer::LBRACE ? 1 : 0);
    builder_.abandon();
    tokens_.resume();
    if (last == PtxLexer::SEMI || tokens_.atEnd()) return;
    for (bool isFirst = true; !tokens_.atEnd(); isFirst = false) {
      const std::size_t type = tokens_.front().type;
      if (where == Builder::Context::Section) {
        tokens_.consume();
        if (type != PtxLexer::RBRACE) continue;
        builder_.closeSection();
        return;
      }
      if (where == Builder::Context::Module && depth == 0 && !isFirst && beginsItem(type)) return;
      if (type == PtxLexer::RBRACE && depth == 0 && where == Builder::Context::Body) return;
      tokens_.consume();
      if (type == PtxLexer::LBRACE) ++depth;
      if (type == PtxLexer::RBRACE && depth > 0) --depth;
      if (type == PtxLexer::RBRACE && depth == 0 && where == Builder::Context::Module) {
        if (tokens_.front().type == PtxLexer::SEMI) tokens_.consume();  // of an initializer
        return;
      }
      if (type == PtxLexer::SEMI && (depth == 0 || where == Builder::Context::Body)) return;
    }
  }

  static bool beginsItem(std::size_t type) {
    return type == PtxLexer::VERSION || type == PtxLexer::TARGET || type == PtxLexer::ENTRY ||
           type == PtxLexer::FUNC || type == PtxLexer::LINKAGE || type == PtxLexer::SECTION ||
           type == PtxLexer::FILE || type == PtxLexer::ADDRESS;
  }

  const Module& module_;
  Builder builder_;
  TokenWindow tokens_;
  PtxParser parser_;
};

// What a text that is not text most likely is.
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

namespace {

constexpr std::string_view kOptixPrefixes[] = {"_optix_", "_rt_"};

bool isOptixFunction(std::string_view name) {
  return std::ranges::any_of(kOptixPrefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

// Without the byte order mark, and without the NUL that the driver's loaders take and producers pass on with the whole
// buffer (Warp's files).
std::unique_ptr<Module> moduleOf(std::string_view source, std::string fileName) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (source.starts_with(kByteOrderMark)) source.remove_prefix(kByteOrderMark.size());
  while (source.ends_with('\0')) source.remove_suffix(1);
  auto module = std::make_unique<Module>();
  module->source = source;
  module->names.expectTextOf(source.size());
  module->fileName = std::move(fileName);
  return module;
}

ParseError errorOf(std::string_view source, const Module& module, const SyntaxError& e) {
  const auto skipped = static_cast<std::size_t>(module.source.data() - source.data());
  return {e.offset + skipped, locate(module.source, e.offset), e.what()};
}

std::optional<ParseError> whyNoText(std::string_view source) {
  const auto error = [&](std::string message) { return ParseError{0, locate(source, 0), std::move(message)}; };
  if (const std::string_view format = foreignFormat(source); !format.empty()) return error(std::string(format));
  if (source.size() >= UINT32_MAX) return error("files of 4 GiB and more are not supported");
  return std::nullopt;
}

}  // namespace

namespace {

// Past blanks and lines of comments.
std::string_view atText(std::string_view source) {
  for (;;) {
    source.remove_prefix(std::min(source.find_first_not_of(" \t\r\n"), source.size()));
    if (!source.starts_with("//")) return source;
    source.remove_prefix(std::min(source.find('\n'), source.size()));
  }
}

// Where a part may end: after a line `}` and before what mostly stands outside functions. Inside a comment, a string or a body the
// part before it does not end as it should.
std::size_t afterFunction(std::string_view source, std::size_t from) {
  constexpr std::string_view kEnd = "\n}\n";
  for (std::size_t at = source.find(kEnd, from); at != std::string_view::npos; at = source.find(kEnd, at + 1)) {
    const std::size_t after = at + kEnd.size();
    const std::string_view next = atText(source.substr(after));
    for (const std::string_view item : {".visible", ".entry", ".func", ".weak", ".extern", ".global", ".const"})
      if (next.starts_with(item)) return after;
  }
  return source.size();
}

std::vector<std::string_view> partsOf(std::string_view source, std::size_t parts) {
  std::vector<std::string_view> all;
  for (std::size_t begin = 0; begin < source.size();) {
    const std::size_t wanted = (all.size() + 1) * source.size() / parts;
    const std::size_t end = wanted < source.size() ? afterFunction(source, std::max(begin, wanted)) : source.size();
    all.push_back(source.substr(begin, end - begin));
    begin = end;
  }
  return all;
}

}  // namespace

std::unique_ptr<Module> parseInParts(std::string_view source, std::string fileName, bool optix, unsigned threads,
                                     std::size_t leastPart) {
  const std::size_t most = std::min<std::size_t>(threads, source.size() / leastPart);
  if (most < 2 || whyNoText(source) || source.find(".alias") != std::string_view::npos) return nullptr;
  auto module = moduleOf(source, std::move(fileName));
  const std::vector<std::string_view> texts = partsOf(module->source, most);
  if (texts.size() < 2) return nullptr;
  std::deque<Module> modules(texts.size() - 1);
  std::deque<Driver> drivers;
  drivers.emplace_back(*module, texts[0]);
  Builder& first = drivers.front().builder();
  if (optix) first.allowExternals(isOptixFunction);
  try {
    drivers.front().runHead();
  } catch (const SyntaxError&) {
    return nullptr;
  }
  for (std::size_t i = 1; i < texts.size(); ++i) {
    modules[i - 1].source = module->source;
    modules[i - 1].names.expectTextOf(texts[i].size());
    drivers.emplace_back(modules[i - 1], texts[i]).builder().readPart(first);
  }
  std::atomic<bool> isRead = true;
  inParallel(threads, drivers.size(), [&](std::size_t i) {
    try {
      if (!drivers[i].runPart()) isRead = false;
    } catch (const SyntaxError&) {
      isRead = false;
    }
  });
  if (!isRead) return nullptr;
  for (std::size_t i = 1; i < drivers.size(); ++i)
    if (!first.append(drivers[i].builder())) return nullptr;
  inParallel(threads, drivers.size() - 1, [&](std::size_t i) { first.renumber(drivers[i + 1].builder()); });
  drivers.front().end();
  return module;
}

bool callsOptix(std::string_view source, const std::string& fileName) {
  const auto isIn = [&](std::string_view prefix) { return source.find(prefix) != std::string_view::npos; };
  if (std::ranges::none_of(kOptixPrefixes, isIn)) return false;
  return std::holds_alternative<ParseError>(parse(source, fileName)) &&
         !std::holds_alternative<ParseError>(parse(source, fileName, true));
}

std::variant<std::unique_ptr<Module>, ParseError> parse(std::string_view source, std::string fileName, bool optix,
                                                        unsigned jobs) {
  if (auto error = whyNoText(source)) return *std::move(error);
  if (auto module = parseInParts(source, fileName, optix, threadsFor(jobs))) return module;
  auto module = moduleOf(source, std::move(fileName));
  try {
    Driver driver(*module);
    if (optix) driver.allowExternals(isOptixFunction);
    driver.run();
  } catch (const SyntaxError& e) {
    return errorOf(source, *module, e);
  }
  return module;
}

Recovered parseAll(std::string_view source, std::string fileName, bool optix) {
  Recovered result;
  if (auto error = whyNoText(source)) {
    result.errors.push_back(*std::move(error));
    return result;
  }
  result.module = moduleOf(source, std::move(fileName));
  std::vector<SyntaxError> errors;
  Driver driver(*result.module);
  if (optix) driver.allowExternals(isOptixFunction);
  driver.runAll(errors);
  std::ranges::stable_sort(errors, {}, &SyntaxError::offset);
  for (const SyntaxError& e : errors) result.errors.push_back(errorOf(source, *result.module, e));
  return result;
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

std::string render(const ParseError& error, std::string_view fileName, std::string_view severity) {
  // A line may have a hundred million columns: show what stands around the place.
  constexpr std::size_t kBefore = 60, kAfter = 40;
  const SourcePosition& p = error.position;
  const std::size_t from = p.column > kBefore ? p.column - 1 - kBefore : 0;
  const std::string_view shown = p.lineText.substr(std::min(from, p.lineText.size()), kBefore + kAfter);
  const std::string caret = blanksBelow(shown.substr(0, p.column - 1 - from));
  return fmt::format("{}:{}:{}: {}: {}\n{}\n{}^\n", printable(fileName), p.line, p.column, severity,
                     printable(error.message), printable(shown), caret);
}

}  // namespace ptxopt::text
