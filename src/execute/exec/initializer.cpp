// A recursive descent over the text: lists, strings, and constant expressions by precedence. Values are written one
// after the other, in the width of the element.
#include "exec/initializer.h"

#include <fmt/format.h>

#include <bit>
#include <cctype>
#include <charconv>
#include <cstring>
#include <string>

#include "exec/constant_expression.h"
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
    if (at_ != text_.size()) fail("something after the initializer");
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

  // ---- constant expressions, as among operands (constant_expression.h), but of text ----

  std::string_view numberWord() {
    std::string_view w = word();
    // 1.5e-3: the sign belongs to it
    const bool isHex = w.starts_with("0x") || w.starts_with("0X");
    if (!w.empty() && !isHex && (w.back() == 'e' || w.back() == 'E') && at_ < text_.size() &&
        (text_[at_] == '-' || text_[at_] == '+')) {
      const auto begin = static_cast<std::size_t>(w.data() - text_.data());
      ++at_;
      word();
      w = text_.substr(begin, at_ - begin);
    }
    return w;
  }

  Term literal() {
    const std::string_view w = numberWord();
    if (w == "WARP_SZ") return {.value = 32};
    if (w.empty() || w.front() < '0' || w.front() > '9') {
      if (!w.starts_with('.')) fail("a number expected");
    }
    const bool isHex = w.starts_with("0x") || w.starts_with("0X");
    if (!isHex && w.find_first_of(".eE") != std::string_view::npos) {
      double d = 0;
      if (std::from_chars(w.data(), w.data() + w.size(), d).ec != std::errc()) fail("a number expected");
      return {.isDouble = true, .number = d};
    }
    uint64_t bits = 0;
    if (!text::parseInteger(w, bits)) fail("a number expected");
    return {static_cast<int64_t>(bits), bits > INT64_MAX || w.ends_with('U')};
  }

  Term prefixed() {
    std::string prefixes;
    for (char c = peek(); c == '-' || c == '~' || c == '!' || c == '+'; c = peek()) {
      if (c != '+') prefixes += c;
      ++at_;
    }
    Term t{};
    if (eat('(')) {
      if (peek() == '.') {  // (.s64)
        const std::string_view type = word();
        if (!eat(')')) fail("')' expected");
        t = prefixed();
        if (t.isDouble) fail("a cast of a floating-point number");
        t.isUnsigned = type.find('u') != std::string_view::npos;
      } else {
        t = expression();
        if (!eat(')')) fail("')' expected");
      }
    } else {
      t = literal();
    }
    for (; !prefixes.empty(); prefixes.pop_back())
      if (!applyPrefix(prefixes.back(), t)) fail("a prefix before a floating-point number");
    return t;
  }

  // The operator that comes next, not read.
  std::pair<Join, std::size_t> nextOperator() {
    static constexpr std::pair<std::string_view, Join> kOperators[] = {
        {"&&", Join::AndAnd},    {"||", Join::OrOr},      {"==", Join::Equal},      {"!=", Join::NotEqual},
        {"<=", Join::LessEqual}, {"<<", Join::ShiftLeft}, {">>", Join::ShiftRight}, {">=", Join::GreaterEqual},
        {"<", Join::Less},       {">", Join::Greater},    {"+", Join::Plus},        {"-", Join::Minus},
        {"*", Join::Times},      {"/", Join::Divide},     {"%", Join::Modulo},      {"&", Join::And},
        {"^", Join::Xor},        {"|", Join::Pipe}};
    blank();
    for (const auto& [spelling, join] : kOperators)
      if (text_.substr(at_).starts_with(spelling)) return {join, spelling.size()};
    return {Join::None, 0};
  }

  Term climb(int least) {
    Term left = prefixed();
    for (;;) {
      const auto [join, size] = nextOperator();
      if (precedence(join) == 0 || precedence(join) < least) return left;
      at_ += size;
      if (!apply(join, left, climb(precedence(join) + 1))) fail("a constant expression that has no value");
    }
  }

  Term expression() {
    const Term condition = climb(1);
    if (!eat('?')) return condition;
    if (condition.isDouble) fail("a floating-point condition");
    const Term yes = expression();
    if (!eat(':')) fail("':' expected");
    const Term no = expression();
    return condition.value != 0 ? yes : no;
  }

  void value() {
    const char c = peek();
    const std::size_t begin = at_;
    const std::string_view w = word();
    const bool isName = !w.empty() && w != "WARP_SZ" && w.front() != '.' && (w.front() < '0' || w.front() > '9');
    if (isName) return address(w);
    const char marker = w.size() > 1 ? static_cast<char>(w[1] | 0x20) : ' ';
    if (c == '0' && (marker == 'f' || marker == 'd') && w.size() >= 10) return literalOfBits(w, marker == 'f');
    if (uint64_t mask = 0; !w.empty() && peek() == '(' && text::parseInteger(w, mask)) return byteOfAddress(mask);
    at_ = begin;
    const Term t = expression();
    if (t.isDouble) return number(t.number);
    if (type_ == ScalarType::f32 || type_ == ScalarType::f64 || type_ == ScalarType::f16)
      fail("an integer for a floating-point type");
    put(static_cast<uint64_t>(t.value), element_);
  }

  // 0f and 0d. ptxas puts the bits of a 0f literal also where there are 64.
  void literalOfBits(std::string_view w, bool isSingle) {
    uint64_t bits = 0;
    std::from_chars(w.data() + 2, w.data() + w.size(), bits, 16);
    if (element_ != 4 && element_ != 8) fail("a floating-point value for another type");
    if (isSingle) return put(bits, element_);
    number(std::bit_cast<double>(bits));
  }

  // 0xFF00(symbol): one byte of an address
  void byteOfAddress(uint64_t mask) {
    ++at_;
    const std::string_view name = word();
    const uint64_t full = offsetBehind(addressOfName(name));
    if (!eat(')')) fail("')' expected");
    if (mask == 0) fail("an empty mask");
    put((full & mask) >> (std::countr_zero(mask) & ~7), element_);
  }

  void number(double d) {
    const bool takes = type_ == ScalarType::f32 || type_ == ScalarType::f64 || type_ == ScalarType::b32 ||
                       type_ == ScalarType::b64;
    if (takes && element_ == 4) return put(std::bit_cast<uint32_t>(static_cast<float>(d)), 4);
    if (takes) return put(std::bit_cast<uint64_t>(d), 8);
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
      const bool negative = !plus;
      const Term t = plus ? expression() : climb(10);
      if (t.isDouble) fail("a floating-point offset");
      base = negative ? base - static_cast<uint64_t>(t.value) : base + static_cast<uint64_t>(t.value);
    }
  }

  void address(std::string_view name) { put(offsetBehind(addressOfName(name)), element_); }

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
