#include "analysis/range_operation.h"

#include <algorithm>

#include "ir/types.h"

namespace ptxopt {
namespace {

using Kind = RangeOperation::Kind;

// Which types an operation has.
enum class Types : uint8_t {
  Integer,  // one of 16, 32 or 64 bits
  Any,      // one of 16, 32 or 64 bits, which may be a float's: bits are copied
  Load,     // the last, of 8 bits and more; modifiers do not matter
  Two,      // to and from
};

struct Row {
  std::string_view base;
  std::string_view part;  // a modifier that must be there: lo, hi, wide
  Kind kind;
  uint8_t sources;
  Types types;
};

constexpr Row kRows[] = {
    {"mov", "", Kind::Copy, 1, Types::Any},
    {"ld", "", Kind::Load, 0, Types::Load},
    {"ldu", "", Kind::Load, 0, Types::Load},
    {"cvt", "", Kind::Convert, 1, Types::Two},
    {"add", "", Kind::Add, 2, Types::Integer},
    {"sub", "", Kind::Sub, 2, Types::Integer},
    {"mul", "lo", Kind::Multiply, 2, Types::Integer},
    {"mul", "hi", Kind::MultiplyHigh, 2, Types::Integer},
    {"mul", "wide", Kind::MultiplyWide, 2, Types::Integer},
    {"mad", "lo", Kind::MultiplyAdd, 3, Types::Integer},
    {"mad", "hi", Kind::MultiplyHighAdd, 3, Types::Integer},
    {"mad", "wide", Kind::MultiplyWideAdd, 3, Types::Integer},
    {"div", "", Kind::Divide, 2, Types::Integer},
    {"rem", "", Kind::Remainder, 2, Types::Integer},
    {"min", "", Kind::Min, 2, Types::Integer},
    {"max", "", Kind::Max, 2, Types::Integer},
    {"abs", "", Kind::Absolute, 1, Types::Integer},
    {"neg", "", Kind::Negate, 1, Types::Integer},
    {"and", "", Kind::And, 2, Types::Integer},
    {"or", "", Kind::Or, 2, Types::Integer},
    {"xor", "", Kind::Xor, 2, Types::Integer},
    {"not", "", Kind::Not, 1, Types::Integer},
    {"cnot", "", Kind::IsZero, 1, Types::Integer},
    {"shl", "", Kind::ShiftLeft, 2, Types::Integer},
    {"shr", "", Kind::ShiftRight, 2, Types::Integer},
    {"bfe", "", Kind::Extract, 3, Types::Integer},
    {"popc", "", Kind::Ones, 1, Types::Integer},
    {"clz", "", Kind::LeadingZeros, 1, Types::Integer},
    {"selp", "", Kind::Choose, 2, Types::Any},
    {"slct", "", Kind::Choose, 2, Types::Two},
    {"set", "", Kind::Compare, 0, Types::Two},
};

bool isFloat(ScalarType type) { return type == ScalarType::f32 || type == ScalarType::f64; }

// The words of an opcode behind its first.
struct Words {
  explicit Words(std::string_view opcode) {
    base = opcode.substr(0, opcode.find('.'));
    for (std::size_t at = base.size(); at < opcode.size() && isShort;) {
      const std::size_t end = std::min(opcode.find('.', at + 1), opcode.size());
      if (count == words.size())
        isShort = false;
      else
        words[count++] = opcode.substr(at + 1, end - at - 1);
      at = end;
    }
  }
  std::string_view base;
  std::array<std::string_view, 8> words;
  std::size_t count = 0;
  bool isShort = true;  // there are no more
};

// Takes the types out of the words. False when another word is left.
bool takeTypes(const Words& w, const Row& row, std::array<ScalarType, 2>& types, std::size_t& count) {
  static constexpr std::string_view kComparisons[] = {"eq", "ne", "lt", "le",  "gt", "ge", "lo",
                                                      "ls", "hi", "hs", "and", "or", "xor"};
  for (std::size_t i = 0; i < w.count; ++i) {
    const std::string_view word = w.words[i];
    if (word == row.part) continue;
    if (const ScalarType type = scalarType(word); type != ScalarType::None) {
      if (count == types.size()) return false;
      types[count++] = type;
    } else if (word == "cc" && (row.kind == Kind::Add || row.kind == Kind::Sub || row.kind == Kind::MultiplyAdd)) {
      continue;  // the carry is another register
    } else if (row.kind != Kind::Compare ||
               std::find(std::begin(kComparisons), std::end(kComparisons), word) == std::end(kComparisons)) {
      return false;
    }
  }
  return true;
}

RangeOperation readLoad(std::string_view opcode) {
  const std::size_t dot = opcode.rfind('.');
  const ScalarType type = dot == std::string_view::npos ? ScalarType::None : scalarType(opcode.substr(dot + 1));
  if (!isInteger(type)) return {};
  RangeOperation o;
  o.kind = Kind::Load;
  o.width = static_cast<uint8_t>(info(type).bits);
  o.extends = true;
  o.extendsSign = isSignedType(type);
  return o;
}

RangeOperation complete(const Row& row, ScalarType to, ScalarType from) {
  const auto width = static_cast<uint8_t>(info(to).bits);
  RangeOperation o;
  o.kind = row.kind;
  o.width = width;
  o.isSigned = isSignedType(from);
  o.sources = row.sources;
  o.sourceWidths = {width, width, width};
  const bool isBytes = info(to).bits < 16 || info(from).bits < 16;
  switch (row.kind) {
    case Kind::Convert:
      if (!isInteger(to) || !isInteger(from)) return {};
      o.sourceWidths[0] = static_cast<uint8_t>(info(from).bits);
      o.extends = true;
      o.extendsSign = isSignedType(to);
      return o;
    case Kind::Compare:
      if (to != ScalarType::u32 && to != ScalarType::s32) return {};
      return o;
    case Kind::Copy:
    case Kind::Choose:
      if (isBytes || (!isInteger(to) && !isFloat(to))) return {};
      return o;
    case Kind::MultiplyWide:
    case Kind::MultiplyWideAdd:
      if (width > 32) return {};
      o.width = static_cast<uint8_t>(2 * width);
      o.sourceWidths[2] = o.width;
      break;
    case Kind::ShiftLeft:
    case Kind::ShiftRight: o.sourceWidths[1] = 32; break;
    case Kind::Extract: o.sourceWidths[1] = o.sourceWidths[2] = 32; break;
    case Kind::Ones:
    case Kind::LeadingZeros: o.width = 32; break;
    default: break;
  }
  return isBytes || !isInteger(to) ? RangeOperation() : o;
}

IntegerRange extract(const IntegerRange& a, const IntegerRange& position, const IntegerRange& length,
                     bool isSigned) {
  const unsigned width = a.width();
  if (!position.isConstant() || !length.isConstant()) {
    // Of an unsigned number never more than there is.
    return isSigned ? IntegerRange::full(width) : IntegerRange::ofUnsigned(width, 0, a.most());
  }
  const unsigned from = position.least() & 0xFF, bits = length.least() & 0xFF;
  if (bits == 0) return IntegerRange::constant(width, 0);
  const IntegerRange by = IntegerRange::constant(32, from);
  const IntegerRange shifted = isSigned ? ashr(a, by) : lshr(a, by);
  if (bits >= width || (isSigned && from + bits >= width)) return shifted;
  return isSigned ? sext(trunc(shifted, bits), width) : zext(trunc(shifted, bits), width);
}

}  // namespace

RangeOperation readRangeOperation(std::string_view opcode) {
  const Words words(opcode);
  for (const Row& row : kRows) {
    if (row.base != words.base) continue;
    if (row.types == Types::Load) return readLoad(opcode);
    if (!words.isShort) return {};
    if (!row.part.empty() && std::find(words.words.begin(), words.words.begin() + words.count, row.part) ==
                                 words.words.begin() + words.count)
      continue;
    std::array<ScalarType, 2> types{};
    std::size_t count = 0;
    if (!takeTypes(words, row, types, count) || count != (row.types == Types::Two ? 2 : 1)) return {};
    return complete(row, types[0], count == 2 ? types[1] : types[0]);
  }
  return {};
}

IntegerRange RangeOperation::evaluate(std::span<const IntegerRange> s) const {
  const auto widened = [&](const IntegerRange& a) { return isSigned ? sext(a, width) : zext(a, width); };
  switch (kind) {
    case Kind::None:
    case Kind::Load: return IntegerRange::full(width);
    case Kind::Copy: return s[0];
    case Kind::Convert: return isSigned ? sext(s[0], width) : zext(s[0], width);
    case Kind::Add: return add(s[0], s[1]);
    case Kind::Sub: return sub(s[0], s[1]);
    case Kind::Multiply: return mul(s[0], s[1]);
    case Kind::MultiplyHigh: return isSigned ? mulHighSigned(s[0], s[1]) : mulHighUnsigned(s[0], s[1]);
    case Kind::MultiplyWide: return mul(widened(s[0]), widened(s[1]));
    case Kind::MultiplyAdd: return add(mul(s[0], s[1]), s[2]);
    case Kind::MultiplyHighAdd:
      return add(isSigned ? mulHighSigned(s[0], s[1]) : mulHighUnsigned(s[0], s[1]), s[2]);
    case Kind::MultiplyWideAdd: return add(mul(widened(s[0]), widened(s[1])), s[2]);
    case Kind::Divide: return isSigned ? sdiv(s[0], s[1]) : udiv(s[0], s[1]);
    case Kind::Remainder: return isSigned ? srem(s[0], s[1]) : urem(s[0], s[1]);
    case Kind::Min: return isSigned ? smin(s[0], s[1]) : umin(s[0], s[1]);
    case Kind::Max: return isSigned ? smax(s[0], s[1]) : umax(s[0], s[1]);
    case Kind::Absolute: return abs(s[0]);
    case Kind::Negate: return neg(s[0]);
    case Kind::And: return bitAnd(s[0], s[1]);
    case Kind::Or: return bitOr(s[0], s[1]);
    case Kind::Xor: return bitXor(s[0], s[1]);
    case Kind::Not: return bitNot(s[0]);
    case Kind::IsZero: return IntegerRange::ofUnsigned(width, 0, 1);
    case Kind::ShiftLeft: return shl(s[0], s[1]);
    case Kind::ShiftRight: return isSigned ? ashr(s[0], s[1]) : lshr(s[0], s[1]);
    case Kind::Extract: return extract(s[0], s[1], s[2], isSigned);
    case Kind::Ones: return popc(s[0], width);
    case Kind::LeadingZeros: return clz(s[0], width);
    case Kind::Choose: return s[0].join(s[1]);
    case Kind::Compare: return IntegerRange::ofSigned(width, -1, 0);
  }
  return IntegerRange::full(width);
}

}  // namespace ptxopt
