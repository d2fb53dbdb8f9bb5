// Integer arithmetic of the interpreter, against formulas in 128-bit integers and bit by bit.
#include "exec_lanes.h"

using namespace ptxopt;
using namespace ptxopt::testing;

namespace {

__extension__ using Big = __int128;

uint64_t low(uint64_t v, unsigned bits) { return bits == 64 ? v : v & ((uint64_t{1} << bits) - 1); }

// The number that the low `bits` bits are.
Big number(uint64_t v, unsigned bits, bool isSigned) {
  const uint64_t u = low(v, bits);
  if (isSigned && (u >> (bits - 1) & 1) != 0) return Big{u} - (Big{1} << bits);
  return Big{u};
}
uint64_t wrapped(Big v) { return static_cast<uint64_t>(v); }
// Modulo 2^128.
__extension__ using UnsignedBig = unsigned __int128;
Big product(Big a, Big b, Big c = 0) {
  return static_cast<Big>(static_cast<UnsignedBig>(a) * static_cast<UnsignedBig>(b) + static_cast<UnsignedBig>(c));
}
Big clamp(Big v, Big least, Big most) { return v < least ? least : v > most ? most : v; }
constexpr Big kInt32Min = -(Big{1} << 31), kInt32Max = (Big{1} << 31) - 1;

struct IntegerType {
  const char* name;
  unsigned bits;
  bool isSigned;

  Big operator()(uint64_t v) const { return number(v, bits, isSigned); }
  char result() const { return bits == 64 ? 'd' : bits == 32 ? 'r' : 'h'; }
  // The register of this width for a value: "%x", "%xr" or "%xh".
  std::string reg(const char* value) const {
    return std::string("%") + value + (bits == 64 ? "" : bits == 32 ? "r" : "h");
  }
  std::string dest() const { return std::string("%") + result(); }
};
constexpr IntegerType kTypes[] = {{"u16", 16, false}, {"s16", 16, true},  {"u32", 32, false},
                                  {"s32", 32, true},  {"u64", 64, false}, {"s64", 64, true}};

using Two = Big (*)(Big, Big);
using Three = Big (*)(Big, Big, Big);

LaneCase twoOperands(const IntegerType& t, const std::string& op, Two f) {
  return {op + "." + t.name + " " + t.dest() + ", " + t.reg("x") + ", " + t.reg("y") + ";", t.result(),
          [=](const Values& v) { return wrapped(f(t(v.x), t(v.y))); }};
}
LaneCase threeOperands(const IntegerType& t, const std::string& op, Three f) {
  return {op + "." + t.name + " " + t.dest() + ", " + t.reg("x") + ", " + t.reg("y") + ", " + t.reg("z") + ";",
          t.result(), [=](const Values& v) { return wrapped(f(t(v.x), t(v.y), t(v.z))); }};
}

// Halves of a 32-bit value, each through f.
uint64_t halves(bool isSigned, uint64_t x, uint64_t y, Two f) {
  uint64_t result = 0;
  for (const unsigned shift : {0u, 16u})
    result |= low(wrapped(f(number(x >> shift, 16, isSigned), number(y >> shift, 16, isSigned))), 16) << shift;
  return result;
}

Big sum(Big a, Big b) { return a + b; }
Big difference(Big a, Big b) { return a - b; }
Big smaller(Big a, Big b) { return a < b ? a : b; }
Big larger(Big a, Big b) { return a > b ? a : b; }
Big notNegative(Big a) { return a < 0 ? 0 : a; }

}  // namespace

TEST_CASE("exec: sums, differences, quotients, extremes, absolute values of every integer type") {
  for (const unsigned bits : {16u, 32u, 64u}) {
    std::vector<LaneCase> cases;
    for (const IntegerType& t : kTypes) {
      if (t.bits != bits) continue;
      cases.push_back(twoOperands(t, "add", sum));
      cases.push_back(twoOperands(t, "sub", difference));
      cases.push_back(twoOperands(t, "min", smaller));
      cases.push_back(twoOperands(t, "max", larger));
      // What machines do where the ISA says nothing: all ones by zero, both. Big has room for -MIN.
      cases.push_back(twoOperands(t, "div", [](Big a, Big b) { return b == 0 ? -1 : a / b; }));
      cases.push_back(twoOperands(t, "rem", [](Big a, Big b) { return b == 0 ? -1 : a % b; }));
      cases.push_back(threeOperands(t, "sad", [](Big a, Big b, Big c) { return c + (a > b ? a - b : b - a); }));
      if (!t.isSigned) continue;
      cases.push_back({std::string("abs.") + t.name + " " + t.dest() + ", " + t.reg("x") + ";", t.result(),
                       [=](const Values& v) { return wrapped(t(v.x) < 0 ? -t(v.x) : t(v.x)); }});
      cases.push_back({std::string("neg.") + t.name + " " + t.dest() + ", " + t.reg("x") + ";", t.result(),
                       [=](const Values& v) { return wrapped(-t(v.x)); }});
    }
    checkLanes(cases, edgePairs(bits));
  }
}

TEST_CASE("exec: saturating, packed and rectified forms") {
  const IntegerType s32 = kTypes[3];
  std::vector<LaneCase> cases = {
      twoOperands(s32, "add.sat", [](Big a, Big b) { return clamp(a + b, kInt32Min, kInt32Max); }),
      twoOperands(s32, "sub.sat", [](Big a, Big b) { return clamp(a - b, kInt32Min, kInt32Max); }),
      twoOperands(s32, "min.relu", [](Big a, Big b) { return notNegative(smaller(a, b)); }),
      twoOperands(s32, "max.relu", [](Big a, Big b) { return notNegative(larger(a, b)); }),
      {"add.s32 %r, %xr, -7;", 'r', [](const Values& v) { return v.x - 7; }},
      {"sub.s32 %r, 0xb0a5, %xr;", 'r', [](const Values& v) { return 0xb0a5 - v.x; }},
      {"mov.b32 %r, %xr; add.s32 %r, %r, %r;", 'r', [](const Values& v) { return v.x + v.x; }},
  };
  for (const bool isSigned : {false, true}) {
    const std::string type = isSigned ? "s16x2" : "u16x2";
    const auto add = [&](const std::string& op, Two f) {
      cases.push_back({op + "." + type + " %r, %xr, %yr;", 'r',
                       [=](const Values& v) { return halves(isSigned, v.x, v.y, f); }});
    };
    add("add", sum);
    add("min", smaller);
    add("max", larger);
    if (!isSigned) continue;
    add("min.relu", [](Big a, Big b) { return notNegative(smaller(a, b)); });
    add("max.relu", [](Big a, Big b) { return notNegative(larger(a, b)); });
  }
  std::vector<Values> values = edgePairs(32);
  // Halves that differ in sign and size.
  for (const uint64_t x : edgeValues(16))
    for (const uint64_t y : edgeValues(16)) values.push_back({x << 16 | y, y << 16 | (x ^ 0x8000), 0, 0});
  checkLanes(cases, values);
}

TEST_CASE("exec: products of every width") {
  for (const unsigned bits : {16u, 32u, 64u}) {
    std::vector<LaneCase> cases;
    for (const IntegerType& t : kTypes) {
      if (t.bits != bits) continue;
      cases.push_back(twoOperands(t, "mul.lo", [](Big a, Big b) { return product(a, b); }));
      cases.push_back(threeOperands(t, "mad.lo", [](Big a, Big b, Big c) { return product(a, b, c); }));
      // The upper half of 128 bits: schoolbook, in halves of 32 bits, for unsigned; signed from that.
      const auto high = [=](uint64_t x, uint64_t y) -> uint64_t {
        if (bits < 64) return wrapped((t(x) * t(y)) >> bits);
        const uint64_t xl = low(x, 32), xh = x >> 32, yl = low(y, 32), yh = y >> 32;
        const uint64_t middle = (xl * yl >> 32) + low(xl * yh, 32) + low(xh * yl, 32);
        uint64_t result = xh * yh + (xl * yh >> 32) + (xh * yl >> 32) + (middle >> 32);
        if (t.isSigned && x >> 63 != 0) result -= y;
        if (t.isSigned && y >> 63 != 0) result -= x;
        return result;
      };
      const std::string operands = t.dest() + ", " + t.reg("x") + ", " + t.reg("y");
      cases.push_back({std::string("mul.hi.") + t.name + " " + operands + ";", t.result(),
                       [=](const Values& v) { return high(v.x, v.y); }});
      cases.push_back({std::string("mad.hi.") + t.name + " " + operands + ", " + t.reg("z") + ";", t.result(),
                       [=](const Values& v) { return high(v.x, v.y) + v.z; }});
      if (bits == 64) continue;
      const std::string wide = bits == 32 ? "%d" : "%r", summand = bits == 32 ? "%z" : "%zr";
      const std::string factors = ", " + t.reg("x") + ", " + t.reg("y");
      const char result = bits == 32 ? 'd' : 'r';
      cases.push_back({std::string("mul.wide.") + t.name + " " + wide + factors + ";", result,
                       [=](const Values& v) { return wrapped(product(t(v.x), t(v.y))); }});
      cases.push_back({std::string("mad.wide.") + t.name + " " + wide + factors + ", " + summand + ";", result,
                       [=](const Values& v) { return wrapped(product(t(v.x), t(v.y))) + v.z; }});
    }
    if (bits == 32) {
      const IntegerType s32 = kTypes[3];
      cases.push_back(threeOperands(
          s32, "mad.hi.sat", [](Big a, Big b, Big c) { return clamp(((a * b) >> 32) + c, kInt32Min, kInt32Max); }));
      for (const bool isSigned : {false, true}) {
        const auto product = [=](const Values& v) { return number(v.x, 24, isSigned) * number(v.y, 24, isSigned); };
        const std::string type = isSigned ? ".s32" : ".u32", two = " %r, %xr, %yr";
        cases.push_back({"mul24.lo" + type + two + ";", 'r', [=](const Values& v) { return wrapped(product(v)); }});
        cases.push_back(
            {"mul24.hi" + type + two + ";", 'r', [=](const Values& v) { return wrapped(product(v) >> 16); }});
        cases.push_back(
            {"mad24.lo" + type + two + ", %zr;", 'r', [=](const Values& v) { return wrapped(product(v)) + v.z; }});
        cases.push_back({"mad24.hi" + type + two + ", %zr;", 'r',
                         [=](const Values& v) { return wrapped(product(v) >> 16) + v.z; }});
        if (isSigned)
          cases.push_back({"mad24.hi.sat.s32" + two + ", %zr;", 'r', [=](const Values& v) {
                             return wrapped(
                                 clamp((product(v) >> 16) + number(v.z, 32, true), kInt32Min, kInt32Max));
                           }});
      }
    }
    checkLanes(cases, edgePairs(bits));
  }
}

TEST_CASE("exec: dot products of parts") {
  std::vector<LaneCase> cases;
  for (const bool a : {false, true})
    for (const bool b : {false, true}) {
      const std::string types = std::string(a ? ".s32" : ".u32") + (b ? ".s32" : ".u32");
      cases.push_back({"dp4a" + types + " %r, %xr, %yr, %zr;", 'r', [=](const Values& v) {
                         Big total = number(v.z, 32, true);
                         for (unsigned k = 0; k < 32; k += 8)
                           total += number(v.x >> k, 8, a) * number(v.y >> k, 8, b);
                         return wrapped(total);
                       }});
      for (const unsigned part : {0u, 16u})
        cases.push_back({std::string("dp2a.") + (part == 0 ? "lo" : "hi") + types + " %r, %xr, %yr, %zr;", 'r',
                         [=](const Values& v) {
                           return wrapped(number(v.z, 32, true) + number(v.x, 16, a) * number(v.y >> part, 8, b) +
                                          number(v.x >> 16, 16, a) * number(v.y >> (part + 8), 8, b));
                         }});
    }
  checkLanes(cases, edgePairs(32));
}

TEST_CASE("exec: bit counts, positions and fields") {
  const auto bit = [](uint64_t v, int64_t i) { return v >> i & 1; };
  for (const unsigned bits : {32u, 64u}) {
    const std::string width = std::to_string(bits), x = bits == 64 ? "%x" : "%xr", y = bits == 64 ? "%y" : "%yr";
    const char result = bits == 64 ? 'd' : 'r';
    const std::string d = std::string("%") + result;
    constexpr uint64_t field = 255;  // the lowest byte of a position and of a length, also of 64 bits
    std::vector<LaneCase> cases = {
        {"popc.b" + width + " %r, " + x + ";", 'r',
         [=](const Values& v) {
           uint64_t n = 0;
           for (unsigned i = 0; i < bits; ++i) n += bit(v.x, i);
           return n;
         }},
        {"clz.b" + width + " %r, " + x + ";", 'r',
         [=](const Values& v) {
           uint64_t n = 0;
           while (n < bits && bit(v.x, static_cast<int64_t>(bits - 1 - n)) == 0) ++n;
           return n;
         }},
        {"brev.b" + width + " " + d + ", " + x + ";", result,
         [=](const Values& v) {
           uint64_t r = 0;
           for (unsigned i = 0; i < bits; ++i) r |= bit(v.x, i) << (bits - 1 - i);
           return r;
         }},
        {"bfi.b" + width + " " + d + ", " + x + ", " + y + ", %zr, %ur;", result,
         [=](const Values& v) {
           uint64_t r = v.y;
           const uint64_t position = v.z & field, length = v.u & field;
           for (uint64_t i = 0; i < length && position + i < bits; ++i)
             r = (r & ~(uint64_t{1} << (position + i))) | bit(v.x, static_cast<int64_t>(i)) << (position + i);
           return r;
         }},
    };
    for (const bool isSigned : {false, true}) {
      const std::string type = (isSigned ? ".s" : ".u") + width;
      const auto position = [=](const Values& v) -> int64_t {
        const uint64_t skipped = isSigned ? bit(v.x, bits - 1) : 0;
        int64_t i = bits - 1;
        while (i >= 0 && bit(v.x, i) == skipped) --i;
        return i;
      };
      cases.push_back({"bfind" + type + " %r, " + x + ";", 'r',
                       [=](const Values& v) { return static_cast<uint64_t>(position(v)); }});
      cases.push_back({"bfind.shiftamt" + type + " %r, " + x + ";", 'r', [=](const Values& v) {
                         const int64_t i = position(v);
                         return static_cast<uint64_t>(i < 0 ? -1 : bits - 1 - i);
                       }});
      cases.push_back({"bfe" + type + " " + d + ", " + x + ", %zr, %ur;", result, [=](const Values& v) {
                         const uint64_t at = v.z & field, length = v.u & field;
                         const uint64_t last = at + length - 1 < bits - 1 ? at + length - 1 : bits - 1;
                         const uint64_t sign = isSigned && length != 0 ? bit(v.x, static_cast<int64_t>(last)) : 0;
                         uint64_t r = 0;
                         for (uint64_t i = 0; i < bits; ++i)
                           r |= (i < length && at + i < bits ? bit(v.x, static_cast<int64_t>(at + i)) : sign) << i;
                         return r;
                       }});
    }
    std::vector<Values> values = edgePairs(bits);
    for (const Values& v : edgePairs(bits))  // positions and lengths within a register
      values.push_back({v.x, v.y, v.z % 67 | (v.z & 0xFFFF'FF00), v.u % 67});
    for (uint64_t at = 0; at <= 66; at += 3)
      for (uint64_t length = 0; length <= 66; length += 3)
        values.push_back({0xC9A5'37B1'96F0'8D2E, 0x1234'5678'9ABC'DEF0, at, length});
    checkLanes(cases, values);
  }
}

TEST_CASE("exec: fns, bmsk, szext") {
  const auto nth = [](const Values& v) -> uint64_t {
    const auto mask = static_cast<uint32_t>(v.x), base = static_cast<uint32_t>(v.y);
    const auto offset = static_cast<int32_t>(v.z);
    if (base > 31) return ~uint64_t{0};
    std::vector<uint32_t> found;  // set bits in the direction of the search
    if (offset >= 0)
      for (uint32_t i = base; i < 32; ++i) found.push_back(i);
    else
      for (uint32_t i = base + 1; i-- > 0;) found.push_back(i);
    std::erase_if(found, [&](uint32_t i) { return (mask >> i & 1) == 0; });
    if (offset == 0) return !found.empty() && found.front() == base ? base : ~uint64_t{0};
    const uint64_t n = static_cast<uint64_t>(offset < 0 ? -int64_t{offset} : offset);
    return n <= found.size() ? found[n - 1] : ~uint64_t{0};
  };
  // PTX's own definition: ones from bit a up, without those from bit a + b up.
  const auto maskOf = [](bool clamp) {
    return [=](const Values& v) -> uint64_t {
      const auto a = static_cast<uint32_t>(v.x), b = static_cast<uint32_t>(v.y);
      uint64_t r = 0;
      const uint64_t from = clamp ? a : a & 31, count = clamp ? b : b & 31;
      for (uint64_t i = 0; i < 32; ++i)
        if (i >= from && i - from < count) r |= uint64_t{1} << i;
      return r;
    };
  };
  const auto extend = [](bool clamp, bool isSigned) {
    return [=](const Values& v) -> uint64_t {
      const auto b = static_cast<uint32_t>(v.y);
      if (clamp && b >= 32) return v.x;
      return (b & 31) == 0 ? 0 : wrapped(number(v.x, b & 31, isSigned));
    };
  };
  std::vector<Values> values = edgePairs(32);
  for (uint64_t base = 0; base < 34; ++base)
    for (uint64_t n = 0; n < 12; ++n) values.push_back({0xB1C0'5A3D, base, n - 5, 0});
  for (uint64_t at = 0; at < 40; ++at)
    for (uint64_t width = 0; width < 40; width += 3) values.push_back({at, width, 0, 0});
  for (uint64_t width = 0; width < 40; ++width) values.push_back({0x9669'A5C3, width, 1, 0});
  checkLanes({{"fns.b32 %r, %xr, %yr, %zr;", 'r', nth},
              {"bmsk.clamp.b32 %r, %xr, %yr;", 'r', maskOf(true)},
              {"bmsk.wrap.b32 %r, %xr, %yr;", 'r', maskOf(false)},
              {"szext.clamp.u32 %r, %xr, %yr;", 'r', extend(true, false)},
              {"szext.clamp.s32 %r, %xr, %yr;", 'r', extend(true, true)},
              {"szext.wrap.u32 %r, %xr, %yr;", 'r', extend(false, false)},
              {"szext.wrap.s32 %r, %xr, %yr;", 'r', extend(false, true)}},
             values);
}
