#include "exec/initializer.h"

#include <fmt/format.h>

#include <bit>
#include <cctype>
#include <charconv>
#include <cstring>
#include <string>

#include "exec/error.h"
#include "text/number.h"

namespace ptxopt::exec {

namespace {

class Reader {
 public:
  Reader(std::string_view text, ScalarType type, std::span<std::byte> bytes, const AddressOf& addressOf)
      : text_(text), type_(type), bytes_(bytes), addressOf_(addressOf) {
    element_ = std::max<std::size_t>(1, info(type).bits / 8);
  }

  void run() {
    list();
    blank();
    if (at_ != text_.size()) fail("something behind the initializer");
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    throw ExecError(FaultKind::Unsupported, fmt::format("initializer '{}': {}", text_.substr(0, 40), what));
  }

  void blank() {
    for (;;) {
      while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
      if (text_.substr(at_).starts_with("//")) {
        at_ = std::min(text_.size(), text_.find('\n', at_));
      } else if (text_.substr(at_).starts_with("/*")) {
        at_ = std::min(text_.size() - 2, text_.find("*/", at_)) + 2;
      } else {
        return;
      }
    }
  }
  char peek() {
    blank();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool eat(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  void list() {
    if (peek() == '"') return string();
    if (!eat('{')) return value();
    if (eat('}')) return;
    do list();
    while (eat(','));
    if (!eat('}')) fail("'}' expected");
  }

  void put(uint64_t bits, std::size_t size) {
    if (next_ + size > bytes_.size()) fail("more values than the variable has elements");
    std::memset(bytes_.data() + next_, 0, size);
    std::memcpy(bytes_.data() + next_, &bits, std::min<std::size_t>(size, 8));
    next_ += size;
  }

  void string() {
    ++at_;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] == '\\') fail("a string with escapes");
      put(static_cast<unsigned char>(text_[at_++]), 1);
    }
    if (!eat('"')) fail("a string without end");
    put(0, 1);
  }

  std::string_view word() {
    blank();
    const std::size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_' ||
                                  text_[at_] == '$' || text_[at_] == '%' || text_[at_] == '.'))
      ++at_;
    return text_.substr(begin, at_ - begin);
  }

  void value() {
    bool negative = false, complement = false;
    for (;;) {
      if (eat('-'))
        negative = !negative;
      else if (eat('~'))
        complement = !complement;
      else if (!eat('+'))
        break;
    }
    if (eat('(')) {  // (.s64) casts and parenthesized numbers
      if (peek() == '.') {
        word();
        if (!eat(')')) fail("')' expected");
        value();
        return;
      }
      value();
      if (!eat(')')) fail("')' expected");
      return;
    }
    std::string_view w = word();
    if (w.empty()) fail("a value expected");
    const bool isFloat = type_ == ScalarType::f32 || type_ == ScalarType::f64 || type_ == ScalarType::f16;
    const char first = w.front();
    if (first < '0' || first > '9') return address(w, negative || complement);
    // 1.5e-3: the sign belongs to it
    if ((w.back() == 'e' || w.back() == 'E') && !w.starts_with("0x") && !w.starts_with("0X") &&
        at_ < text_.size() && (text_[at_] == '-' || text_[at_] == '+')) {
      const std::size_t begin = static_cast<std::size_t>(w.data() - text_.data());
      ++at_;
      word();
      w = text_.substr(begin, at_ - begin);
    }
    const char marker = w.size() > 1 ? static_cast<char>(w[1] | 0x20) : ' ';
    if (first == '0' && (marker == 'f' || marker == 'd') && w.size() >= 10) {
      uint64_t bits = 0;
      std::from_chars(w.data() + 2, w.data() + w.size(), bits, 16);
      const double d = marker == 'f' ? static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits)))
                                     : std::bit_cast<double>(bits);
      if (element_ == 4 && marker == 'f') return put(bits, 4);
      if (element_ == 8 && marker == 'd') return put(bits, 8);
      return number(d);
    }
    if (w.find('.') != std::string_view::npos || (isFloat && w.find_first_of("eE") != std::string_view::npos)) {
      double d = 0;
      if (std::from_chars(w.data(), w.data() + w.size(), d).ec != std::errc()) fail("a number expected");
      return number(negative ? -d : d);
    }
    uint64_t bits = 0;
    if (!text::parseInteger(w, bits)) fail("a number expected");
    if (peek() == '(') {  // 0xFF00(symbol): one byte of an address
      ++at_;
      const std::string_view name = word();
      const uint64_t full = offsetBehind(addressOfName(name));
      if (!eat(')')) fail("')' expected");
      if (bits == 0) fail("an empty mask");
      return put((full & bits) >> (std::countr_zero(bits) & ~7), element_);
    }
    if (complement) bits = ~bits;
    if (negative) bits = 0 - bits;
    if (isFloat) return number(static_cast<double>(static_cast<int64_t>(bits)));
    put(bits, element_);
  }

  void number(double d) {
    if (type_ == ScalarType::f32) return put(std::bit_cast<uint32_t>(static_cast<float>(d)), 4);
    if (type_ == ScalarType::f64) return put(std::bit_cast<uint64_t>(d), 8);
    fail("a floating-point value for another type");
  }

  uint64_t addressOfName(std::string_view name) {
    bool generic = false;
    if (name == "generic") {
      if (!eat('(')) fail("'(' expected");
      name = word();
      generic = true;
    }
    const uint64_t a = addressOf_(name, generic);
    if (a == 0) fail(fmt::format("'{}' has no address", name));
    const uint64_t result = generic ? offsetBehind(a) : a;
    if (generic && !eat(')')) fail("')' expected");
    return result;
  }

  uint64_t offsetBehind(uint64_t base) {
    for (;;) {
      const bool plus = eat('+');
      if (!plus && !eat('-')) return base;
      const bool negative = !plus || eat('-');
      uint64_t v = 0;
      if (!text::parseInteger(word(), v)) fail("a number expected");
      base = negative ? base - v : base + v;
    }
  }

  void address(std::string_view name, bool hasSign) {
    if (hasSign) fail("a sign before an address");
    put(offsetBehind(addressOfName(name)), element_);
  }

  std::string_view text_;
  ScalarType type_;
  std::span<std::byte> bytes_;
  const AddressOf& addressOf_;
  std::size_t at_ = 0, next_ = 0, element_ = 1;
};

}  // namespace

void initialise(std::string_view text, ScalarType type, std::span<std::byte> bytes, const AddressOf& addressOf) {
  Reader(text, type, bytes, addressOf).run();
}

}  // namespace ptxopt::exec
