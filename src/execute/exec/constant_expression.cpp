// Precedence climbing over the joins of operands; the conditional is split at its colon first. Types follow what ptxas
// does, not C: a remainder is always unsigned.
#include "exec/constant_expression.h"

#include <bit>

namespace ptxopt::exec {

int precedence(Join j) {
  switch (j) {
    case Join::Times:
    case Join::Divide:
    case Join::Modulo: return 10;
    case Join::Plus:
    case Join::Minus: return 9;
    case Join::ShiftLeft:
    case Join::ShiftRight: return 8;
    case Join::Less:
    case Join::Greater:
    case Join::LessEqual:
    case Join::GreaterEqual: return 7;
    case Join::Equal:
    case Join::NotEqual: return 6;
    case Join::And: return 5;
    case Join::Xor: return 4;
    case Join::Pipe: return 3;
    case Join::AndAnd: return 2;
    case Join::OrOr: return 1;
    default: return 0;
  }
}

bool applyPrefix(char prefix, Term& t) {
  if (t.isDouble) {
    if (prefix != '-') return false;
    t.number = -t.number;
  } else if (prefix == '-') {
    t.value = static_cast<int64_t>(0 - static_cast<uint64_t>(t.value));
  } else if (prefix == '~') {
    t = {~t.value, true};
  } else {
    t = {t.value == 0, false};
  }
  return true;
}

static bool evaluateOne(const Function& f, const Module& m, std::span<const Operand> entries, std::size_t& at,
                        Term& t) {
  const Operand& o = entries[at];
  ++at;
  switch (o.kind) {
    case OperandKind::Integer: t = {static_cast<int32_t>(o.payload), false}; break;
    case OperandKind::WideInteger:
      t = {static_cast<int64_t>(f.constants[o.payload]), o.is(Operand::Unsigned)};
      break;
    case OperandKind::Builtin:
      if (m.text(NameId(o.payload)) != "WARP_SZ") return false;
      t = {32, false};
      break;
    case OperandKind::Decimal:
      t = {.isDouble = true, .number = std::bit_cast<double>(f.constants[o.payload])};
      break;
    case OperandKind::Paren:
      if (!evaluateNumber(f, m, entries.subspan(at, o.inside()), t)) return false;
      at += o.inside();
      break;
    case OperandKind::Cast: {
      if (at >= entries.size() || !evaluateOne(f, m, entries, at, t) || t.isDouble) return false;
      t.isUnsigned = m.text(NameId(o.payload)).find('u') != std::string_view::npos;
      break;
    }
    default: return false;
  }
  return (!o.is(Operand::Negated) || applyPrefix('-', t)) && (!o.is(Operand::Complement) || applyPrefix('~', t)) &&
         (!o.is(Operand::Not) || applyPrefix('!', t));
}

static bool applyToDoubles(Join j, Term& a, double b) {
  const double x = a.number;
  const auto number = [&](double value) {
    a.number = value;
    return true;
  };
  const auto truth = [&](bool value) {
    a = {value, false};
    return true;
  };
  switch (j) {
    case Join::Plus: return number(x + b);
    case Join::Minus: return number(x - b);
    case Join::Times: return number(x * b);
    case Join::Divide: return b != 0 && number(x / b);
    case Join::Equal: return truth(x == b);
    case Join::NotEqual: return truth(x != b);
    case Join::Less: return truth(x < b);
    case Join::Greater: return truth(x > b);
    case Join::LessEqual: return truth(x <= b);
    case Join::GreaterEqual: return truth(x >= b);
    default: return false;
  }
}

// ptxas: a remainder is of u64; a shift has the type of its left operand, and its count is taken modulo 64; a comparison
// is signed; all else is unsigned where one of its operands is.
bool apply(Join j, Term& a, const Term& b) {
  if (a.isDouble || b.isDouble) return a.isDouble && b.isDouble && applyToDoubles(j, a, b.number);
  const bool isUnsigned = j == Join::Modulo || a.isUnsigned || b.isUnsigned;
  const auto ua = static_cast<uint64_t>(a.value), ub = static_cast<uint64_t>(b.value);
  uint64_t r = 0;
  const auto less = [&](uint64_t x, uint64_t y) {
    return isUnsigned ? x < y : static_cast<int64_t>(x) < static_cast<int64_t>(y);
  };
  switch (j) {
    case Join::Plus: r = ua + ub; break;
    case Join::Minus: r = ua - ub; break;
    case Join::Times: r = ua * ub; break;
    case Join::Divide:
    case Join::Modulo:
      if (ub == 0 || (!isUnsigned && a.value == INT64_MIN && b.value == -1)) return false;
      if (isUnsigned)
        r = j == Join::Divide ? ua / ub : ua % ub;
      else
        r = static_cast<uint64_t>(j == Join::Divide ? a.value / b.value : a.value % b.value);
      break;
    case Join::ShiftLeft: r = ua << (ub & 63); break;
    case Join::ShiftRight: r = a.isUnsigned ? ua >> (ub & 63) : static_cast<uint64_t>(a.value >> (ub & 63)); break;
    case Join::And: r = ua & ub; break;
    case Join::Xor: r = ua ^ ub; break;
    case Join::Pipe: r = ua | ub; break;
    case Join::AndAnd: r = ua != 0 && ub != 0; break;
    case Join::OrOr: r = ua != 0 || ub != 0; break;
    case Join::Equal: r = ua == ub; break;
    case Join::NotEqual: r = ua != ub; break;
    case Join::Less: r = less(ua, ub); break;
    case Join::Greater: r = less(ub, ua); break;
    case Join::LessEqual: r = !less(ub, ua); break;
    case Join::GreaterEqual: r = !less(ua, ub); break;
    default: return false;
  }
  const bool isShift = j == Join::ShiftLeft || j == Join::ShiftRight;
  const bool isBits = j == Join::And || j == Join::Xor || j == Join::Pipe;
  a = {static_cast<int64_t>(r), isShift ? a.isUnsigned : (isBits || precedence(j) >= 9) && isUnsigned};
  return true;
}

// Precedence climbing.
static bool climb(const Function& f, const Module& m, std::span<const Operand> entries, std::size_t& at, int least,
                  Term& left) {
  if (!evaluateOne(f, m, entries, at, left)) return false;
  while (at < entries.size()) {
    const Join j = entries[at].join;
    const int p = precedence(j);
    if (p == 0 || p < least) return true;
    Term right{};
    if (!climb(f, m, entries, at, p + 1, right) || !apply(j, left, right)) return false;
  }
  return true;
}

bool evaluateNumber(const Function& f, const Module& m, std::span<const Operand> entries, Term& result) {
  std::size_t at = 0;
  if (entries.empty() || !climb(f, m, entries, at, 1, result)) return false;
  if (at == entries.size()) return true;
  // c ? a : b
  if (entries[at].join != Join::Question) return false;
  std::size_t colon = at;
  int depth = 0;
  for (; colon < entries.size(); colon += 1 + entries[colon].inside()) {
    if (entries[colon].join == Join::Question && colon != at) ++depth;
    if (entries[colon].join == Join::Colon && depth-- == 0) break;
  }
  if (colon >= entries.size()) return false;
  const bool condition = result.value != 0;
  Term a{}, b{};
  if (result.isDouble || !evaluateNumber(f, m, entries.subspan(at, colon - at), a) ||
      !evaluateNumber(f, m, entries.subspan(colon), b))
    return false;
  result = condition ? a : b;
  return true;
}

bool evaluate(const Function& f, const Module& m, std::span<const Operand> entries, Term& result) {
  return evaluateNumber(f, m, entries, result) && !result.isDouble;
}

}  // namespace ptxopt::exec
