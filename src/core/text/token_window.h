// The tokens of a source as ANTLR's parser wants them, through a window: the grammar is LL(1), so one token ahead
// and two before the current one are all that anyone looks at, and memory does not grow with the input.
#pragma once

#include <algorithm>
#include <vector>

#include "text/lexer.h"

namespace ptxopt::text {

class TokenWindow final : public antlr4::TokenStream {
 public:
  explicit TokenWindow(std::string_view source) : lexer_(source) { refill(); }

  void consume() override {
    if (at_->type == Token::kEnd) return;
    if (++at_ == window_.data() + window_.size()) refill();
  }
  std::size_t LA(ssize_t i) override {
    if (i != 1) return look(i)->getType();
    return paused_ ? antlr4::Token::EOF : at_->getType();
  }
  antlr4::Token* LT(ssize_t i) override { return look(i); }
  // Between these the parser sees the end of the text: a loop over statements ends.
  void pause() { paused_ = true; }
  void resume() { paused_ = false; }
  bool atEnd() const { return at_->type == Token::kEnd; }
  // The current token.
  const Token& front() const { return *at_; }
  // The token before it.
  const Token& back() const { return at_[-1]; }

  ssize_t mark() override { return 0; }
  void release(ssize_t) override {}
  std::size_t index() override { return 0; }
  void seek(std::size_t) override {}
  std::size_t size() override { return window_.size(); }
  std::string getSourceName() const override { return "ptx"; }
  antlr4::Token* get(std::size_t) const override { return const_cast<Token*>(at_); }
  antlr4::TokenSource* getTokenSource() const override { return nullptr; }
  std::string getText(const antlr4::misc::Interval&) override { return {}; }
  std::string getText() override { return {}; }
  std::string getText(antlr4::RuleContext*) override { return {}; }
  std::string getText(antlr4::Token*, antlr4::Token*) override { return {}; }

 private:
  static constexpr std::size_t kBehind = 2;

  Token* look(ssize_t i) { return i > 0 ? at_ + (i - 1) : at_ + i; }

  // Keeps the last kBehind tokens and lexes until the window is full or the source ends.
  void refill() {
    std::copy(window_.end() - kBehind, window_.end(), window_.begin());
    at_ = window_.data() + kBehind;
    lexer_.fill(at_, window_.data() + window_.size());
  }

  Lexer lexer_;
  std::vector<Token> window_ = std::vector<Token>(256);  // 6 KiB, which stay in the first cache
  Token* at_ = nullptr;
  bool paused_ = false;
};

}  // namespace ptxopt::text
