// Each component is tried as a layout, a type, a flag, a rounding and a shape in turn. One that is given twice makes
// the whole opcode unreadable.
#include "exec/matrix/components.h"

#include <algorithm>
#include <charconv>

namespace ptxopt::exec::matrix {

namespace {

// m16n8k16
bool readShape(std::string_view text, Components& c) {
  const auto number = [&](char letter, unsigned& value) {
    if (text.empty() || text.front() != letter) return false;
    const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), value);
    if (error != std::errc{} || value == 0) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return true;
  };
  unsigned m = 0, n = 0, k = 0;
  if (!number('m', m) || !number('n', n) || !number('k', k) || !text.empty()) return false;
  c.m = m, c.n = n, c.k = k;
  return true;
}

std::optional<Rounding> roundingNamed(std::string_view text) {
  if (text == "rn") return Rounding::Nearest;
  if (text == "rz") return Rounding::Zero;
  if (text == "rm") return Rounding::Down;
  if (text == "rp") return Rounding::Up;
  return std::nullopt;
}

// True when `flag` was not set yet.
bool setOnce(bool& flag) {
  const bool isFirst = !flag;
  flag = true;
  return isFirst;
}

bool sortOne(std::string_view text, Components& c) {
  if (text == "row" || text == "col") {
    c.layouts.push_back(text == "row" ? Layout::Row : Layout::Column);
    return true;
  }
  if (const auto type = elementNamed(text)) {
    c.types.push_back(*type);
    return true;
  }
  if (text == "satfinite") return setOnce(c.satfinite);
  if (text == "popc") return setOnce(c.popc);
  if (text == "kind::f8f6f4") return setOnce(c.kindF8f6f4);
  if (text == "xor" || text == "and") {
    const bool isFirst = !c.bitOperation;
    c.bitOperation = text == "xor" ? BitOperation::Xor : BitOperation::And;
    return isFirst;
  }
  if (const auto rounding = roundingNamed(text)) {
    const bool isFirst = !c.rounding;
    c.rounding = rounding;
    return isFirst;
  }
  const bool hadShape = c.m != 0;
  if (readShape(text, c)) return !hadShape;
  c.words.push_back(text);
  return true;
}

}  // namespace

bool Components::has(std::string_view word) const {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::optional<Components> sortComponents(std::span<const std::string_view> components) {
  Components c;
  for (const std::string_view text : components) {
    if (!sortOne(text, c)) return std::nullopt;
  }
  return c;
}

}  // namespace ptxopt::exec::matrix
