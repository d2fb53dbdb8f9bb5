// A token: 24 bytes, a view into the source.
#pragma once

#include <antlr4-runtime.h>

#include <cstdint>
#include <string_view>

namespace ptxopt::text {

class Token final : public antlr4::Token {
 public:
  static constexpr uint16_t kEnd = 0xffff;

  const char* begin = nullptr;
  uint32_t length = 0;
  uint16_t type = kEnd;

  std::string_view view() const { return {begin, length}; }
  const char* end() const { return begin + length; }

  // The parser asks for types only; positions are worked out from `begin` where a message needs them.
  std::size_t getType() const override { return type == kEnd ? antlr4::Token::EOF : type; }
  std::string getText() const override { return std::string(view()); }
  std::string toString() const override { return getText(); }
  std::size_t getLine() const override { return 0; }
  std::size_t getCharPositionInLine() const override { return 0; }
  std::size_t getChannel() const override { return 0; }
  std::size_t getTokenIndex() const override { return 0; }
  std::size_t getStartIndex() const override { return 0; }
  std::size_t getStopIndex() const override { return 0; }
  antlr4::TokenSource* getTokenSource() const override { return nullptr; }
  antlr4::CharStream* getInputStream() const override { return nullptr; }
};
static_assert(sizeof(Token) == 24);

}  // namespace ptxopt::text
